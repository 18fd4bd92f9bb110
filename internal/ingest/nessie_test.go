package ingest_test

import (
	"testing"

	"github.com/frazil/frazil/internal/local/catalog"
)

// A known fault of Nessie 0.99: it does not check the assertion that a table has no snapshot yet, which is all that the
// first commits of two writers could fail by. The later one takes the earlier one's place, and its records are lost. A table
// that has a snapshot, if an empty one, is safe there.
func TestOnNessieTheFirstCommitsOfTwoWritersAreNotSafe(t *testing.T) {
	t.Parallel()
	w := newWorld(t, shopOrders, flatRoute)
	w.catalog.SetProfile(catalog.Nessie)
	w.beforeCommit(func() { w.must(deliver(t.Context(), w.pipeline(), flat(partition(1), 0, `{"id":2,"n":2}`))) })
	w.must(deliver(t.Context(), w.pipeline(), flat(partition(0), 0, `{"id":1,"n":1}`)))
	w.wantRows("id=1 n=1") // id=2 is gone: the fault

	w.beforeCommit(func() { w.must(deliver(t.Context(), w.pipeline(), flat(partition(1), 1, `{"id":3,"n":3}`))) })
	w.must(deliver(t.Context(), w.pipeline(), flat(partition(0), 1, `{"id":4,"n":4}`)))
	w.wantRows("id=1 n=1", "id=3 n=3", "id=4 n=4")
}
