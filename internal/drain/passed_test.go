package drain_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/frazil/frazil/internal/ingest"
	"github.com/frazil/frazil/internal/kafka"
	"github.com/frazil/frazil/internal/ledger"
	"github.com/frazil/frazil/internal/local/catalog"
	"github.com/frazil/frazil/internal/local/lake"
)

// While a run goes on, the table may lose what the run has put into it. The same process reads that again.
func TestWhatIsTakenBackDuringARunIsReadAgain(t *testing.T) {
	t.Parallel()
	for name, takeBack := range map[string]func(*world) error{
		"by a roll-back":      func(w *world) error { return w.lake.Rollback(w.Context(), "shop.orders", 1) },
		"by its owner's word": (*world).startAgain,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "shop.orders")
			w.must(w.lake.Append(t.Context(), "shop.orders", []lake.Row{{"id": "9", "n": "9"}}))
			w.topic("orders", 2)
			for p := range 2 {
				w.put("orders", int32(p), p)
			}
			var commits atomic.Int32
			var failed error
			w.parts.Catalog.SetFault(func(op catalog.Op, _ *http.Request) catalog.Fault {
				if op == catalog.OpCommitTable && commits.Add(1) == 2 { // the run's second: its first one landed
					failed = takeBack(w)
				}
				return catalog.Fault{}
			})
			d := inSmallBatches(w.drain(w.config(oneRoute)))
			w.run(d)
			w.must(failed)
			w.run(d)
			w.wantIDs("shop.orders", "0", "1", "9")
		})
	}
}

// The owner may also be faster than the answer to the commit.
func TestWhatIsTakenBackBeforeTheAnswerIsReadAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "shop.orders")
	w.topic("orders", 1)
	w.put("orders", 0, 0)
	var landed atomic.Bool
	var failed error
	w.parts.Catalog.SetFault(func(op catalog.Op, _ *http.Request) catalog.Fault {
		switch {
		case op == catalog.OpCommitTable && landed.CompareAndSwap(false, true):
			return catalog.ApplyThenStatus(http.StatusGatewayTimeout)
		case op == catalog.OpLoadTable && landed.Load():
			w.parts.Catalog.SetFault(nil)
			failed = w.startAgain()
		}
		return catalog.Fault{}
	})
	d := w.drain(w.config(oneRoute))
	w.run(d)
	w.must(failed)
	w.wantIDs("shop.orders")
	w.run(d)
	w.wantIDs("shop.orders", "0")
}

// Nor does a batch that was read already pass over what is before it again.
func TestABatchBehindWhatIsTakenBackIsNotApplied(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "shop.orders")
	w.topic("orders", 1)
	w.put("orders", 0, 0, 1, 2)
	var commits atomic.Int32
	var failed error
	w.parts.Catalog.SetFault(func(op catalog.Op, _ *http.Request) catalog.Fault {
		if op == catalog.OpCommitTable && commits.Add(1) == 3 {
			failed = w.startAgain()
		}
		return catalog.Fault{}
	})
	d := inSmallBatches(w.drain(w.config(oneRoute)))
	err := d.Run(t.Context(), nil)
	w.must(failed)
	if err == nil || !strings.Contains(err.Error(), "topic orders, partition 0, offset 2: the table does not have the offsets 0 to 1 any more") {
		t.Errorf("got %v", err)
	}
	w.wantIDs("shop.orders")
	w.run(d)
	w.wantIDs("shop.orders", "0", "1", "2")
}

// startAgain has the owner take the rows 0 and 1 away, and say that topic orders is to be applied from its start on.
func (w *world) startAgain() error {
	if err := w.lake.Delete(w.Context(), "shop.orders", []lake.Row{{"id": "0"}, {"id": "1"}}, lake.Rewrite); err != nil {
		return err
	}
	c := w.config(oneRoute)
	p, err := ingest.New(c, w.log)
	if err != nil {
		return err
	}
	return p.MoveLedger(w.Context(), c.Routes[0].Table, func(l *ledger.Ledger, now time.Time) (ledger.Move, error) {
		return l.Set(kafka.MainSource, "orders", map[int32]int64{0: 0, 1: 0}, now.UnixMilli())
	})
}
