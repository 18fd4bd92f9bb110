package commit

import (
	"context"
	"math/rand/v2"
	"time"
)

// Pause lets writers that met once not meet again: each waits a part of the time that an attempt takes, or of some of them
// once it has lost more often. Of writers that never rest one always wins, so to wait for long would be to starve.
func Pause(ctx context.Context, n int, attempt time.Duration) error {
	const most = 4
	select {
	case <-time.After(rand.N(max(attempt, time.Millisecond) * time.Duration(min(n, most)))):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
