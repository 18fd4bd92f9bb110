// Package maintain keeps tables fast to read and cheap to keep, by the policies of a configuration: it compacts data files,
// gathers manifests, expires snapshots and removes orphan files.
//
// A compacted table has the same rows as before, on format version 3 under the same ids, and the same ledger. Every commit
// asserts the head that it was made for. After a conflict the new head is looked at, and what is not proven to hold there is left
// for the next run: no delete of another writer is lost. Nothing is kept between runs, which look anew.
//
// A run ends by its budget. What is too large for it, or for the process's memory, it leaves, and says how an engine does it
// (Advice), or has one do it, one query at a time, whose outcome the next run tells. Not promised: that a run makes progress
// against writers that touch every file between two looks.
package maintain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/frazil/frazil/internal/athena"
	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/locate"
	"github.com/frazil/frazil/internal/report"
	"github.com/frazil/frazil/internal/tablefile"
	"github.com/frazil/frazil/internal/warehouse"
)

// Maintain maintains the tables of a configuration. It runs once at a time.
type Maintain struct {
	// Now is the time by which ages of snapshots and files are told.
	Now func() time.Time

	tables []*keeper
	open   map[string]*warehouse.Warehouse // by catalog, since it has answered
}

// interval is how long Follow rests between the beginnings of two runs.
const interval = 15 * time.Minute

// cacheShare is the part of the budget for caches that manifests and deletes may have: there are no indexes of keys.
const cacheShare = 4

// New takes the tables that a policy is for. A configuration without policies is an error. Catalogs are opened by runs.
func New(ctx context.Context, c *config.Config, log *slog.Logger) (*Maintain, error) {
	m := &Maintain{Now: time.Now, open: map[string]*warehouse.Warehouse{}}
	memory := tablefile.NewMemory(c.Memory.Budget() / cacheShare)
	for _, r := range c.Routes {
		policy, ok := c.UpkeepOf(r.Table)
		if !ok || slices.ContainsFunc(m.tables, func(k *keeper) bool { return k.name.String() == r.Table.String() }) {
			continue
		}
		var engine *athena.Client
		if policy.Athena != nil {
			var err error
			if engine, err = athena.Open(ctx, c.Catalogs[r.Table.Catalog], *policy.Athena); err != nil {
				return nil, err
			}
		}
		m.tables = append(m.tables, &keeper{
			Maintain: m, engine: engine, name: r.Table, key: r.Key, policy: policy, catalog: c.Catalogs[r.Table.Catalog], pile: c.Memory.Pile(),
			log: log.With(report.Dimension, r.Table.String()), cache: locate.NewCache(memory),
		})
	}
	if len(m.tables) == 0 {
		return nil, errors.New("the configuration has no maintain for any table")
	}
	return m, nil
}

// Run maintains each table, one after the other, as far as its budget and the time of ctx go. It begins nothing more when
// stop is closed. A table that fails stops no other; the error is that of all that did.
func (m *Maintain) Run(ctx context.Context, stop <-chan struct{}) error {
	var errs []error
	for i, k := range m.tables {
		share := len(m.tables) - i
		if err := k.run(ctx, k.limits(ctx, stop, share)); err != nil {
			errs = append(errs, fmt.Errorf("maintain %s: %w", k.name, err))
			k.log.LogAttrs(ctx, slog.LevelError, "not maintained", slog.String("reason", err.Error()))
		}
	}
	return errors.Join(errs...)
}

// Interval is the time from one run to the next of a process that follows.
func (m *Maintain) Interval() time.Duration { return interval }

// limits are how much a run may do.
type limits struct {
	until time.Time // nothing begins after it
	stop  <-chan struct{}
	bytes int64 // that may still be read to be written again
}

// lastCommit is what is kept of the time of ctx for a commit and its outcome.
const lastCommit = 30 * time.Second

// limits are those of the policy, and of the context's time as much as each of the tables that are left may have.
func (k *keeper) limits(ctx context.Context, stop <-chan struct{}, share int) *limits {
	l := &limits{until: time.Now().Add(k.policy.Time), stop: stop, bytes: k.policy.Bytes}
	if deadline, ok := ctx.Deadline(); ok {
		left := time.Until(deadline)
		own := time.Now().Add((left - min(lastCommit, left/2)) / time.Duration(share))
		l.until = slices.MinFunc([]time.Time{l.until, own}, time.Time.Compare)
	}
	return l
}

// mostly are limits that leave a third of the time for what comes next.
func (l *limits) mostly() *limits {
	out := *l
	out.until = l.until.Add(-time.Until(l.until) / 3)
	return &out
}

// over reports whether nothing more should begin.
func (l *limits) over(now time.Time) bool { return l.stopped() || now.After(l.until) }

func (l *limits) stopped() bool {
	select {
	case <-l.stop:
		return true
	default:
		return false
	}
}

// run does for a table what its policy says.
func (k *keeper) run(ctx context.Context, l *limits) error {
	began := time.Now()
	if err := k.connect(ctx); err != nil {
		return err
	}
	if err := k.look(ctx); err != nil {
		return err
	}
	var done tally
	steps := []func(context.Context, *limits, *tally) error{k.compact, k.gather, k.expire, k.sweep}
	busy, err := k.atWork(ctx)
	if busy {
		steps = steps[1:]
	}
	errs := []error{err}
	for _, step := range steps {
		if !l.over(time.Now()) {
			errs = append(errs, step(ctx, l, &done))
		}
	}
	errs = append(errs, k.delegate(ctx, l, &done))
	err = errors.Join(errs...)
	if last := k.look(ctx); last != nil {
		return cmp.Or(err, last)
	}
	h, failed := k.health()
	if failed != nil {
		return cmp.Or(err, failed)
	}
	k.report(ctx, h, done, began)
	return err
}

// tally is what a run did.
type tally struct {
	compacted, written int // data files
	left               int64
	spoiled            int // of the bins that were written: others were at their files meanwhile
	conflicts, unknown int // commits
	snapshots          int // that expired
	deleted            int // files, of those and orphans
	orphans            int
	orphanBytes        int64
}

func (k *keeper) report(ctx context.Context, h Health, t tally, began time.Time) {
	now := time.Now()
	metrics := append(h.Metrics(), report.Compacted(t.compacted), report.Expired(t.snapshots), report.FilesDeleted(t.deleted), report.Orphans(t.orphans),
		report.Conflicts(t.conflicts), report.UnknownOutcomes(t.unknown), report.MaintainTime(now.Sub(began)))
	attrs := []slog.Attr{slog.Int("files_written", t.written), slog.Int("files_spoiled", t.spoiled), slog.Int64("orphan_bytes", t.orphanBytes)}
	if t.left > 0 {
		attrs = append(attrs, slog.Int64("bytes_left", t.left))
	}
	if t.left > 0 && k.engine == nil {
		attrs = append(attrs, slog.Any("advice", Advice(k.catalog, k.name, *k.policy.Compact)))
	}
	k.log.LogAttrs(ctx, slog.LevelInfo, "maintained", append(attrs, report.Attrs(now, metrics...)...)...)
}
