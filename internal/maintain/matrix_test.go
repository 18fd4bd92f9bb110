package maintain_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/frazil/frazil/internal/local/audit"
	"github.com/frazil/frazil/internal/local/fault"
	"github.com/frazil/frazil/internal/local/stack"
	"github.com/frazil/frazil/internal/local/trial"
	"github.com/frazil/frazil/internal/maintain"
	"golang.org/x/sync/errgroup"
)

// keeping is a process of maintain at the end of a line, in a week: all snapshots and orphans are old.
type keeping struct {
	*fault.Life
	maintain *maintain.Maintain
}

func (w *world) keeping() *keeping {
	w.Helper()
	life, err := fault.Begin(w.parts)
	w.must(err)
	w.Cleanup(life.Cut)
	mine := *w
	mine.config = life.Config(w.config)
	k := &keeping{life, mine.maintain()}
	k.maintain.Now = func() time.Time { return time.Now().Add(week) }
	return k
}

func (k *keeping) run(ctx context.Context, faults ...fault.Fault) error {
	return k.Work(ctx, func(ctx context.Context) error { return k.maintain.Run(ctx, nil) }, faults...)
}

// littered is a table with small files, dead rows and old snapshots, and an orphan below its location.
func littered(t *testing.T, n int) *world {
	w := newWorld(t, orders(2+n%2, map[string]string{"commit.manifest.min-count-to-merge": "2"}), []string{"position", "equality"}[n/2%2],
		"{compact: {files: 2}, expire: {keep: 1}, orphans: {delete: true}}")
	for i, ids := range [][]int{{1, 2, 3, 4}, {2, -3, 5}, {6, -4}, {1, 7}} {
		w.put(i, ids...)
	}
	w.parts.Objects.Write(stack.Bucket, "warehouse/shop/orders/data/orphan.parquet", []byte("nobody's"))
	return w
}

var kept = []string{"1=3", "2=1", "5=1", "6=2", "7=3"}

// sound checks that nothing of the table is lost or broken, and that its rows have the row ids of before.
func (w *world) sound(ids []string) {
	w.Helper()
	w.wantRows(slices.Clone(kept)...)
	if ids != nil && !slices.Equal(w.lineage(), ids) {
		w.Errorf("the rows are %q, and were %q", w.lineage(), ids)
	}
	report, err := audit.New(w.lake, w.parts.Objects, name).Audit(w.Context())
	w.must(err)
	if len(report.Faults) > 0 || report.Ledger["orders-0"] != w.offset {
		w.Errorf("the ledger is %v; %q", report.Ledger, report.Faults)
	}
}

// tidy checks that all is done that the policy says.
func (w *world) tidy() {
	w.Helper()
	w.wantFiles(1, 0)
	if got := w.snapshots(); got != 1 {
		w.Errorf("%d snapshots are left", got)
	}
	report, err := audit.New(w.lake, w.parts.Objects, name).Audit(w.Context()) // which has not seen what is gone
	w.must(err)
	if len(report.Orphans) > 0 {
		w.Errorf("files are left of nothing: %q", report.Orphans)
	}
}

// again is who maintains the table after a fault.
func (w *world) again(first *keeping, after string) {
	w.Helper()
	switch {
	case after == trial.SameProcess && !first.Dead():
		w.must(first.run(w.Context()))
	case after == trial.TwoAtOnce:
		a, b := w.keeping(), w.keeping()
		var g errgroup.Group
		for _, k := range []*keeping{a, b} {
			g.Go(func() error { // files that one of them deletes, the other one may be at
				_ = k.run(w.Context())
				return nil
			})
		}
		_ = g.Wait()
	default:
		w.must(w.keeping().run(w.Context()))
	}
}

// meet plays a fault of a run and what follows it. It reports false if there is no such request.
func meet(t *testing.T, n int, f fault.Fault, after string) (met bool) {
	t.Helper()
	w := littered(t, n)
	var ids []string
	if w.load().Metadata().Version() == 3 {
		ids = w.lineage()
	}
	first := w.keeping()
	var unmet *fault.Unmet
	if err := first.run(t.Context(), f); errors.As(err, &unmet) {
		return false
	}
	w.sound(ids)
	w.again(first, after)
	w.sound(ids)
	w.must(w.keeping().run(t.Context())) // what one that was in another one's way has left
	w.sound(ids)
	w.tidy()
	w.put(9, 9)
	w.wantRows(append(slices.Clone(kept), "9=9")...)
	return true
}

// later are the kinds of faults of all requests but the first one of a point.
var later = []fault.Kind{fault.Refused, fault.ThenKill, fault.Late}

// mostRequests bounds how many of a run's requests of one point meet faults: of removals there are as many as of files.
const mostRequests = 3

// TestNoFaultOfARunLosesARow is the promise of maintain for every fault of every request of a run that compacts, expires and
// sweeps: nothing of the table is lost, and whoever runs next does all that is left.
func TestNoFaultOfARunLosesARow(t *testing.T) {
	t.Parallel()
	for p, at := range []fault.Point{fault.Data, fault.Manifest, fault.List, fault.Commit, fault.Reload, fault.Listing, fault.Removal} {
		for k, kind := range fault.Kinds {
			f := fault.Fault{At: at, Kind: kind}
			if f.Check() != nil || kind == fault.Throttled && at != fault.Commit && at != fault.Reload {
				continue
			}
			t.Run(fmt.Sprintf("%s %s", at, kind), func(t *testing.T) {
				t.Parallel()
				for f.Skip < mostRequests {
					if !meet(t, p+k+f.Skip, f, trial.Afters[(p+k+f.Skip)%len(trial.Afters)]) {
						break
					}
					f.Skip++
					if !slices.Contains(later, kind) {
						break
					}
				}
				if f.Skip == 0 {
					t.Error("a run makes no such request")
				}
			})
		}
	}
}
