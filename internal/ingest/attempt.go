package ingest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/apache/iceberg-go/table"
	"github.com/frazil/frazil/internal/coerce"
	"github.com/frazil/frazil/internal/commit"
	"github.com/frazil/frazil/internal/kafka"
	"github.com/frazil/frazil/internal/lease"
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
func (s *share) commit(ctx context.Context) error {
	start := s.now()
	var conflict error
	for n, began := 0, start; n < maxAttempts; n++ {
		if n > 0 {
			if err := s.again(ctx, n, s.now().Sub(began)); err != nil {
				return errors.Join(err, conflict)
			}
			began = s.now()
		}
		done, err := s.attempt(ctx, start)
		switch {
		case err == nil && done:
			return nil
		case err == nil: // nothing to do on a head that may be old: look again
		case errors.Is(err, commit.ErrRejected), errors.Is(err, commit.ErrUnknown):
			if conflict = err; errors.Is(err, commit.ErrUnknown) {
				s.unknown++
			} else {
				s.lost++
				s.crowded = true
			}
			s.log.LogAttrs(ctx, slog.LevelWarn, "commit again", slog.Int("attempt", n+1), slog.String("reason", err.Error()))
		default:
			return err
		}
	}
	return fmt.Errorf("gave up after %d attempts: %w", maxAttempts, conflict)
}

// again waits a moment and takes the new head. The delivery is decoded anew: the head's ledger may have records of it
// now, and its schema may be another one.
func (s *share) again(ctx context.Context, n int, attempt time.Duration) error {
	if s.fresh {
		if err := commit.Pause(ctx, n, attempt); err != nil {
			return err
		}
	}
	uuid := s.head.Metadata().TableUUID()
	s.groundless = nil
	if err := s.load(ctx); err != nil {
		return err
	}
	if now := s.head.Metadata().TableUUID(); now != uuid {
		return fmt.Errorf("the table was dropped and made again (uuid %s, was %s)", now, uuid)
	}
	if err := s.decode(); err != nil {
		return err
	}
	return s.rejudge()
}

// attempt plans, locates, stages and commits on the current head. It reports false when there was nothing to do
// but the head is not known to be the newest.
func (s *share) attempt(ctx context.Context, start time.Time) (done bool, err error) {
	holes := s.holes()
	if s.batch == nil {
		if s.fresh {
			s.pass(ctx, holes)
		}
		return s.fresh, nil
	}
	live, outcome, err := s.resolve(ctx)
	switch {
	case err != nil && !s.fresh: // files of an old head may be gone
		return false, nil
	case err != nil:
		return false, err
	case len(outcome.Rejected) > 0 && !s.fresh: // an old head may lack their rows
		return false, nil
	case len(outcome.Rejected) > 0:
		if err := s.takeOut(outcome.Rejected); err != nil {
			return false, err
		}
		return s.attempt(ctx, start)
	case !outcome.Changes() && len(s.rejected) == 0 && !s.obliged():
		if s.fresh {
			s.idle(ctx, outcome)
			s.pass(ctx, holes)
		}
		return s.fresh, nil
	}
	a, err := s.stage(ctx, live, outcome)
	switch {
	case err != nil && !s.fresh:
		return false, nil
	case err != nil:
		return false, err
	}
	if err := s.bury(ctx); err != nil {
		return false, err
	}
	after, err := a.Publish(ctx, s.catalog, s.catalog)
	if err != nil {
		return false, err
	}
	if after.CurrentSnapshot().SnapshotID != a.Snapshot { // it was looked up, and others were there by then
		s.changes.Add(1)
	}
	s.report(ctx, a, outcome, start)
	s.pass(ctx, holes)
	return true, s.landed(after)
}

// landed makes the table the head that has the delivery. Others may have set the ledger back by then.
func (s *share) landed(after *table.Table) error {
	if err := s.use(after); err != nil {
		return err
	}
	for p, span := range s.spans {
		if m, _ := s.ledger.Mark(&p); m.Next < span.Next {
			delete(s.passed, p)
		}
	}
	return nil
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
func (s *share) takeOut(without []int) error {
	if s.groundless == nil {
		s.groundless = map[kafka.Ref]error{}
	}
	for _, row := range without {
		r := s.leaning[row]
		column, _ := s.batch.MustKeep(row)
		s.groundless[r.Ref()] = &coerce.Error{
			Column: s.batch.Schema.Columns[column].Name, Reason: "the record does not have it, and there is no row whose value could be kept",
		}
	}
	if err := s.decode(); err != nil {
		return err
	}
	return s.rejudge()
}

// resolve settles the batch against the head.
func (s *share) resolve(ctx context.Context) (*locate.Snapshot, *resolve.Outcome, error) {
	live, err := s.open(ctx)
	if err != nil {
		return nil, nil, err
	}
	plan := merge.Make(s.batch)
	if s.encoding == stage.Equality {
		return live, resolve.Blind(plan), nil
	}
	found, err := live.Find(ctx, s.catalog, s.batch.Schema, s.batch.Keys)
	if err != nil {
		return nil, nil, err
	}
	outcome := resolve.Settle(plan, found)
	outcome.Leave(live.Stored(ctx, s.catalog, s.batch.Schema, found, outcome.Comparable()))
	return live, outcome, nil
}

// stage makes the attempt of an outcome.
func (s *share) stage(ctx context.Context, live *locate.Snapshot, o *resolve.Outcome) (*commit.Attempt, error) {
	base := commit.Base{Table: s.head, Live: live}
	var key []int
	for _, i := range s.batch.Schema.Key {
		key = append(key, s.batch.Schema.Columns[i].FieldID)
	}
	to, err := base.Target(key)
	if err != nil {
		return nil, err
	}
	to.Layout = to.Layout.Sparing(s.config.Memory.Care())
	files, err := stage.Write(ctx, s.catalog, live, o, s.encoding, to)
	if err != nil {
		return nil, err
	}
	s.cache.Keep(s.batch.Schema, files.Fingerprints)
	move, err := s.ledger.Advance(s.spans)
	if err != nil {
		return nil, err
	}
	a, err := commit.New(base, files, move, s.now())
	if err == nil {
		s.note(a)
	}
	return a, err
}

// idle remembers the times of a delivery without effect, which moves no ledger: its records must not look newer than
// all that the ledger has seen when they come again behind a commit with older ones (rule 17).
func (s *share) idle(ctx context.Context, o *resolve.Outcome) {
	if o.Unchanged > 0 {
		s.log.LogAttrs(ctx, slog.LevelInfo, "nothing to commit", report.Attrs(s.now(), report.Records(len(s.records)), report.Unchanged(o.Unchanged))...)
	}
	for p, span := range s.spans {
		s.newest[p] = max(s.newest[p], span.Time)
	}
}

// report logs the one line of a commit.
func (s *share) report(ctx context.Context, a *commit.Attempt, o *resolve.Outcome, start time.Time) {
	now := s.now()
	metrics := []report.Metric{
		report.Records(len(s.records)), report.Inserted(o.Inserts), report.Updated(o.Updates), report.Deleted(o.Deletes),
		report.UnknownDeletes(o.Unknown), report.Unchanged(o.Unchanged), report.DeadLetters(len(s.rejected)), report.Conflicts(s.lost), report.UnknownOutcomes(s.unknown),
		report.CommitTime(now.Sub(start)),
	}
	if newest := s.spans.Newest(); newest > 0 {
		metrics = append(metrics, report.Lag(now.Sub(time.UnixMilli(newest))))
	}
	if s.made > 0 {
		metrics = append(metrics, report.Freshness(now.Sub(time.UnixMilli(s.made))))
	}
	attrs := []slog.Attr{
		slog.Int64("snapshot", a.Snapshot), slog.Any("control_records", s.controls), slog.Int("shared_keys", s.sharing.keys),
		slog.Int("files_by_position", a.Care.ByPosition), slog.Int("files_rewritten", a.Care.Rewritten),
		slog.Int("files_merged", a.Care.Merged), slog.Int("files_dead", a.Care.Dead),
	}
	if a.Care.Neglected != nil {
		attrs = append(attrs, slog.String("files_neglected", a.Care.Neglected.Error()))
	}
	s.log.LogAttrs(ctx, slog.LevelInfo, "committed", append(attrs, report.Attrs(now, metrics...)...)...)
	s.warn(ctx)
}

// fail logs that the table does not have the delivery, or not all of it. That another one sees to it is no failure.
func (s *share) fail(ctx context.Context, reason error) {
	if taken := new(lease.Taken); errors.As(reason, &taken) {
		return
	}
	metrics := report.Attrs(s.now(), report.Failed(1), report.Conflicts(s.lost), report.UnknownOutcomes(s.unknown))
	s.log.LogAttrs(ctx, slog.LevelError, "failed", append(metrics, slog.String("reason", reason.Error()))...)
}
