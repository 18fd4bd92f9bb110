package ingest_test

import (
	"errors"
	"fmt"
	"maps"
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
	"github.com/frazil/frazil/internal/local/stack"
)

// What a reader of Kafka met no records of was not left out: not after a roll-back, not where offsets are dense. The ledger
// goes on behind it.
func TestOffsetsThatWereReadAreNoHoles(t *testing.T) {
	t.Parallel()
	for _, route := range []string{flatRoute, flatRoute + ", offsets: dense"} {
		w := newWorld(t, shopOrders, route)
		part := partition(0)
		p, lines := w.logged()
		w.must(p.Deliver(t.Context(), []kafka.Record{flat(part, 3, `{"id":1,"n":1}`)}, kafka.Range{Part: part, From: 0, Next: 5}))
		w.must(p.Deliver(t.Context(), []kafka.Record{flat(part, 7, `{"id":2,"n":2}`)}, kafka.Range{Part: part, From: 5, Next: 9}))
		w.must(w.lake.Rollback(t.Context(), w.name, 1))
		w.must(p.Deliver(t.Context(), []kafka.Record{flat(part, 7, `{"id":2,"n":2}`)}, kafka.Range{Part: part, From: 5, Next: 9}))
		w.wantRows("id=1 n=1", "id=2 n=2")
		if got := w.next(); got[0] != 9 {
			t.Errorf("%s: the ledger expects %v", route, got)
		}
		if got := lines("offsets were not delivered"); len(got) > 0 {
			t.Errorf("%s: %v", route, got)
		}
	}
}

func TestAPartitionThatIsCutIsNotPassedBehindItsBadRecord(t *testing.T) {
	t.Parallel()
	w := newWorld(t, shopOrders, flatRoute)
	w.config.ReportFailures = true
	part, other := partition(0), partition(1)
	err := w.pipeline().Deliver(t.Context(), []kafka.Record{
		flat(part, 1, `{"id":1}`), flat(part, 4, `{}`), flat(part, 5, `{}`), flat(other, 0, `{"id":2}`),
	}, kafka.Range{Part: part, From: 0, Next: 7}, kafka.Range{Part: other, From: 0, Next: 2})
	var cut *ingest.CutOff
	if !errors.As(err, &cut) {
		t.Error(err)
	}
	if got := w.next(); !maps.Equal(got, map[int32]int64{0: 4, 1: 2}) {
		t.Errorf("the ledger expects %v", got)
	}
	w.wantRows("id=1", "id=2")
}

// Else who begins at the ledger would read it again each time, and never get behind what there is no time for.
func TestMuchWithoutEffectMovesTheLedger(t *testing.T) {
	t.Parallel()
	w := newWorld(t, shopOrders, flatRoute)
	var records []kafka.Record
	for offset := range int64(10_001) {
		records = append(records, gone(partition(0), offset, fmt.Sprintf(`{"id":%d}`, offset)))
	}
	w.must(w.pipeline().Deliver(t.Context(), records[:10_000]))
	w.wantSnapshots(0)
	w.must(w.pipeline().Deliver(t.Context(), records))
	w.wantSnapshots(1)
	if got := w.next(); got[0] != 10_001 {
		t.Errorf("the ledger expects %v", got)
	}
}

// The commit of one table waits for a delivery to another one.
func TestATableDoesNotWaitForAnother(t *testing.T) {
	t.Parallel()
	w := newWorld(t, shopOrders, flatRoute)
	other := shopOrders
	other.Name = "shop.returns"
	w.must(w.lake.Create(t.Context(), other))
	c, err := stack.Configure(w.parts.CatalogConfig(), `routes: [{topics: [orders], format: flat, table: "main:shop.orders"}, {topics: [returns], format: flat, table: "main:shop.returns"}]`)
	w.must(err)
	w.config = c
	p := w.pipeline()
	w.catalog.SetFault(catalog.Once(catalog.OpCommitTable, func() catalog.Fault {
		returns := &kafka.Partition{Source: kafka.MainSource, Topic: "returns"}
		w.must(p.Deliver(t.Context(), []kafka.Record{flat(returns, 0, `{"id":1}`)}))
		return catalog.Fault{}
	}))
	w.must(p.Deliver(t.Context(), []kafka.Record{flat(partition(0), 0, `{"id":2}`)}))
	for table, want := range map[string]string{"shop.orders": "2", "shop.returns": "1"} {
		if _, rows, err := w.lake.Rows(t.Context(), table); err != nil || len(rows) != 1 || rows[0]["id"] != want {
			t.Errorf("%s: %v, %v", table, rows, err)
		}
	}
}

// The owner may be faster than the answer to a commit. What is read already does not pass over what is to come again.
func TestTheOwnersWordBeforeTheAnswerHolds(t *testing.T) {
	t.Parallel()
	w := newWorld(t, shopOrders, flatRoute)
	part, p := partition(0), w.pipeline()
	var step atomic.Int32
	w.catalog.SetFault(func(op catalog.Op, _ *http.Request) catalog.Fault {
		switch {
		case op == catalog.OpCommitTable && step.CompareAndSwap(0, 1):
			return catalog.ApplyThenStatus(http.StatusGatewayTimeout)
		case op == catalog.OpLoadTable && step.CompareAndSwap(1, 2):
			w.must(w.lake.Delete(w.Context(), w.name, []lake.Row{{"id": "2"}}, lake.Rewrite))
			w.must(w.pipeline().MoveLedger(w.Context(), w.config.Routes[0].Table, func(l *ledger.Ledger, now time.Time) (ledger.Move, error) {
				return l.Set(kafka.MainSource, "orders", map[int32]int64{0: 1}, now.UnixMilli())
			}))
		}
		return catalog.Fault{}
	})
	all := []kafka.Record{flat(part, 0, `{"id":1}`), flat(part, 1, `{"id":2}`), flat(part, 2, `{"id":3}`)}
	w.must(p.Deliver(t.Context(), all[:2], kafka.Range{Part: part, From: 0, Next: 2}))
	if err := p.Deliver(t.Context(), all[2:], kafka.Range{Part: part, From: 2, Next: 3}); err == nil || !strings.Contains(err.Error(), "offsets 1 to 1") {
		t.Errorf("got %v", err)
	}
	w.must(p.Deliver(t.Context(), all[1:], kafka.Range{Part: part, From: 1, Next: 3}))
	w.wantRows("id=1", "id=2", "id=3")
}
