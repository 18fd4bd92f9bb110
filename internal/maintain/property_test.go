package maintain_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/apache/iceberg-go/table"
	"github.com/frazil/frazil/internal/kafka"
	"github.com/frazil/frazil/internal/local/audit"
	"github.com/frazil/frazil/internal/local/fault"
	"github.com/frazil/frazil/internal/local/lake"
	"github.com/frazil/frazil/internal/maintain"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
)

// life is that of a table that is written and maintained.
type life struct {
	*world
	r       *rand.Rand
	want    map[int64]string
	auditor *audit.Auditor
	tags    int
}

// write delivers some changes, as one commit.
func (l *life) write() error {
	var records []kafka.Record
	for range 1 + l.r.IntN(9) {
		id, n := 1+l.r.Int64N(40), strconv.Itoa(l.r.IntN(1000))
		r := kafka.Record{Part: l.part, Offset: l.offset, Time: 1_700_000_000_000 + l.offset, Key: fmt.Appendf(nil, `{"id":%d}`, id)}
		if l.r.IntN(3) == 0 {
			delete(l.want, id)
		} else {
			r.Value = fmt.Appendf(nil, `{"id":%d,"n":%s}`, id, n)
			l.want[id] = n
		}
		records = append(records, r)
		l.offset++
	}
	return l.writer.Deliver(l.Context(), records)
}

// foreign has another engine delete a row in a way of its own, or add one.
func (l *life) foreign() error {
	id := 1 + l.r.Int64N(40)
	row := lake.Row{"id": strconv.FormatInt(id, 10)}
	if _, there := l.want[id]; there {
		delete(l.want, id)
		kinds, err := l.lake.Deletes(l.Context(), name)
		if err != nil {
			return err
		}
		how := lake.Equality
		if len(kinds) == 0 { // iceberg-go brings back rows that delete files have deleted
			how = []lake.Encoding{lake.Positions, lake.Equality, lake.Rewrite}[l.r.IntN(3)]
		}
		return l.lake.Delete(l.Context(), name, []lake.Row{row}, how)
	}
	l.want[id] = "7"
	row["n"] = "7"
	return l.lake.Append(l.Context(), name, []lake.Row{row})
}

// meet is a run of maintain that meets faults; it may end by them.
func (l *life) meet(faults ...fault.Fault) error {
	life, err := fault.Begin(l.parts)
	if err != nil {
		return err
	}
	defer life.Kill()
	m, err := maintain.New(l.Context(), life.Config(l.config), slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	_ = life.Work(l.Context(), func(ctx context.Context) error { return m.Run(ctx, nil) }, faults...) // whatever it says, the table tells
	return nil
}

func (l *life) faults() (all []fault.Fault) {
	kinds := []fault.Kind{fault.Refused, fault.Unavailable, fault.Then504, fault.ThenReset, fault.Kill, fault.ThenKill, fault.Late}
	for range l.r.IntN(3) {
		f := fault.Fault{At: []fault.Point{fault.Data, fault.Manifest, fault.List, fault.Commit, fault.Commit, fault.Reload}[l.r.IntN(6)], Kind: kinds[l.r.IntN(len(kinds))]}
		if f.Check() == nil {
			all = append(all, f)
		}
	}
	return all
}

// owner changes the table's shape, or has a branch or tag hold what it has.
func (l *life) owner() error {
	l.tags++
	switch head := l.load().CurrentSnapshot(); l.r.IntN(6) {
	case 0:
		return l.lake.Repartition(l.Context(), name, [][]string{nil, {"bucket(3, id)"}, {"truncate(500, n)"}, {"identity(n)"}}[l.r.IntN(4)])
	case 1:
		return l.lake.Resort(l.Context(), name, [][]string{nil, {"n desc nulls last"}}[l.r.IntN(2)])
	case 2:
		return l.lake.Alter(l.Context(), name, []lake.Column{{Name: "id", Type: "long", Required: true}, {Name: "n", Type: "int"}, {Name: fmt.Sprint("c", l.tags), Type: "int"}})
	case 3:
		if l.r.IntN(3) == 0 && l.load().Metadata().Version() == 2 {
			return l.lake.Upgrade(l.Context(), name, 3)
		}
	case 4:
		if head != nil {
			l.refer(fmt.Sprint("tag", l.tags), head.SnapshotID, table.TagRef, 0, 0)
		}
	case 5:
		if head != nil {
			l.refer("branch", head.SnapshotID, table.BranchRef, 0, 1+l.r.IntN(3))
		}
	}
	return nil
}

func (l *life) step() error {
	switch l.r.IntN(9) {
	case 0:
		return l.foreign()
	case 8:
		return l.owner()
	case 1: // snapshots get old, and nobody else is there
		m := l.maintain()
		m.Now = func() time.Time { return time.Now().Add(week) }
		return m.Run(l.Context(), nil)
	case 2: // a writer at the same time
		var g errgroup.Group
		g.Go(func() error { return l.meet() })
		g.Go(func() error {
			for range 4 {
				if err := l.write(); err != nil {
					return err
				}
			}
			return nil
		})
		return g.Wait()
	case 3:
		return l.unchanged()
	}
	return l.write()
}

// unchanged has maintain alone at the table, which looks the same afterwards, row ids too.
func (l *life) unchanged() error {
	look := func() (out []string, err error) {
		read := l.lake.Lineage
		if l.load().Metadata().Version() < 3 {
			read = func(ctx context.Context, name string) ([]lake.Row, error) {
				_, rows, err := l.lake.Rows(ctx, name)
				return rows, err
			}
		}
		rows, err := read(l.Context(), name)
		for _, r := range rows {
			out = append(out, fmt.Sprint(r))
		}
		slices.Sort(out)
		return out, err
	}
	before, err := look()
	if err == nil {
		err = l.meet(l.faults()...)
	}
	if err != nil {
		return err
	}
	after, err := look()
	if diff := cmp.Diff(before, after); diff != "" {
		return errors.New(diff)
	}
	return err
}

func (l *life) check() error {
	_, rows, err := l.lake.Rows(l.Context(), name)
	got := map[int64]string{}
	for _, r := range rows {
		id, _ := strconv.ParseInt(r["id"], 10, 64)
		if _, twice := got[id]; twice {
			err = errors.Join(err, fmt.Errorf("id %d is there twice", id))
		}
		got[id] = r["n"]
	}
	if diff := cmp.Diff(l.want, got); diff != "" {
		err = errors.Join(err, errors.New(diff))
	}
	report, failed := l.auditor.Audit(l.Context())
	if failed == nil && len(report.Faults) > 0 {
		failed = fmt.Errorf("%q", report.Faults)
	}
	return errors.Join(err, failed)
}

// TestTheTableEqualsThePlainMapWhateverIsMaintained is the promise as a whole: whatever the encodings, partitions, engines, faults
// and writers at the same time, no row is lost, comes back or gets another id.
func TestTheTableEqualsThePlainMapWhateverIsMaintained(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			t.Parallel()
			spec := orders(2+int(seed%2), map[string]string{"frazil.care.manifests": "true", "commit.manifest.min-count-to-merge": "3"})
			switch seed / 2 % 3 {
			case 1:
				spec.Partition, spec.Sort = []string{"bucket(3, id)"}, []string{"n desc nulls last"}
			case 2:
				spec.Partition = []string{"truncate(500, n)"}
			}
			if seed%4 < 2 { // the writer cares too
				spec.Properties["frazil.care.levels"], spec.Properties["frazil.care.half-dead"] = "true", "true"
			}
			w := newWorld(t, spec, []string{"position", "equality", "rewrite"}[seed%3],
				"{compact: {files: 3}, expire: {keep: 3}, orphans: {delete: true}}")
			l := &life{world: w, r: rand.New(rand.NewPCG(seed, 5)), want: map[int64]string{}, auditor: audit.New(w.lake, w.parts.Objects, name)}
			l.auditor.RolledBack = true // branches and tags have snapshots beside main
			for i := range 25 {
				if err := l.step(); err != nil {
					t.Fatalf("seed %d, step %d: %v", seed, i, err)
				}
				if i%5 == 4 {
					if err := l.check(); err != nil {
						t.Fatalf("seed %d, step %d: %v", seed, i, err)
					}
				}
			}
		})
	}
}
