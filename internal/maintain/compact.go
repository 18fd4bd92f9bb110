package maintain

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/apache/iceberg-go"
	"github.com/frazil/frazil/internal/commit"
	"github.com/frazil/frazil/internal/locate"
	"github.com/frazil/frazil/internal/stage"
	"github.com/frazil/frazil/internal/tablefile"
	"golang.org/x/sync/errgroup"
)

// What is written again is committed when it is so much or so old: the longer it waits, the likelier others are at its files.
const (
	mostStaged  = 32 // bins
	longestWait = 15 * time.Second
)

// maxAttempts bounds the commits that are tried for what is staged.
const maxAttempts = 20

// compaction is one run over a table's files.
type compaction struct {
	*keeper
	tally  *tally
	staged []*part
	since  time.Time // the first of them was staged
}

// part is a bin that is written and not committed.
type part struct {
	*stage.Compacted
	version  int   // of the table's format then
	snapshot int64 // what it was read from
	sequence int64 // and its sequence number
	doubtful bool  // an attempt with it may have landed: its files are not to be deleted
}

// compact writes data files again: small ones together, and those with dead rows without them.
func (k *keeper) compact(ctx context.Context, l *limits, t *tally) error {
	if k.policy.Compact == nil || k.head.CurrentSnapshot() == nil {
		return nil
	}
	l = l.mostly() // there is always something to compact in a large table
	to, _, err := k.target()
	if err != nil {
		return err
	}
	choice := &chooser{policy: *k.policy.Compact, spec: to.Spec.ID(), target: to.Layout.TargetSize(), pile: k.pile, width: width(k.head.Schema())}
	bins := choice.choose(measure(k.live))
	t.left = choice.tooLarge
	c := &compaction{keeper: k, tally: t}
	defer func() { c.drop(ctx, c.staged) }() // of a run that ends by an error
	var failed []error
	for i, b := range bins {
		if b.bytes > l.bytes || l.over(time.Now()) {
			t.left += b.bytes
			continue
		}
		l.bytes -= b.bytes
		if err := c.stage(ctx, b); err != nil {
			failed = append(failed, err)
			k.log.LogAttrs(ctx, slog.LevelWarn, "files left as they are", slog.Int("files", len(b.files)), slog.String("reason", err.Error()))
			continue
		}
		if len(c.staged) >= mostStaged || time.Since(c.since) > longestWait || i == len(bins)-1 {
			if err := c.commit(ctx); err != nil {
				return err
			}
		}
	}
	if err := c.commit(ctx); err != nil {
		return err
	}
	if len(failed) > 0 && len(failed) == len(bins) { // of a few only those files are the reason
		return errors.Join(failed...)
	}
	return ctx.Err()
}

// width is about what a row of a schema takes in memory.
func width(s *iceberg.Schema) (n int64) {
	const text = 24
	for _, id := range s.FieldIDs() {
		f, _ := s.FindFieldByID(id)
		switch t := f.Type.(type) {
		case iceberg.StringType, iceberg.BinaryType:
			n += text
		case iceberg.DecimalType, iceberg.UUIDType:
			n += 16
		case iceberg.FixedType:
			n += int64(t.Len())
		default:
			n += 8
		}
	}
	return n
}

// stage writes a bin and uploads it. Files that others took out of the table since it was chosen are left out.
func (c *compaction) stage(ctx context.Context, b bin) error {
	from := locateAll(c.live, b.files)
	if len(from) == 0 {
		return nil
	}
	to, schema, err := c.target()
	if err != nil {
		return err
	}
	written, err := stage.Compact(ctx, c.store, c.live, from, schema, to)
	if err != nil {
		return err
	}
	p := &part{Compacted: written, version: to.Version, snapshot: c.head.CurrentSnapshot().SnapshotID, sequence: c.head.CurrentSnapshot().SequenceNumber}
	var g errgroup.Group // as in a commit, no upload is given up half way
	g.SetLimit(tablefile.Requests)
	for _, o := range written.Objects {
		g.Go(func() error { return c.store.Write(ctx, o.Path, o.Data) })
	}
	if err := g.Wait(); err != nil {
		return fmt.Errorf("upload: %w", err)
	}
	for i := range p.Objects {
		p.Objects[i].Data = nil // only their paths are needed from here on
	}
	if len(c.staged) == 0 {
		c.since = time.Now()
	}
	c.staged = append(c.staged, p)
	return nil
}

// locateAll are files as a snapshot has them, of those that it has.
func locateAll(live *locate.Snapshot, files []*file) (out []locate.File) {
	at := map[string]locate.File{}
	for _, f := range live.Data {
		at[f.FilePath()] = f
	}
	for _, f := range files {
		if now, there := at[f.FilePath()]; there && now.Sequence == f.Sequence {
			out = append(out, now)
		}
	}
	return out
}

// commit puts what is staged into the table, as one snapshot: what of it is proven to hold on the head of the moment.
func (c *compaction) commit(ctx context.Context) error {
	uuid := c.head.Metadata().TableUUID()
	var last error
	for n := range maxAttempts {
		if len(c.staged) == 0 {
			return nil
		}
		began := time.Now()
		if err := c.look(ctx); err != nil {
			return errors.Join(err, last)
		}
		if c.head.Metadata().TableUUID() != uuid {
			return errors.New("the table was dropped and made again")
		}
		if err := c.prove(ctx); err != nil {
			return err
		}
		if len(c.staged) == 0 {
			return nil
		}
		if last = c.attempt(ctx); last == nil {
			c.staged = nil
			return c.look(ctx)
		}
		if !errors.Is(last, commit.ErrRejected) && !errors.Is(last, commit.ErrUnknown) {
			return last
		}
		if err := commit.Pause(ctx, n+1, time.Since(began)); err != nil {
			return errors.Join(err, last)
		}
	}
	return fmt.Errorf("gave up after %d attempts: %w", maxAttempts, last)
}

func (c *compaction) attempt(ctx context.Context) error {
	var parts []*stage.Compacted
	for _, p := range c.staged {
		if p.Sequence = 0; c.equalitySince(p.sequence) {
			p.Sequence = p.sequence
		}
		parts = append(parts, p.Compacted)
	}
	files, err := stage.Replace(ctx, c.store, c.live, parts)
	if err != nil {
		return err
	}
	a, err := commit.New(c.base(), files, c.ledger.Stay(), time.Now())
	if err != nil {
		return err
	}
	_, err = a.Publish(ctx, c.store, c.store)
	switch {
	case err == nil:
		c.log.LogAttrs(ctx, slog.LevelInfo, "compacted", slog.Int64("snapshot", a.Snapshot), slog.Int("files", len(files.Removed)), slog.Int("into", len(files.Data)))
		for _, p := range c.staged {
			c.tally.compacted += len(p.From)
			c.tally.written += len(p.Data)
		}
		return nil
	case errors.Is(err, commit.ErrUnknown):
		c.tally.unknown++
	case errors.Is(err, commit.ErrRejected):
		c.tally.conflicts++
	default: // it is not in the table
		return err
	}
	for _, p := range c.staged {
		p.doubtful = p.doubtful || !a.Refused
	}
	return err
}

// drop gives staged parts up. What it cannot delete, or must not, is for the orphan sweep.
func (c *compaction) drop(ctx context.Context, parts []*part) {
	for _, p := range parts {
		for _, o := range p.Objects {
			if !p.doubtful {
				_ = c.store.Delete(ctx, o.Path)
			}
		}
	}
}
