package main

import (
	"context"

	"github.com/frazil/frazil/internal/maintain"
	"github.com/frazil/frazil/internal/schedule"
)

// handler takes any event: that of a schedule says nothing that matters.
type handler struct{ maintain *maintain.Maintain }

// Invoke maintains the tables, as far as the time allows. What is left the next invocation finds, as it does after an error.
func (h *handler) Invoke(ctx context.Context, _ []byte) ([]byte, error) {
	if err := schedule.Invocation(ctx, h.maintain); err != nil {
		return nil, &NotMaintained{err}
	}
	return []byte("null"), nil
}

// NotMaintained gives Lambda's errorType, which is the name of the type, a meaning: something of a policy was not done.
type NotMaintained struct{ err error }

func (e *NotMaintained) Error() string { return e.err.Error() }
