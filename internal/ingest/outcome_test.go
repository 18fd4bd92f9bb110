package ingest_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"
	"github.com/frazil/frazil/internal/ingest"
	"github.com/frazil/frazil/internal/local/catalog"
	"github.com/frazil/frazil/internal/local/lake"
)

const flatRoute = "topics: [orders], format: flat"

// standard is a table with the rows 1, 2 and 5, and a delivery that updates 1, deletes 2 and inserts 3.
func standard(t *testing.T) (*world, func(*ingest.Pipeline) error) {
	w := newWorld(t, leftAlone(shopOrders), flatRoute, lake.Row{"id": "1", "n": "1"}, lake.Row{"id": "2", "n": "2"}, lake.Row{"id": "5"})
	return w, func(p *ingest.Pipeline) error {
		part := partition(0)
		return deliver(t.Context(), p, flat(part, 0, `{"id":1,"n":10}`), gone(part, 1, `{"id":2}`), flat(part, 2, `{"id":3,"n":3}`))
	}
}

// applied checks that the standard delivery is in once.
func (w *world) applied() {
	w.Helper()
	w.wantRows("id=1 n=10", "id=3 n=3", "id=5")
	w.wantSnapshots(2) // one is the load's
	if got := w.next()[0]; got != 3 {
		w.Errorf("the ledger expects offset %d next, want 3", got)
	}
	for _, f := range w.audit().Faults {
		w.Error(f)
	}
}

func (w *world) commits() int { return w.catalog.Stats()[catalog.OpCommitTable] }

func TestARefusedCommitIsTriedAgainAndItsFilesGo(t *testing.T) {
	t.Parallel()
	w, delivery := standard(t)
	w.beforeCommit(func() { w.alter(addNote) })
	before := w.commits()
	w.must(delivery(w.pipeline()))
	w.applied()
	if got := w.commits() - before; got != 3 { // one is the owner's
		t.Errorf("%d commits were tried, want 3", got)
	}
	if left := w.audit().Orphans; len(left) > 0 {
		t.Errorf("files of the refused attempt are left: %q", left)
	}
}

func TestACommitThatLandedWithoutAnAnswerIsNotRepeated(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]catalog.Fault{
		"a gateway's time-out":      catalog.ApplyThenStatus(http.StatusGatewayTimeout),
		"an internal error":         catalog.ApplyThenStatus(http.StatusInternalServerError),
		"a lost connection":         catalog.ApplyThenDrop(),
		"a conflict with oneself":   catalog.ApplyThenStatus(http.StatusConflict), // a proxy sent the request twice
		"a throttled repetition":    catalog.ApplyThenStatus(http.StatusTooManyRequests),
		"a bad request by its look": catalog.ApplyThenStatus(http.StatusBadRequest),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, delivery := standard(t)
			before := w.commits()
			w.once(fault)
			p := w.pipeline()
			w.must(delivery(p))
			w.must(delivery(p)) // and again, since Lambda may
			w.must(delivery(w.pipeline()))
			w.applied()
			sent := 1
			if name == "a throttled repetition" { // which the transport repeats, to be told that it conflicts with itself
				sent = 2
			}
			if got := w.commits() - before; got != sent {
				t.Errorf("%d commits were sent, want %d", got, sent)
			}
			if left := w.audit().Orphans; len(left) > 0 {
				t.Errorf("unreferenced files: %q", left)
			}
		})
	}
}

// The attempt may still arrive, so its files stay; of the two attempts on one parent only one can land.
func TestAnUnknownAttemptIsFollowedByOneMoreAndKeepsItsFiles(t *testing.T) {
	t.Parallel()
	w, delivery := standard(t)
	before := w.commits()
	w.once(catalog.Refuse(http.StatusGatewayTimeout))
	w.must(delivery(w.pipeline()))
	w.applied()
	if got := w.commits() - before; got != 2 {
		t.Errorf("%d commits were sent, want 2", got)
	}
	const perAttempt = 5 // data and delete file, a manifest of each, the manifest list
	if left := w.audit().Orphans; len(left) != perAttempt {
		t.Errorf("%d files of the unknown attempt are left, want %d: %q", len(left), perAttempt, left)
	}
}

// A table that is still empty has no snapshot to be told by: only its uuid is another.
func TestATableMadeAnewUnderItsNameIsAnError(t *testing.T) {
	t.Parallel()
	for name, rows := range map[string][]lake.Row{"empty": nil, "with rows": {{"id": "1", "n": "1"}}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, shopOrders, flatRoute, rows...)
			w.beforeCommit(func() {
				w.must(w.client.DropTable(context.Background(), lake.Ident(w.name)))
				w.must(w.lake.Create(context.Background(), shopOrders))
			})
			err := deliver(t.Context(), w.pipeline(), flat(partition(0), 0, `{"id":1,"n":10}`))
			if err == nil || !strings.Contains(err.Error(), "dropped and made again") {
				t.Fatalf("got %v, want an error that says so", err)
			}
			w.wantRows()
			w.wantSnapshots(0)
		})
	}
}

// alter changes the table as its owner would.
func (w *world) alter(change func(*table.Transaction) error) {
	w.Helper()
	tx := w.load().NewTransaction()
	w.must(change(tx))
	_, err := tx.Commit(w.Context())
	w.must(err)
}

func addNote(tx *table.Transaction) error {
	return tx.UpdateSchema(true, false).AddColumn([]string{"note"}, iceberg.PrimitiveTypes.String, "", false, nil).Commit()
}

// The column comes while the commit is on its way, or while a warm process rests. Without another look at the schema
// the values for it would be dropped, since unknown columns are ignored here.
func TestASchemaChangedMeanwhileIsCoercedAnew(t *testing.T) {
	t.Parallel()
	route := flatRoute + ", unknown_columns: ignore"
	part := partition(0)
	t.Run("during the commit", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, shopOrders, route)
		w.beforeCommit(func() { w.alter(addNote) })
		w.must(deliver(t.Context(), w.pipeline(), flat(part, 0, `{"id":1,"n":1,"note":"kept"}`)))
		w.wantRows("id=1 n=1 note=kept")
		w.wantSnapshots(1)
	})
	t.Run("between two deliveries", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, shopOrders, route)
		p := w.pipeline()
		w.must(deliver(t.Context(), p, flat(part, 0, `{"id":1,"n":1,"note":"too early"}`)))
		w.alter(addNote)
		w.must(deliver(t.Context(), p, flat(part, 1, `{"id":2,"n":2,"note":"kept"}`)))
		w.wantRows("id=1 n=1", "id=2 n=2 note=kept")
		w.wantSnapshots(2)
	})
}

func TestATablePartitionedMeanwhileGetsFilesOfItsNewSpec(t *testing.T) {
	t.Parallel()
	w, delivery := standard(t)
	w.beforeCommit(func() {
		w.alter(func(tx *table.Transaction) error { return tx.UpdateSpec(true).AddIdentity("n").Commit() })
	})
	w.must(delivery(w.pipeline()))
	w.applied()
	head := w.load()
	for _, m := range w.manifests(head.CurrentSnapshot()) {
		if m.SnapshotID() == head.CurrentSnapshot().SnapshotID && m.ManifestContent() == iceberg.ManifestContentData &&
			int(m.PartitionSpecID()) != head.Metadata().DefaultPartitionSpec() {
			t.Errorf("the new rows are of the spec %d", m.PartitionSpecID())
		}
	}
}

func TestNoCommitStartsWithoutTheTimeToLearnItsOutcome(t *testing.T) {
	t.Parallel()
	w := newWorld(t, shopOrders, flatRoute)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	before := w.commits()
	err := deliver(ctx, w.pipeline(), flat(partition(0), 0, `{"id":1,"n":1}`))
	if err == nil || errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "too little to learn the outcome") {
		t.Fatalf("got %v, want a commit that does not start", err)
	}
	if got := w.commits() - before; got != 0 {
		t.Errorf("%d commits were sent", got)
	}
}

// Two processes: the second one's idea of the table is older than the first one's rows.
func TestAWarmProcessMissesNoRowOfAnother(t *testing.T) {
	t.Parallel()
	w := newWorld(t, shopOrders, flatRoute)
	a, b := w.pipeline(), w.pipeline()
	p0, p1 := partition(0), partition(1)
	w.must(deliver(t.Context(), a, flat(p0, 0, `{"id":1,"n":1}`)))
	w.must(deliver(t.Context(), b, flat(p1, 0, `{"id":2,"n":2}`), flat(p1, 1, `{"id":3,"n":3}`)))
	w.must(deliver(t.Context(), a, gone(p0, 1, `{"id":2}`)))
	w.must(deliver(t.Context(), b, flat(p1, 2, `{"id":1,"n":100}`), gone(p1, 3, `{"id":3}`)))
	w.must(deliver(t.Context(), a, gone(p0, 2, `{"id":3}`), flat(p0, 3, `{"id":4,"n":4}`)))
	w.wantRows("id=1 n=100", "id=4 n=4")
	w.wantSnapshots(5)
}

// A proxy sent the request twice, and between the two the owner took main back. The snapshot is listed, and can be returned to.
func TestTheFilesOfASnapshotThatWasTakenBackStay(t *testing.T) {
	t.Parallel()
	w, delivery := standard(t)
	var step atomic.Int32
	w.catalog.SetFault(func(op catalog.Op, _ *http.Request) catalog.Fault {
		switch {
		case op == catalog.OpCommitTable && step.CompareAndSwap(0, 1):
			return catalog.ApplyThenStatus(http.StatusConflict)
		case op == catalog.OpLoadTable && step.CompareAndSwap(1, 2):
			w.must(w.lake.Rollback(w.Context(), w.name, 1))
		}
		return catalog.Fault{}
	})
	w.must(delivery(w.pipeline()))
	w.wantSnapshots(3)
	for _, s := range w.load().Metadata().Snapshots() {
		w.count(&s) // it can be read
	}
}
