package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"github.com/frazil/frazil/internal/ingest"
)

// handler takes events raw: aws-lambda-go's own type for Kafka events cannot tell a null value from an empty one.
type handler struct {
	pipeline *ingest.Pipeline
	log      *slog.Logger
	life     *lifetime
}

// answer is what an event source mapping with ReportBatchItemFailures reads: of each partition that has one, the first
// record that is not done.
type answer struct {
	Failures []failure `json:"batchItemFailures"`
}

type failure struct {
	Item item `json:"itemIdentifier"`
}

type item struct {
	Partition string `json:"partition"` // topic-number, as the event names it
	Offset    int64  `json:"offset"`
}

// Invoke applies one event. The payload is decoded in place and not kept. After an error the event source mapping
// delivers the records again, which is safe.
func (h *handler) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	done := answer{Failures: []failure{}}
	err := h.life.during(ctx, func(ctx context.Context) error { return h.pipeline.Event(ctx, payload) })
	var cut *ingest.CutOff
	var bad *ingest.EventError
	switch {
	case errors.As(err, &bad):
		return nil, &BadEvent{err}
	case errors.As(err, &cut):
		h.log.LogAttrs(ctx, slog.LevelWarn, "partitions cut off", slog.String("reason", cut.Error()))
		for _, r := range cut.First {
			done.Failures = append(done.Failures, failure{item{fmt.Sprintf("%s-%d", r.Part.Topic, r.Part.Number), r.Offset}})
		}
	case err != nil:
		return nil, &DeliveryFailed{err}
	}
	return json.Marshal(done)
}

// BadEvent and DeliveryFailed give Lambda's errorType, which is the name of the type, a meaning.
type (
	// BadEvent: the event is no Kafka event, is cut off, or is of a cluster that is not configured.
	BadEvent struct{ err error }
	// DeliveryFailed: the event was read, but not all of its tables have it.
	DeliveryFailed struct{ err error }
)

func (e *BadEvent) Error() string       { return e.err.Error() }
func (e *DeliveryFailed) Error() string { return e.err.Error() }
