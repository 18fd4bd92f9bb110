package stage_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/apache/iceberg-go"
	"github.com/frazil/frazil/internal/locate"
	"github.com/frazil/frazil/internal/resolve"
	"github.com/frazil/frazil/internal/rows"
	"github.com/frazil/frazil/internal/stage"
	"github.com/google/go-cmp/cmp"
)

// What is kept of the rows of a file, to tell whether a later one is another, is what the batch's own rows have: whatever is not
// stored of them, and in however many row groups and files they are written.
func TestFingerprintsOfAFileAreThoseOfItsRows(t *testing.T) {
	t.Parallel()
	nothing := &iceberg.StructType{FieldList: []iceberg.NestedField{{ID: 100, Name: "u", Type: iceberg.UnknownType{}}}}
	point := &iceberg.StructType{FieldList: []iceberg.NestedField{{ID: 101, Name: "x", Type: prim.Int32}, {ID: 102, Name: "u", Type: iceberg.UnknownType{}}}}
	var cells [][]rows.Cell
	for i := range 1000 {
		absent := rows.Cell{Null: true}
		row := []rows.Cell{absent, {Children: []rows.Cell{absent}}, {Bytes: fmt.Append(nil, i%7)}, {Children: []rows.Cell{{Int: int64(i % 5)}, absent}}}
		if i%3 == 0 {
			row[1], row[3] = absent, absent
		}
		cells = append(cells, row)
	}
	b := batch(t, []iceberg.Type{iceberg.UnknownType{}, nothing, prim.String, point}, cells...)
	var written []int
	for i := range 1000 {
		if i%10 > 0 {
			written = append(written, i)
		}
	}
	to := target(t, b.Schema)
	var err error
	to.Layout, err = stage.NewLayout(map[string]string{
		"write.parquet.row-group-size-bytes": "2000", "write.target-file-size-bytes": "9000", "write.parquet.compression-codec": "uncompressed",
	}, to.Schema, nil)
	if err != nil {
		t.Fatal(err)
	}
	out, err := stage.Write(t.Context(), nil, &locate.Snapshot{}, &resolve.Outcome{Batch: b, Write: picks(written...), Found: &locate.Found{}}, stage.Position, to)
	if err != nil {
		t.Fatal(err)
	}
	var got []rows.Fingerprint
	groups := 0
	for i, f := range out.Data {
		got = append(got, out.Fingerprints[f.FilePath()]...)
		groups = max(groups, open(t, out.Objects[i].Data).NumRowGroups())
	}
	if diff := cmp.Diff(rows.Fingerprints(b.Columns(), written), got); diff != "" || len(out.Data) < 2 || groups < 2 {
		t.Errorf("%d files, %d row groups: %s", len(out.Data), groups, diff)
	}
	if !slices.ContainsFunc(got, func(f rows.Fingerprint) bool { return f != got[0] }) {
		t.Error("all rows are alike")
	}
}
