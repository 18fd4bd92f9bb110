package ingest_test

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/frazil/frazil/internal/ingest"
	"github.com/frazil/frazil/internal/kafka"
	"github.com/frazil/frazil/internal/local/stack"
)

// Deliveries of tests are small. Those of two records and more are decoded in parts nevertheless, as large ones are where there
// are cores.
func TestMain(m *testing.M) {
	if flag.Parse(); flag.Lookup("test.bench").Value.String() == "" {
		runtime.GOMAXPROCS(max(4, runtime.GOMAXPROCS(0)))
		ingest.LeastPart(1)
	}
	os.Exit(m.Run())
}

// What is refused is refused whatever part of the delivery it is in, and the bad records are named in their order.
func TestPartsOfADeliveryAreJudgedAsOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t, shopOrders, flatRoute)
	p := w.pipeline()
	var records []kafka.Record
	for i := range int64(9) {
		value := fmt.Sprintf(`{"id":%d,"n":1}`, i)
		if i%4 == 1 {
			value = `{"id":"x"}`
		}
		records = append(records, flat(partition(0), i, value))
	}
	err := deliver(t.Context(), p, records...)
	if err == nil {
		t.Fatal("no error")
	}
	if first, second := strings.Index(err.Error(), "offset 1:"), strings.Index(err.Error(), "offset 5:"); first < 0 || second < first {
		t.Errorf("got %v", err)
	}
	w.wantRows()
	w.config, err = stack.Configure(w.parts.CatalogConfig(), `routes: [{topics: [orders], format: flat, table: "main:shop.orders"},
		{topics: [others], format: flat, table: "main:shop.orders", key: [n]}]`)
	w.must(err)
	other := flat(&kafka.Partition{Source: kafka.MainSource, Topic: "others"}, 0, `{"id":1,"n":1}`)
	if err := deliver(t.Context(), w.pipeline(), flat(partition(0), 0, `{"id":1,"n":1}`), other); err == nil || !strings.Contains(err.Error(), "routes[1] gives it another key") {
		t.Errorf("got %v", err)
	}
}
