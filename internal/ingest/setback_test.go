package ingest_test

import (
	"strings"
	"testing"
	"time"

	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/kafka"
	"github.com/frazil/frazil/internal/ledger"
	"github.com/frazil/frazil/internal/local/lake"
)

// What the process saw before the ledger went back says nothing of the records that come again.
func TestAHoleInWhatIsDeliveredAgainIsCounted(t *testing.T) {
	t.Parallel()
	for name, back := range map[string]func(*world){
		"after a roll-back": func(w *world) { w.must(w.lake.Rollback(w.Context(), w.name, 1)) },
		"after the owner's word": func(w *world) {
			w.must(w.pipeline().MoveLedger(w.Context(), config.Table{Catalog: "main", Path: []string{"shop", "orders"}},
				func(l *ledger.Ledger, now time.Time) (ledger.Move, error) {
					return l.Set(kafka.MainSource, "orders", map[int32]int64{0: 1}, now.UnixMilli())
				}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, shopOrders, flatRoute)
			part := partition(0)
			p, lines := w.logged()
			w.must(deliver(t.Context(), p, flat(part, 0, `{"id":1,"n":1}`)))
			w.must(deliver(t.Context(), p, flat(part, 1, `{"id":2,"n":2}`), flat(part, 2, `{"id":3,"n":3}`), flat(part, 3, `{"id":4,"n":4}`), flat(part, 4, `{"id":5,"n":5}`)))
			back(w)
			w.must(deliver(t.Context(), p, flat(part, 1, `{"id":2,"n":2}`)))
			w.must(deliver(t.Context(), p, flat(part, 3, `{"id":4,"n":4}`)))
			got := lines("offsets were not delivered")
			if len(got) != 1 || got[0]["holes"] != 1.0 || got[0]["from"] != 2.0 || got[0]["to"] != 2.0 {
				t.Errorf("got %v, want the hole of offset 2", got)
			}
		})
	}
}

// Rule 20 holds on a new head too: another engine has dropped a column while the commit was on its way.
func TestRecordsThatTurnBadAllAtOnceAreNoDeadLetters(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]bool{"of a topic that was applied before": true, "of one that never was": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, shopOrders, flatRoute)
			w.config.DeadLetter = config.DeadLetter{To: "s3://frazil/letters", MaxRatio: 0.5, MinRecords: 2}
			part, want := partition(0), []string{}
			p := w.pipeline()
			if first {
				w.must(deliver(t.Context(), p, flat(part, 0, `{"id":1}`)))
				want = append(want, "id=1")
			}
			w.beforeCommit(func() {
				w.must(w.lake.Alter(w.Context(), w.name, []lake.Column{{Name: "id", Type: "long", Required: true}}))
			})
			err := deliver(t.Context(), p, flat(part, 1, `{"id":2,"n":2}`), flat(part, 2, `{"id":3,"n":3}`), flat(part, 3, `{"id":4,"n":4}`))
			if err == nil || !strings.Contains(err.Error(), "column n") {
				t.Errorf("got %v, want an error about column n", err)
			}
			if keys := w.objects.Keys("frazil", "letters/"); len(keys) > 0 {
				t.Errorf("dead letters: %q", keys)
			}
			w.wantRows(want...)
		})
	}
}

// The answer to a commit need not list the snapshots that prove a roll-back. What it took of the other topics is missed all the same.
func TestARollBackIsRememberedForEveryTopic(t *testing.T) {
	t.Parallel()
	w := newWorld(t, shopOrders, "topics: [orders, more], format: flat")
	orders, more := partition(0), &kafka.Partition{Source: kafka.MainSource, Topic: "more"}
	p := w.pipeline()
	w.must(deliver(t.Context(), p, flat(orders, 0, `{"id":1,"n":1}`), flat(more, 0, `{"id":2,"n":2}`)))
	w.must(deliver(t.Context(), p, flat(more, 1, `{"id":3,"n":3}`)))
	w.must(w.lake.Rollback(t.Context(), w.name, 1))
	p = w.pipeline() // one that meets nobody
	w.must(deliver(t.Context(), p, flat(orders, 1, `{"id":4,"n":4}`)))
	if err := deliver(t.Context(), p, flat(more, 2, `{"id":5,"n":5}`)); err == nil || !strings.Contains(err.Error(), "offsets 1 to 1 of partition 0 are not in it any more") {
		t.Errorf("what was lost is left out: %v", err)
	}
	w.must(deliver(t.Context(), p, flat(orders, 2, `{"id":6,"n":6}`)))
	w.must(deliver(t.Context(), p, flat(more, 1, `{"id":3,"n":3}`)))
	w.wantRows("id=1 n=1", "id=2 n=2", "id=3 n=3", "id=4 n=4", "id=6 n=6")
}
