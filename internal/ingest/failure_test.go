package ingest_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/frazil/frazil/internal/ingest"
	"github.com/frazil/frazil/internal/kafka"
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

// Rows are somebody's: whatever is wrong with a record, neither the error nor the log shows what it holds (P10).
func TestNeitherErrorsNorLogsShowWhatRecordsHold(t *testing.T) {
	t.Parallel()
	const marker = "4711-secret-0815"
	row := `{"id":1,"n":"` + marker + `"}`
	bad := []string{
		marker, `"` + marker + `"`, `{"id":1,"n":` + marker + `}`, `{"id":"` + marker + `"}`, row, `{"id":1,"n":{"` + marker + `":1}}`,
		`{"id":1,"id":"` + marker + `"}`, `{"after":` + row + `,"op":"c"}`, `{"after":` + row + `,"op":"` + marker + `"}`,
		`{"before":{"id":2},"after":{"id":"` + marker + `","n":1},"op":"u"}`, `{"id":1,"n":1,"__op":"` + marker + `"}`, `{"id":1,"n":1,"__deleted":"` + marker + `"}`,
		`{"schema":{"type":"` + marker + `"},"payload":` + row + `}`, `["` + marker + `"]`,
	}
	for _, format := range []string{"flat", "debezium", "debezium_unwrapped", "cockroachdb"} {
		w := newWorld(t, shopOrders, "topics: [orders], format: "+format)
		var log bytes.Buffer
		p, err := ingest.New(w.config, slog.New(slog.NewTextHandler(&log, nil)))
		w.must(err)
		for i, value := range bad {
			for _, key := range []string{"", `{"id":"` + marker + `"}`, marker} {
				r := flat(partition(0), int64(i), value)
				r.Key = []byte(key)
				if key == "" {
					r.Key = nil
				}
				r.Headers = []kafka.Header{{Key: "__op", Value: []byte(marker)}}
				err := deliver(t.Context(), p, r)
				if err == nil {
					t.Errorf("%s: value %d with key %q was applied", format, i, key)
				} else if strings.Contains(err.Error(), marker) {
					t.Errorf("%s: the error of value %d shows it: %v", format, i, err)
				}
			}
		}
		if strings.Contains(log.String(), marker) {
			t.Errorf("%s: the log shows a value: %s", format, log.String())
		}
		w.wantRows()
	}
}
