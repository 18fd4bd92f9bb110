package main

import (
	"context"
	"fmt"

	"github.com/frazil/frazil/internal/ingest"
	"github.com/frazil/frazil/internal/kafkaevent"
)

// handler takes events raw: aws-lambda-go's own type for Kafka events cannot tell a null value from an empty one.
type handler struct{ pipeline *ingest.Pipeline }

// answer tells the event source mapping that every record is done.
var answer = []byte(`{"batchItemFailures":[]}`)

// Invoke applies one event. The payload is decoded in place and not kept. After an error the event source mapping
// delivers the records again, which is safe.
func (h *handler) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	event, err := kafkaevent.Scan(payload)
	if err != nil {
		return nil, &BadEvent{err}
	}
	if err := h.pipeline.Deliver(ctx, event.Records); err != nil {
		return nil, &DeliveryFailed{err}
	}
	return answer, nil
}

// BadEvent and DeliveryFailed give Lambda's errorType, which is the name of the type, a meaning.
type (
	// BadEvent: the event is no Kafka event, or is cut off.
	BadEvent struct{ err error }
	// DeliveryFailed: the event was read, but not all of its tables have it.
	DeliveryFailed struct{ err error }
)

func (e *BadEvent) Error() string       { return fmt.Sprintf("read event: %v", e.err) }
func (e *DeliveryFailed) Error() string { return e.err.Error() }
