package main

import (
	"context"
	"time"

	"github.com/frazil/frazil/internal/maintain"
)

// handler takes any event: that of a schedule says nothing that matters.
type handler struct{ maintain *maintain.Maintain }

// lastWords is what is kept of an invocation's time for saying why it has failed: at its end Lambda kills the process.
const lastWords = 300 * time.Millisecond

// Invoke maintains the tables, as far as the time allows. What is left the next invocation finds, as it does after an error.
func (h *handler) Invoke(ctx context.Context, _ []byte) ([]byte, error) {
	if at, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, at.Add(-lastWords))
		defer cancel()
	}
	if err := h.maintain.Run(ctx, nil); err != nil {
		return nil, &NotMaintained{err}
	}
	return []byte("null"), nil
}

// NotMaintained gives Lambda's errorType, which is the name of the type, a meaning: something of a policy was not done.
type NotMaintained struct{ err error }

func (e *NotMaintained) Error() string { return e.err.Error() }
