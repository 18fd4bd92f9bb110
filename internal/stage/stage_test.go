package stage_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/apache/iceberg-go"
	"github.com/frazil/frazil/internal/locate"
	"github.com/frazil/frazil/internal/resolve"
	"github.com/frazil/frazil/internal/rows"
	"github.com/frazil/frazil/internal/stage"
	"github.com/frazil/frazil/internal/tablefile"
	"github.com/google/go-cmp/cmp"
)

var prim = iceberg.PrimitiveTypes

// batch has a key column id and the given columns, whose field ids begin at 10; cells hold a row without its id.
func batch(t testing.TB, types []iceberg.Type, cells ...[]rows.Cell) *rows.Batch {
	t.Helper()
	fields := []iceberg.NestedField{{ID: 1, Name: "id", Type: prim.Int64, Required: true}}
	for i, typ := range types {
		fields = append(fields, iceberg.NestedField{ID: 10 + i, Name: fmt.Sprintf("c%d", i), Type: typ})
	}
	schema, err := rows.NewSchema(iceberg.NewSchemaWithIdentifiers(0, []int{1}, fields...), nil)
	if err != nil {
		t.Fatal(err)
	}
	b := rows.NewBatch(schema)
	for i, row := range cells {
		var p rows.Parts
		p.Int(int64(i))
		b.Put(b.Keys.Intern(&p), append([]rows.Cell{{Int: int64(i)}}, row...))
	}
	return b
}

func write(t testing.TB, o *resolve.Outcome) *stage.Files {
	t.Helper()
	if o.Found == nil {
		o.Found = &locate.Found{}
	}
	out, err := stage.Write(t.Context(), nil, &locate.Snapshot{}, o, stage.Position, target(t, o.Batch.Schema))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// target is an unpartitioned table of version 2 without any properties.
func target(t testing.TB, s *rows.Schema) stage.Target {
	t.Helper()
	var fields []iceberg.NestedField
	for _, c := range s.Columns {
		fields = append(fields, iceberg.NestedField{ID: c.FieldID, Name: c.Name, Type: c.Type, Required: c.Required})
	}
	schema := iceberg.NewSchema(0, fields...)
	layout, err := stage.NewLayout(nil, schema, nil)
	if err != nil {
		t.Fatal(err)
	}
	return stage.Target{
		Version: 2, Schema: schema, Spec: *iceberg.UnpartitionedSpec, Specs: []iceberg.PartitionSpec{*iceberg.UnpartitionedSpec}, Layout: layout,
		Path: func(name string) string { return "s3://b/data/" + name },
	}
}

// picks are rows of a batch, new to the table.
func picks(indexes ...int) (out []resolve.Row) {
	for _, i := range indexes {
		out = append(out, resolve.Row{Index: i, ID: locate.NoID})
	}
	return out
}

// killed are live rows that go, of files that the table has.
func killed(t testing.TB, hits ...locate.Hit) *locate.Found {
	t.Helper()
	out := &locate.Found{Hits: hits, Files: map[string]locate.File{}}
	for _, h := range hits {
		b, err := iceberg.NewDataFileBuilder(*iceberg.UnpartitionedSpec, iceberg.EntryContentData, h.File, iceberg.ParquetFile, nil, nil, nil, 100, 100)
		if err != nil {
			t.Fatal(err)
		}
		out.Files[h.File] = locate.File{File: tablefile.File{DataFile: b.Build(), Sequence: 1}}
	}
	return out
}

func open(t testing.TB, data []byte) *file.Reader {
	t.Helper()
	r, err := file.NewParquetReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

// contents reads a file with arrow-go: one text per row.
func contents(t testing.TB, data []byte) (out []string) {
	t.Helper()
	table, err := pqarrow.ReadTable(context.Background(), bytes.NewReader(data), nil, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	if err != nil {
		t.Fatal(err)
	}
	out = make([]string, table.NumRows())
	for c := range int(table.NumCols()) {
		i := 0
		for _, chunk := range table.Column(c).Data().Chunks() {
			for k := range chunk.Len() {
				out[i] += " " + chunk.ValueStr(k)
				i++
			}
		}
	}
	return out
}

var nine = []iceberg.Type{
	prim.Bool, prim.Int32, prim.Int64, prim.Float64, iceberg.DecimalTypeOf(38, 2), prim.Date, prim.Timestamp, prim.TimestampTz, prim.String,
}

func TestTheDataFileHoldsThePickedRowsInOrder(t *testing.T) {
	t.Parallel()
	null := slices.Repeat([]rows.Cell{{Null: true}}, len(nine))
	b := batch(t, nine, null,
		[]rows.Cell{{Int: 1}, {Int: -5}, {Int: math.MinInt64}, {Float: 0.1}, {Decimal: decimal128.FromI64(-1)}, {Int: -1}, {Int: -1}, {Int: 1}, {Bytes: []byte("é\x00")}},
		[]rows.Cell{{Int: 0}, {Int: 7}, {Int: 9}, {Float: 1}, {Decimal: decimal128.FromI64(123)}, {Int: 1}, {Int: 0}, {Int: 0}, {Bytes: nil}})
	files := write(t, &resolve.Outcome{Batch: b, Write: picks(2, 1, 0)})
	if len(files.Data) != 1 || len(files.Deletes) != 0 || len(files.Objects) != 1 {
		t.Fatalf("%d data files, %d delete files, %d objects", len(files.Data), len(files.Deletes), len(files.Objects))
	}
	f, o := files.Data[0], files.Objects[0]
	if f.FilePath() != o.Path || f.FileSizeBytes() != int64(len(o.Data)) || f.Count() != 3 || f.ContentType() != iceberg.EntryContentData {
		t.Errorf("the entry says %s, %d bytes, %d rows, %v; the object is %s, %d bytes", f.FilePath(), f.FileSizeBytes(), f.Count(), f.ContentType(), o.Path, len(o.Data))
	}
	want := []string{
		" 2 false 7 9 1 1.23 1970-01-02 1970-01-01T00:00:00 1970-01-01T00:00:00Z ",
		" 1 true -5 -9223372036854775808 0.1 -0.01 1969-12-31 1969-12-31T23:59:59.999999 1970-01-01T00:00:00.000001Z é\x00",
		" 0 (null) (null) (null) (null) (null) (null) (null) (null) (null)",
	}
	if diff := cmp.Diff(want, contents(t, o.Data)); diff != "" {
		t.Error(diff)
	}
}

func TestEveryAttemptNamesItsFilesAnew(t *testing.T) {
	t.Parallel()
	o := &resolve.Outcome{Batch: batch(t, nil, nil), Write: picks(0), Found: killed(t, locate.Hit{File: "s3://b/data/a"})}
	seen := map[string]bool{}
	for range 2 {
		for _, object := range write(t, o).Objects {
			seen[object.Path] = true
		}
	}
	if len(seen) != 4 {
		t.Errorf("two attempts of two files have %d names: %q", len(seen), slices.Sorted(maps.Keys(seen)))
	}
}

// What readers plan by: field ids, where row groups begin, and the page index (Parquet's PageIndex.md).
func TestTheDataFileIsMadeForReaders(t *testing.T) {
	t.Parallel()
	var many [][]rows.Cell
	for i := range 20_000 {
		many = append(many, []rows.Cell{{Int: int64(i) * 7919}, {Bytes: fmt.Appendf(nil, "a text of some length, and of its own: %d", i*7919)}})
	}
	b := batch(t, []iceberg.Type{prim.Int64, prim.String}, many...)
	all := make([]int, len(many))
	for i := range all {
		all[i] = i
	}
	files := write(t, &resolve.Outcome{Batch: b, Write: picks(all...)})
	data, entry := files.Objects[0].Data, files.Data[0]
	r := open(t, data)
	meta := r.MetaData()

	for i, id := range []int32{1, 10, 11} {
		if got := meta.Schema.Column(i).SchemaNode().FieldID(); got != id {
			t.Errorf("column %d has field id %d, want %d", i, got, id)
		}
	}
	if meta.GetCreatedBy() == "" || meta.Schema.Column(0).SchemaNode().RepetitionType() != parquet.Repetitions.Required {
		t.Errorf("created by %q; id is %s", meta.GetCreatedBy(), meta.Schema.Column(0).SchemaNode().RepetitionType())
	}
	checkOffsets(t, entry.SplitOffsets(), int64(len(data)), r.NumRowGroups())
	sizes := entry.ColumnSizes()
	for c := range 3 {
		chunk, err := meta.RowGroup(0).ColumnChunk(c)
		if err != nil {
			t.Fatal(err)
		}
		if chunk.GetColumnIndexLocation() == nil || chunk.GetOffsetIndexLocation() == nil {
			t.Errorf("column %d has no page index", c)
		}
		if got, want := sizes[int(meta.Schema.Column(c).SchemaNode().FieldID())], chunk.TotalCompressedSize(); got != want {
			t.Errorf("the size of column %d is %d, want %d", c, got, want)
		}
	}
}

func checkOffsets(t *testing.T, offsets []int64, size int64, groups int) {
	t.Helper()
	if len(offsets) != groups || offsets[0] != 4 || !slices.IsSorted(offsets) || offsets[len(offsets)-1] >= size {
		t.Errorf("split offsets %v of a file of %d bytes with %d row groups", offsets, size, groups)
	}
}

// Iceberg's spec says which physical type a decimal has by its precision (appendix A, Parquet).
func TestDecimalsAreStoredByTheirPrecision(t *testing.T) {
	t.Parallel()
	for precision, want := range map[int]struct {
		physical parquet.Type
		length   int
	}{
		1: {parquet.Types.Int32, -1}, 9: {parquet.Types.Int32, -1}, 10: {parquet.Types.Int64, -1}, 18: {parquet.Types.Int64, -1},
		19: {parquet.Types.FixedLenByteArray, 9}, 28: {parquet.Types.FixedLenByteArray, 12}, 38: {parquet.Types.FixedLenByteArray, 16},
	} {
		b := batch(t, []iceberg.Type{iceberg.DecimalTypeOf(precision, 0)}, []rows.Cell{{Decimal: decimal128.FromI64(-7)}}, []rows.Cell{{Null: true}})
		files := write(t, &resolve.Outcome{Batch: b, Write: picks(0, 1)})
		column := open(t, files.Objects[0].Data).MetaData().Schema.Column(1)
		if column.PhysicalType() != want.physical || want.length > 0 && column.TypeLength() != want.length {
			t.Errorf("precision %d: %s of length %d, want %s of length %d", precision, column.PhysicalType(), column.TypeLength(), want.physical, want.length)
		}
		if diff := cmp.Diff([]string{" 0 -7", " 1 (null)"}, contents(t, files.Objects[0].Data)); diff != "" {
			t.Errorf("precision %d: %s", precision, diff)
		}
	}
}

func TestPositionDeletesAreOneSortedFileWithWholePaths(t *testing.T) {
	t.Parallel()
	long := "s3://bucket/warehouse/namespace.db/table/data/00000-0-a-name-far-beyond-sixteen-code-points"
	kill := []locate.Hit{{File: long + "-1.parquet", Pos: 2}, {File: long + "-1.parquet", Pos: 9_000_000_000}, {File: long + "-2.parquet", Pos: 0}}
	files := write(t, &resolve.Outcome{Batch: batch(t, nil), Found: killed(t, kill...)})
	if len(files.Data) != 0 || len(files.Deletes) != 1 || len(files.Objects) != 1 {
		t.Fatalf("%d data files, %d delete files, %d objects", len(files.Data), len(files.Deletes), len(files.Objects))
	}
	f, data := files.Deletes[0], files.Objects[0].Data
	want := []string{" " + long + "-1.parquet 2", " " + long + "-1.parquet 9000000000", " " + long + "-2.parquet 0"}
	if diff := cmp.Diff(want, contents(t, data)); diff != "" {
		t.Error(diff)
	}
	if f.ContentType() != iceberg.EntryContentPosDeletes || f.Count() != 3 || f.FileSizeBytes() != int64(len(data)) {
		t.Errorf("the entry says %v, %d rows, %d bytes", f.ContentType(), f.Count(), f.FileSizeBytes())
	}
	const path, pos = 2147483546, 2147483545 // reserved field ids of the spec
	if lower, upper := string(f.LowerBoundValues()[path]), string(f.UpperBoundValues()[path]); lower != kill[0].File || upper != kill[2].File {
		t.Errorf("file_path has the bounds %q and %q", lower, upper)
	}
	if got := f.UpperBoundValues()[pos]; !bytes.Equal(got, []byte{0, 0x1a, 0x71, 0x18, 2, 0, 0, 0}) {
		t.Errorf("pos has the upper bound %x", got)
	}
	r := open(t, data)
	for i, id := range []int32{path, pos} {
		node := r.MetaData().Schema.Column(i).SchemaNode()
		if node.FieldID() != id || node.RepetitionType() != parquet.Repetitions.Required {
			t.Errorf("column %d has field id %d and is %s", i, node.FieldID(), node.RepetitionType())
		}
	}
	checkOffsets(t, f.SplitOffsets(), int64(len(data)), r.NumRowGroups())
}
