package drain

import (
	"context"
	"iter"
	"time"

	"github.com/frazil/frazil/internal/consume"
)

// WhileThereIsTime is for tests.
func WhileThereIsTime(ctx context.Context, stop <-chan struct{}) (context.Context, context.CancelFunc) {
	return whileThereIsTime(ctx, stop)
}

// Limit changes the limits of all batches.
func (d *Drain) Limit(change func(*consume.Limits)) {
	for _, l := range d.lanes {
		change(&l.limits)
	}
}

// At has leases go by another clock.
func (d *Drain) At(now func() time.Time) { d.clock = now }

// Ahead is for tests.
func Ahead[T any](seq iter.Seq2[T, error], stop func()) iter.Seq2[T, error] { return ahead(seq, stop) }
