package maintain

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/frazil/frazil/internal/commit"
	"github.com/frazil/frazil/internal/stage"
)

// gather makes few of a table's many small manifests.
func (k *keeper) gather(ctx context.Context, _ *limits, t *tally) error {
	if k.policy.Compact == nil {
		return nil
	}
	var last error
	for n := range maxAttempts {
		how, err := stage.NewMerging(k.head.Metadata().Properties())
		if err != nil || !commit.Scattered(k.live, how) {
			return err
		}
		began := time.Now()
		a, err := commit.New(k.base(), &stage.Files{Replaces: true, Gather: true}, k.ledger.Stay(), began)
		if err != nil {
			return err
		}
		if _, last = a.Publish(ctx, k.store, k.store); last == nil {
			return k.look(ctx)
		}
		switch {
		case errors.Is(last, commit.ErrRejected):
			t.conflicts++
		case errors.Is(last, commit.ErrUnknown):
			t.unknown++
		default:
			return last
		}
		if err := commit.Pause(ctx, n+1, time.Since(began)); err != nil {
			return errors.Join(err, last)
		}
		if err := k.look(ctx); err != nil {
			return errors.Join(err, last)
		}
	}
	return fmt.Errorf("gather manifests: gave up after %d attempts: %w", maxAttempts, last)
}
