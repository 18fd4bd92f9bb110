package ingest_test

import (
	"strings"
	"testing"

	"github.com/frazil/frazil/internal/local/lake"
)

func TestAnUnknownTableIsNamedWithTheFirstOfItsRecords(t *testing.T) {
	t.Parallel()
	w := newWorld(t, shopOrders, flatRoute)
	w.must(w.client.DropTable(t.Context(), lake.Ident(w.name)))
	err := deliver(t.Context(), w.pipeline(), flat(partition(3), 8, `{"id":1}`))
	if err == nil || !strings.Contains(err.Error(), "table main:shop.orders: topic orders, partition 3, offset 8: load table: ") {
		t.Errorf("got %v", err)
	}
}
