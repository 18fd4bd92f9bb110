package ingest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/frazil/frazil/internal/coerce"
	"github.com/frazil/frazil/internal/commit"
	"github.com/frazil/frazil/internal/kafka"
	"github.com/frazil/frazil/internal/locate"
	"github.com/frazil/frazil/internal/merge"
	"github.com/frazil/frazil/internal/report"
	"github.com/frazil/frazil/internal/resolve"
	"github.com/frazil/frazil/internal/stage"
)

// maxAttempts bounds the commits that one delivery tries; the invocation's deadline comes first.
const maxAttempts = 100

// commit applies the prepared batch: attempt after attempt, each from a new head, until one lands or nothing is
// left to do.
func (t *target) commit(ctx context.Context) error {
	start := t.now()
	var conflict error
	for n, began := 0, start; n < maxAttempts; n++ {
		if n > 0 {
			if err := t.again(ctx, n, t.now().Sub(began)); err != nil {
				return errors.Join(err, conflict)
			}
			began = t.now()
		}
		done, err := t.attempt(ctx, start)
		switch {
		case err == nil && done:
			return nil
		case err == nil: // nothing to do on a head that may be old: look again
		case errors.Is(err, commit.ErrRejected), errors.Is(err, commit.ErrUnknown):
			if conflict = err; errors.Is(err, commit.ErrUnknown) {
				t.unknown++
			} else {
				t.lost++
				t.crowded = true
			}
			t.log.LogAttrs(ctx, slog.LevelWarn, "commit again", slog.Int("attempt", n+1), slog.String("reason", err.Error()))
		default:
			return err
		}
	}
	return fmt.Errorf("gave up after %d attempts: %w", maxAttempts, conflict)
}

// again waits a moment and takes the new head. The delivery is decoded anew: the head's ledger may have records of it
// now, and its schema may be another one.
func (t *target) again(ctx context.Context, n int, attempt time.Duration) error {
	if t.fresh {
		if err := commit.Pause(ctx, n, attempt); err != nil {
			return err
		}
	}
	uuid := t.head.Metadata().TableUUID()
	t.groundless = nil
	if err := t.load(ctx); err != nil {
		return err
	}
	if now := t.head.Metadata().TableUUID(); now != uuid {
		return fmt.Errorf("the table was dropped and made again (uuid %s, was %s)", now, uuid)
	}
	if err := t.decode(); err != nil {
		return err
	}
	return t.rejudge()
}

// attempt plans, locates, stages and commits on the current head. It reports false when there was nothing to do
// but the head is not known to be the newest.
func (t *target) attempt(ctx context.Context, start time.Time) (done bool, err error) {
	holes := t.holes()
	if t.batch == nil {
		if t.fresh {
			t.pass(ctx, holes)
		}
		return t.fresh, nil
	}
	live, outcome, err := t.resolve(ctx)
	switch {
	case err != nil && !t.fresh: // files of an old head may be gone
		return false, nil
	case err != nil:
		return false, err
	case len(outcome.Rejected) > 0 && !t.fresh: // an old head may lack their rows
		return false, nil
	case len(outcome.Rejected) > 0:
		if err := t.takeOut(outcome.Rejected); err != nil {
			return false, err
		}
		return t.attempt(ctx, start)
	case !outcome.Changes() && len(t.rejected) == 0 && !t.obliged():
		if t.fresh {
			t.idle(ctx, outcome)
			t.pass(ctx, holes)
		}
		return t.fresh, nil
	}
	a, err := t.stage(ctx, live, outcome)
	switch {
	case err != nil && !t.fresh:
		return false, nil
	case err != nil:
		return false, err
	}
	if err := t.bury(ctx); err != nil {
		return false, err
	}
	after, err := a.Publish(ctx, t.catalog, t.catalog)
	if err != nil {
		return false, err
	}
	t.report(ctx, a, outcome, start)
	t.pass(ctx, holes)
	return true, t.use(after)
}

// open reads which files the head has.
func (t *target) open(ctx context.Context) (*locate.Snapshot, error) {
	defaults, err := coerce.InitialDefaults(t.head.Schema())
	if err != nil {
		return nil, err
	}
	source, err := commit.Source(t.head, defaults)
	if err != nil {
		return nil, err
	}
	return t.cache.Open(ctx, t.catalog, source)
}

// takeOut makes the batch again without records that need a row of the table which is not there (rule 13): at least one less.
func (t *target) takeOut(without []int) error {
	if t.groundless == nil {
		t.groundless = map[kafka.Ref]error{}
	}
	for _, row := range without {
		r := t.leaning[row]
		column, _ := t.batch.MustKeep(row)
		t.groundless[r.Ref()] = &coerce.Error{
			Column: t.batch.Schema.Columns[column].Name, Reason: "the record does not have it, and there is no row whose value could be kept",
		}
	}
	if err := t.decode(); err != nil {
		return err
	}
	return t.rejudge()
}

// resolve settles the batch against the head.
func (t *target) resolve(ctx context.Context) (*locate.Snapshot, *resolve.Outcome, error) {
	live, err := t.open(ctx)
	if err != nil {
		return nil, nil, err
	}
	plan := merge.Make(t.batch)
	if t.encoding == stage.Equality {
		return live, resolve.Blind(plan), nil
	}
	found, err := live.Find(ctx, t.catalog, t.batch.Schema, t.batch.Keys)
	if err != nil {
		return nil, nil, err
	}
	outcome := resolve.Settle(plan, found)
	outcome.Leave(live.Stored(ctx, t.catalog, t.batch.Schema, found, outcome.Comparable()))
	return live, outcome, nil
}

// stage makes the attempt of an outcome.
func (t *target) stage(ctx context.Context, live *locate.Snapshot, o *resolve.Outcome) (*commit.Attempt, error) {
	base := commit.Base{Table: t.head, Live: live}
	var key []int
	for _, i := range t.batch.Schema.Key {
		key = append(key, t.batch.Schema.Columns[i].FieldID)
	}
	to, err := base.Target(key)
	if err != nil {
		return nil, err
	}
	files, err := stage.Write(ctx, t.catalog, live, o, t.encoding, to)
	if err != nil {
		return nil, err
	}
	t.cache.Keep(t.batch.Schema, files.Fingerprints)
	move, err := t.ledger.Advance(t.spans)
	if err != nil {
		return nil, err
	}
	return commit.New(base, files, move, t.now())
}

// idle remembers the times of a delivery without effect, which moves no ledger: its records must not look newer than
// all that the ledger has seen when they come again behind a commit with older ones (rule 17).
func (t *target) idle(ctx context.Context, o *resolve.Outcome) {
	if o.Unchanged > 0 {
		t.log.LogAttrs(ctx, slog.LevelInfo, "nothing to commit", report.Attrs(t.now(), report.Records(len(t.records)), report.Unchanged(o.Unchanged))...)
	}
	for p, span := range t.spans {
		t.newest[p] = max(t.newest[p], span.Time)
	}
}

// report logs the one line of a commit.
func (t *target) report(ctx context.Context, a *commit.Attempt, o *resolve.Outcome, start time.Time) {
	now := t.now()
	metrics := []report.Metric{
		report.Records(len(t.records)), report.Inserted(o.Inserts), report.Updated(o.Updates), report.Deleted(o.Deletes),
		report.UnknownDeletes(o.Unknown), report.Unchanged(o.Unchanged), report.DeadLetters(len(t.rejected)), report.Conflicts(t.lost), report.UnknownOutcomes(t.unknown),
		report.CommitTime(now.Sub(start)),
	}
	if newest := t.spans.Newest(); newest > 0 {
		metrics = append(metrics, report.Lag(now.Sub(time.UnixMilli(newest))))
	}
	if t.made > 0 {
		metrics = append(metrics, report.Freshness(now.Sub(time.UnixMilli(t.made))))
	}
	attrs := []slog.Attr{
		slog.Int64("snapshot", a.Snapshot), slog.Any("control_records", t.controls), slog.Int("shared_keys", t.sharing.keys),
		slog.Int("files_by_position", a.Care.ByPosition), slog.Int("files_rewritten", a.Care.Rewritten),
		slog.Int("files_merged", a.Care.Merged), slog.Int("files_dead", a.Care.Dead),
	}
	if a.Care.Neglected != nil {
		attrs = append(attrs, slog.String("files_neglected", a.Care.Neglected.Error()))
	}
	t.log.LogAttrs(ctx, slog.LevelInfo, "committed", append(attrs, report.Attrs(now, metrics...)...)...)
	t.warn(ctx)
}

// fail logs that the table does not have the delivery, or not all of it.
func (t *target) fail(ctx context.Context, reason error) {
	metrics := report.Attrs(t.now(), report.Failed(1), report.Conflicts(t.lost), report.UnknownOutcomes(t.unknown))
	t.log.LogAttrs(ctx, slog.LevelError, "failed", append(metrics, slog.String("reason", reason.Error()))...)
}
