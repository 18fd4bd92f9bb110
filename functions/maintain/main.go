// Maintain is the function that keeps tables fast to read and cheap to keep: it compacts, expires and cleans up, by the policies of
// the configuration. On Lambda a schedule invokes it. Elsewhere it is a process that runs once or, with -follow, until SIGTERM.
package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/frazil/frazil/internal/environment"
	"github.com/frazil/frazil/internal/ingest"
	"github.com/frazil/frazil/internal/maintain"
)

func main() {
	follow := flag.Bool("follow", false, "outside Lambda: run again and again until SIGTERM")
	flag.Parse()
	log := slog.New(slog.NewJSONHandler(os.Stdout, nil))
	m, err := newMaintain(context.Background(), os.Environ(), environment.ReadDocument, log)
	switch {
	case err != nil:
	case onLambda(os.Environ()):
		lambda.Start(&handler{m})
	default:
		err = run(m, *follow)
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

func onLambda(environ []string) bool {
	return slices.ContainsFunc(environ, func(v string) bool { return strings.HasPrefix(v, "AWS_LAMBDA_RUNTIME_API=") })
}

// run is the life of a process that is its own. After a first SIGTERM it begins nothing more, a second one ends it.
func run(m *maintain.Maintain, follow bool) error {
	asked, forget := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer forget()
	context.AfterFunc(asked, forget)
	if follow {
		m.Follow(context.Background(), asked.Done())
		return nil
	}
	return m.Run(context.Background(), asked.Done())
}
