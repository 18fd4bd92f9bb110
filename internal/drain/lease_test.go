package drain_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/frazil/frazil/internal/consume"
	"github.com/frazil/frazil/internal/ingest"
	"github.com/frazil/frazil/internal/kafka"
	"github.com/frazil/frazil/internal/lease"
	"github.com/frazil/frazil/internal/local/catalog"
)

// leases are the names of a table's leases, also of those that are over.
func (w *world) leases(table string) (names []string) {
	w.Helper()
	t, err := w.lake.Load(w.Context(), table)
	w.must(err)
	for name := range t.Properties() {
		if strings.HasPrefix(name, lease.Prefix) {
			names = append(names, name)
		}
	}
	return names
}

// atCommit runs f when the nth commit has arrived, and counts commits.
func (w *world) atCommit(n int32, f func()) *atomic.Int32 {
	var commits atomic.Int32
	w.parts.Catalog.SetFault(func(op catalog.Op, _ *http.Request) catalog.Fault {
		if op == catalog.OpCommitTable && commits.Add(1) == n {
			f()
		}
		return catalog.Fault{}
	})
	return &commits
}

func newLeaseWorld(t *testing.T, records int) *world {
	w := newWorld(t, "shop.orders")
	w.topic("orders", 1)
	for id := range records {
		w.put("orders", 0, id)
	}
	return w
}

// While one drains, another one, which has all the same to do, reads nothing and commits nothing.
func TestOfTwoDrainsOneIsIdle(t *testing.T) {
	t.Parallel()
	w := newLeaseWorld(t, 3)
	first := inSmallBatches(w.drain(w.config(oneRoute)))
	var said bytes.Buffer
	w.log = slog.New(slog.NewTextHandler(&said, nil))
	other := inSmallBatches(w.drain(w.config(oneRoute)))
	var failed error
	commits := w.atCommit(2, func() { failed = other.Run(t.Context(), nil) })
	w.run(first)
	w.must(failed)
	if log := said.String(); !strings.Contains(log, "left to another drain") || !strings.Contains(log, "yielded=1") || strings.Contains(log, "level=ERROR") {
		t.Errorf("the other one said %s", log)
	}
	w.wantIDs("shop.orders", "0", "1", "2")
	if got := w.snapshots("shop.orders"); got != 3 || commits.Load() != 3 {
		t.Errorf("%d snapshots by %d commits, want one for each batch, and the last one to end the lease", got, commits.Load())
	}
	if got := w.leases("shop.orders"); got != nil {
		t.Errorf("%v are left", got)
	}
}

// Who began before there was a lease learns of it when it loses.
func TestADrainThatLosesToAnotherOneLeavesTheTableToIt(t *testing.T) {
	t.Parallel()
	w := newLeaseWorld(t, 4)
	first := inSmallBatches(w.drain(w.config(oneRoute)))
	first.Follows = true // its lease stays until it is asked to end
	var said bytes.Buffer
	w.log = slog.New(slog.NewTextHandler(&said, nil))
	other := inSmallBatches(w.drain(w.config(oneRoute)))
	var failed error
	w.atCommit(1, func() { failed = first.Run(t.Context(), nil) }) // the other one's
	w.run(other)
	w.must(failed)
	if log := said.String(); !strings.Contains(log, "commit again") || !strings.Contains(log, "left to another drain") || strings.Contains(log, "level=ERROR") {
		t.Errorf("the other one said %s", log)
	}
	if got := w.snapshots("shop.orders"); got != 4 {
		t.Errorf("%d snapshots, want one for each batch", got)
	}
	w.put("orders", 0, 4)
	w.run(other)
	w.wantIDs("shop.orders", "0", "1", "2", "3")
	first.End(t.Context())
	if got := w.leases("shop.orders"); got != nil {
		t.Errorf("%v are left", got)
	}
	w.run(other)
	w.wantIDs("shop.orders", "0", "1", "2", "3", "4")
}

// A holder that is gone is waited for no longer than its lease lasts.
func TestALeaseEndsWithoutItsHolder(t *testing.T) {
	t.Parallel()
	w := newLeaseWorld(t, 3)
	p := w.process(oneRoute, func(l *consume.Limits) { l.Records = 1 })
	w.atCommit(2, p.Kill)
	if !p.run(t.Context()) {
		t.Fatal("it was not killed")
	}
	w.parts.Catalog.SetFault(nil)
	if len(w.leases("shop.orders")) != 1 {
		t.Fatal("it has left no lease")
	}
	other := w.drain(w.config(oneRoute))
	rows := w.next("shop.orders", "orders", 0)
	w.run(other)
	if got := w.next("shop.orders", "orders", 0); got != rows {
		t.Errorf("the ledger expects %d, and %d before", got, rows)
	}
	other.At(func() time.Time { return time.Now().Add(3*time.Minute + time.Second) })
	w.run(other)
	w.wantIDs("shop.orders", "0", "1", "2")
	if got := w.leases("shop.orders"); got != nil {
		t.Errorf("%v are left", got)
	}
}

// The schedule of a process must not wait for its own lease, nor for that of one that has ended in whatever way.
func TestARunThatEndsEarlyLeavesNoLease(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		last  string // record
		stops bool
	}{
		"without effect at the end": {`{"id":1,"n":1}`, false},
		"with a bad record":         {`{"id":"?"}`, false},
		"by SIGTERM":                {`{"id":2,"n":2}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newLeaseWorld(t, 2)
			w.produce(w.kafka, "orders", 0, test.last)
			stop := make(chan struct{})
			w.atCommit(1, func() {
				if test.stops {
					close(stop)
				}
			})
			_ = inSmallBatches(w.drain(w.config(oneRoute))).Run(t.Context(), stop)
			if got := w.leases("shop.orders"); got != nil || w.snapshots("shop.orders") == 0 {
				t.Errorf("%v are left", got)
			}
		})
	}
}

// Two that see nothing of each other, since one of their clocks is wrong, work in vain and do no harm.
func TestNothingIsWrongWithoutTheLease(t *testing.T) {
	t.Parallel()
	w := newLeaseWorld(t, 5)
	first, blind := inSmallBatches(w.drain(w.config(oneRoute))), inSmallBatches(w.drain(w.config(oneRoute)))
	blind.At(func() time.Time { return time.Now().Add(24 * time.Hour) })
	var failed error
	w.atCommit(2, func() { failed = blind.Run(t.Context(), nil) })
	w.run(first)
	w.must(failed)
	w.wantIDs("shop.orders", "0", "1", "2", "3", "4")
	if got := w.snapshots("shop.orders"); got != 5 {
		t.Errorf("%d snapshots, want one for each batch", got)
	}
}

// What merge commits meanwhile is neither hindered by a lease nor does it end one.
func TestMergeDoesNotMindALease(t *testing.T) {
	t.Parallel()
	w := newLeaseWorld(t, 2)
	d := inSmallBatches(w.drain(w.config(oneRoute)))
	d.Follows = true
	w.run(d)
	before := w.leases("shop.orders")
	p, err := ingest.New(w.config(oneRoute), w.log)
	w.must(err)
	w.must(p.Deliver(t.Context(), []kafka.Record{{Part: &kafka.Partition{Source: kafka.MainSource, Topic: "orders"}, Offset: 2, Time: 1, Value: []byte(`{"id":7,"n":7}`)}}))
	if got := w.leases("shop.orders"); len(got) != 1 || !slices.Equal(got, before) {
		t.Errorf("leases %v, and %v before", got, before)
	}
	w.wantIDs("shop.orders", "0", "1", "7")
}
