// Drain is the function for volume: it reads Kafka itself, from where the ledgers of the tables stand, and makes large batches
// of what it reads one snapshot each. On Lambda a schedule invokes it. Elsewhere it is a process that runs once or, with
// -follow, until SIGTERM.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/frazil/frazil/internal/drain"
	"github.com/frazil/frazil/internal/environment"
	"github.com/frazil/frazil/internal/ingest"
	"github.com/frazil/frazil/internal/schedule"
)

func main() {
	follow := schedule.Flags()
	log := slog.New(slog.NewJSONHandler(os.Stdout, nil))
	d, err := newDrain(context.Background(), os.Environ(), environment.ReadDocument, log)
	switch {
	case err != nil:
	case schedule.OnLambda(os.Environ()):
		lambda.Start(&handler{d})
	default:
		d.Follows = follow
		err = schedule.Process(d, follow)
		d.End(context.Background())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func newDrain(ctx context.Context, environ []string, read func(string) ([]byte, error), log *slog.Logger) (*drain.Drain, error) {
	c, err := environment.Config(environ, read)
	if err != nil {
		return nil, err
	}
	ingest.LimitMemory(c.Memory.Process)
	return drain.New(ctx, c, log)
}
