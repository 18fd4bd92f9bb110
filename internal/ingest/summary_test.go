package ingest_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/apache/iceberg-go/table"
	"github.com/frazil/frazil/internal/ledger"
	"github.com/frazil/frazil/internal/local/lake"
)

// iceberg-go counts the manifests' entries, frazil wrote the summary; and the writer that comes after, which carries
// our totals on, must be right as well.
func TestTheSummaryCountsWhatTheSnapshotHas(t *testing.T) {
	t.Parallel()
	w := newWorld(t, leftAlone(shopOrders), flatRoute, lake.Row{"id": "1", "n": "1"}, lake.Row{"id": "2", "n": "2"}, lake.Row{"id": "3", "n": "3"})
	p, part := w.pipeline(), partition(0)
	w.must(deliver(t.Context(), p, flat(part, 0, `{"id":4,"n":4}`), flat(part, 1, `{"id":5,"n":5}`)))
	w.must(deliver(t.Context(), p, flat(part, 2, `{"id":1,"n":10}`), gone(part, 3, `{"id":4}`), flat(part, 4, `{"id":6}`)))
	w.must(deliver(t.Context(), p, gone(part, 5, `{"id":2}`)))
	w.must(w.lake.Append(t.Context(), w.name, []lake.Row{{"id": "7", "n": "7"}}))
	w.must(deliver(t.Context(), p, flat(part, 6, `{"id":7,"n":70}`)))
	w.wantRows("id=1 n=10", "id=3 n=3", "id=5 n=5", "id=6", "id=7 n=70")

	snapshots := w.load().Metadata().Snapshots()
	var before live
	for i, operation := range []table.Operation{table.OpAppend, table.OpAppend, table.OpOverwrite, table.OpDelete, table.OpAppend, table.OpOverwrite} {
		s := &snapshots[i]
		now := w.count(s)
		if s.Summary.Operation != operation {
			t.Errorf("snapshot %d: operation %s, want %s", i, s.Summary.Operation, operation)
		}
		for name, want := range map[string]int64{
			"total-data-files":         now.dataFiles,
			"total-delete-files":       now.deleteFiles,
			"total-records":            now.records,
			"total-position-deletes":   now.positionDeletes,
			"total-equality-deletes":   0,
			"total-files-size":         now.size,
			"added-data-files":         now.dataFiles - before.dataFiles,
			"added-delete-files":       now.deleteFiles - before.deleteFiles,
			"added-records":            now.records - before.records,
			"added-position-deletes":   now.positionDeletes - before.positionDeletes,
			"added-files-size":         now.size - before.size,
			"added-equality-deletes":   0,
			"deleted-data-files":       0,
			"removed-delete-files":     0,
			"removed-position-deletes": 0,
			"removed-equality-deletes": 0,
			"deleted-records":          0,
			"removed-files-size":       0,
		} {
			if got := s.Summary.Properties[name]; got != strconv.FormatInt(want, 10) && (got != "" || want != 0 || strings.HasPrefix(name, "total-")) {
				t.Errorf("snapshot %d: %s is %q, want %d", i, name, got, want)
			}
		}
		before = now
	}
}

func TestTheSummaryHasACopyOfTheLedger(t *testing.T) {
	t.Parallel()
	w := newWorld(t, shopOrders, flatRoute)
	w.must(deliver(t.Context(), w.pipeline(), flat(partition(0), 6, `{"id":4,"n":4}`), flat(partition(2), 1, `{"id":5,"n":5}`)))
	head := w.load()
	name := ledger.Prefix + "main.orders"
	want := head.Properties()[name]
	if got := head.CurrentSnapshot().Summary.Properties[name]; got == "" || got != want {
		t.Errorf("the summary's %s is %q, the table's is %q", name, got, want)
	}
	copied, err := ledger.Read(head.CurrentSnapshot().Summary.Properties)
	w.must(err)
	topics := copied.Topics()
	if len(topics) != 1 || topics[0].Snapshot != head.CurrentSnapshot().SnapshotID || topics[0].Sequence != head.CurrentSnapshot().SequenceNumber {
		t.Errorf("the copy does not name the snapshot that it is in: %+v", topics)
	}
}
