// Merge is the AWS Lambda function behind a Kafka event source mapping: each event becomes at most one snapshot of
// every table that it feeds.
package main

import (
	"fmt"
	"log/slog"
	"os"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/frazil/frazil/internal/environment"
	"github.com/frazil/frazil/internal/ingest"
)

func main() {
	log := slog.New(slog.NewJSONHandler(os.Stdout, nil))
	h, err := newHandler(os.Environ(), environment.ReadDocument, log)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	lambda.StartWithOptions(h, lambda.WithEnableSIGTERM(h.life.end))
}

func newHandler(environ []string, read func(string) ([]byte, error), log *slog.Logger) (*handler, error) {
	c, err := environment.Config(environ, read)
	if err != nil {
		return nil, err
	}
	ingest.LimitMemory(c.Memory.Process)
	p, err := ingest.New(c, log)
	if err != nil {
		return nil, err
	}
	return &handler{pipeline: p, log: log, life: newLifetime()}, nil
}
