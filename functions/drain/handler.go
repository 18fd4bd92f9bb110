package main

import (
	"context"
	"time"

	"github.com/frazil/frazil/internal/drain"
)

// handler takes any event: that of a schedule says nothing that matters.
type handler struct{ drain *drain.Drain }

// lastWords is what is kept of an invocation's time for saying why it has failed: at its end Lambda kills the process.
const lastWords = 300 * time.Millisecond

// Invoke drains what Kafka has, as far as the time allows. What is left the next invocation reads, as it does after an error.
func (h *handler) Invoke(ctx context.Context, _ []byte) ([]byte, error) {
	if at, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, at.Add(-lastWords))
		defer cancel()
	}
	if err := h.drain.Run(ctx, nil); err != nil {
		return nil, &NotDrained{err}
	}
	return []byte("null"), nil
}

// NotDrained gives Lambda's errorType, which is the name of the type, a meaning: not all tables have what Kafka has.
type NotDrained struct{ err error }

func (e *NotDrained) Error() string { return e.err.Error() }
