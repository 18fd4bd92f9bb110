package maintain_test

import (
	"strconv"
	"testing"

	"github.com/apache/iceberg-go/table"
	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/maintain"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestHealthIsToldByManifests(t *testing.T) {
	t.Parallel()
	for deletes, want := range map[string]maintain.Health{
		// Two files of four rows and one of two: two rows of the first one are dead by a vector.
		"position": {DataFiles: 3, SmallFiles: 3, DeleteFiles: 1, Rows: 10, DeadRows: 2, Openings: 1},
		// Every commit has a file of its keys. The four of the second one and the two of the third have their shares in the files before them.
		"equality": {DataFiles: 3, SmallFiles: 3, DeleteFiles: 3, Rows: 10, DeadRows: 4*6/10 + 4*2/10, Openings: 3},
	} {
		w := newWorld(t, orders(3, nil), deletes, "{compact: {}}")
		w.put(1, 1, 2, 3, 4)
		w.put(1, 5, 6, 7, 8)
		w.put(2, 1, 2)
		got, err := maintain.Examine(t.Context(), w.parts.CatalogConfig(), config.Table{Catalog: "main", Path: []string{"shop", "orders"}})
		w.must(err)
		if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(maintain.Health{}, "Bytes", "Manifests", "MetadataBytes", "Cost", "Least")); diff != "" {
			t.Errorf("%s: %s", deletes, diff)
		}
		if got.CostPercent() < 300 {
			t.Errorf("%s: the cost of a scan is %d %%", deletes, got.CostPercent())
		}
		w.run()
		if got, err = maintain.Examine(t.Context(), w.parts.CatalogConfig(), config.Table{Catalog: "main", Path: []string{"shop", "orders"}}); err != nil || got.DeadRows > 0 {
			t.Errorf("%s: %d rows are dead when it is compacted, %v", deletes, got.DeadRows, err)
		}
	}
}

// TestARowIsWrittenAgainSeldom: however often small files come and maintain runs, about as often as their number can be doubled.
func TestARowIsWrittenAgainSeldom(t *testing.T) {
	t.Parallel()
	const puts = 48
	w := newWorld(t, orders(2, map[string]string{"write.target-file-size-bytes": "10000000"}), "position", "{compact: {files: 3}}")
	m := w.maintain()
	for id := range puts {
		w.put(1, id+1)
		w.must(m.Run(t.Context(), nil))
	}
	written := 0
	for _, s := range w.load().Metadata().Snapshots() {
		if s.Summary.Operation == table.OpReplace {
			n, err := strconv.Atoi(s.Summary.Properties["added-records"])
			w.must(err)
			written += n
		}
	}
	if files, _, err := w.lake.Files(t.Context(), name); err != nil || files > 8 || written > 6*puts || written < puts {
		t.Errorf("%d rows were written again for %d, and there are %d files; %v", written, puts, files, err)
	}
}
