package main

import (
	"context"

	"github.com/frazil/frazil/internal/drain"
	"github.com/frazil/frazil/internal/schedule"
)

// handler takes any event: that of a schedule says nothing that matters.
type handler struct{ drain *drain.Drain }

// Invoke drains what Kafka has, as far as the time allows. What is left the next invocation reads, as it does after an error.
func (h *handler) Invoke(ctx context.Context, _ []byte) ([]byte, error) {
	if err := schedule.Invocation(ctx, h.drain); err != nil {
		return nil, &NotDrained{err}
	}
	return []byte("null"), nil
}

// NotDrained gives Lambda's errorType, which is the name of the type, a meaning: not all tables have what Kafka has.
type NotDrained struct{ err error }

func (e *NotDrained) Error() string { return e.err.Error() }
