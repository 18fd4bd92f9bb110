package lake_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"
	"github.com/frazil/frazil/internal/local/lake"
)

// appendClaiming appends rows as iceberg-go sorts them, with the claim of a sort order, which iceberg-go does not make.
func appendClaiming(t *testing.T, l *lake.Lake, name string, order int, rows string) {
	t.Helper()
	loaded := load(t, l, name)
	schema, err := table.SchemaToArrowSchema(loaded.Schema(), nil, true, false)
	if err != nil {
		t.Fatal(err)
	}
	batch, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, strings.NewReader(rows))
	if err != nil {
		t.Fatal(err)
	}
	tx := loaded.NewTransaction()
	for f, err := range table.WriteRecords(t.Context(), loaded, schema, func(yield func(arrow.RecordBatch, error) bool) { yield(batch, nil) }) {
		if err != nil {
			t.Fatal(err)
		}
		b, err := iceberg.NewDataFileBuilder(loaded.Spec(), f.ContentType(), f.FilePath(), f.FileFormat(), nil, nil, nil, f.Count(), f.FileSizeBytes())
		if err != nil {
			t.Fatal(err)
		}
		if err := tx.AddDataFiles(t.Context(), []iceberg.DataFile{b.SortOrderID(order).Build()}, iceberg.Properties{"by": "us"}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestUnsortedFilesAreNamed(t *testing.T) {
	t.Parallel()
	rows := `[{"d": "1.5", "f": 1, "s": {"n": 1}}, {"d": "-2.5", "f": "NaN", "s": {"n": 3}}, {"d": "1.5", "f": -1, "s": null}, {"d": null, "f": null, "s": {"n": 2}}]`
	for _, c := range []struct {
		written, order string // the order by which iceberg-go sorts, and the one that is claimed
		fault          string
	}{
		{"d", "d", ""}, {"d desc", "d desc", ""}, {"d nulls last", "d nulls last", ""}, {"d desc nulls first", "d desc nulls first", ""},
		{"d", "truncate(10, d)", ""}, {"f nulls last", "f nulls last", ""}, {"d", "bucket(1, d)", ""},
		{"d", "d desc", "is not sorted at row 1"}, {"d", "d nulls last", "is not sorted at row 1"}, {"f desc", "f nulls last", "is not sorted at row 1"}, {"f", "s.n", "is not sorted at row 2"},
	} {
		l := open(t)
		spec := lake.Spec{Name: "sorted.t", Columns: []lake.Column{{Name: "d", Type: "decimal(9, 2)"}, {Name: "f", Type: "double"}, {Name: "s", Type: "struct<n: int>"}}, Sort: []string{c.written}}
		if err := l.Create(t.Context(), spec); err != nil {
			t.Fatal(err)
		}
		order := 1
		if c.order != c.written {
			order = 2
		}
		appendClaiming(t, l, spec.Name, order, rows)
		if err := l.Append(t.Context(), spec.Name, []lake.Row{{"d": "1"}}); err != nil {
			t.Fatal(err)
		}
		if err := l.Resort(t.Context(), spec.Name, []string{c.order}); err != nil {
			t.Fatal(err)
		}
		ours := func(s *table.Snapshot) bool { return s.Summary.Properties["by"] == "us" }
		faults, err := l.Unsorted(t.Context(), spec.Name, ours)
		if got := strings.Join(faults, "; "); err != nil || (c.fault == "") != (got == "") || !strings.HasSuffix(got, c.fault) {
			t.Errorf("sorted by %s, claimed %s: %q, %v, want %q", c.written, c.order, got, err, c.fault)
		}
		everyone := func(*table.Snapshot) bool { return true }
		if faults, err := l.Unsorted(t.Context(), spec.Name, everyone); err != nil || !strings.HasSuffix(strings.Join(faults, "; "), fmt.Sprint("does not claim the sort order ", order)) && c.fault == "" {
			t.Errorf("with the file that claims nothing: %q, %v", faults, err)
		}
	}
}
