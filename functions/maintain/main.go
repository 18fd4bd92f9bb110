// Maintain is the function that keeps tables fast to read and cheap to keep: it compacts, expires and cleans up, by the policies of
// the configuration. On Lambda a schedule invokes it. Elsewhere it is a process that runs once or, with -follow, until SIGTERM.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/frazil/frazil/internal/environment"
	"github.com/frazil/frazil/internal/ingest"
	"github.com/frazil/frazil/internal/maintain"
	"github.com/frazil/frazil/internal/schedule"
)

func main() {
	follow := schedule.Flags()
	log := slog.New(slog.NewJSONHandler(os.Stdout, nil))
	m, err := newMaintain(context.Background(), os.Environ(), environment.ReadDocument, log)
	switch {
	case err != nil:
	case schedule.OnLambda(os.Environ()):
		lambda.Start(&handler{m})
	default:
		err = schedule.Process(m, follow)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func newMaintain(ctx context.Context, environ []string, read func(string) ([]byte, error), log *slog.Logger) (*maintain.Maintain, error) {
	c, err := environment.Config(environ, read)
	if err != nil {
		return nil, err
	}
	ingest.LimitMemory(c.Memory.Process)
	return maintain.New(ctx, c, log)
}
