package stage_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/iceberg-go"
	"github.com/frazil/frazil/internal/locate"
	"github.com/frazil/frazil/internal/resolve"
	"github.com/frazil/frazil/internal/rows"
	"github.com/frazil/frazil/internal/stage"
	"github.com/google/go-cmp/cmp"
)

// laidOut writes all rows of a batch as a table's properties say.
func laidOut(t testing.TB, b *rows.Batch, properties map[string]string, change ...func(*stage.Target)) *stage.Files {
	t.Helper()
	to := target(t, b.Schema)
	for _, f := range change {
		f(&to)
	}
	var err error
	to.Layout, err = stage.NewLayout(properties, to.Schema, []int{1})
	if err != nil {
		t.Fatal(err)
	}
	all := make([]int, len(b.Entries))
	for i := range all {
		all[i] = i
	}
	out, err := stage.Write(t.Context(), nil, &locate.Snapshot{}, &resolve.Outcome{Batch: b, Write: picks(all...), Found: &locate.Found{}}, stage.Position, to)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// texts is a batch with a text of its own in each of n rows.
func texts(t testing.TB, n int) *rows.Batch {
	t.Helper()
	var list [][]rows.Cell
	for i := range n {
		list = append(list, []rows.Cell{{Bytes: fmt.Appendf(nil, "%08x a text of some length", uint32(i)*2654435761)}})
	}
	return batch(t, []iceberg.Type{prim.String}, list...)
}

func TestCompressionIsTheTables(t *testing.T) {
	t.Parallel()
	for codec, want := range map[string]compress.Compression{
		"": compress.Codecs.Zstd, "snappy": compress.Codecs.Snappy, "GZIP": compress.Codecs.Gzip, "uncompressed": compress.Codecs.Uncompressed,
		"lz4": compress.Codecs.Lz4Raw, "lz4_raw": compress.Codecs.Lz4Raw, "brotli": compress.Codecs.Brotli,
	} {
		properties := map[string]string{}
		if codec != "" {
			properties["write.parquet.compression-codec"] = codec
		}
		files := laidOut(t, texts(t, 100), properties)
		chunk, err := open(t, files.Objects[0].Data).MetaData().RowGroup(0).ColumnChunk(1)
		if err != nil || chunk.Compression() != want {
			t.Errorf("%q: %v %v, want %v", codec, chunk.Compression(), err, want)
		}
	}
}

func TestFilesAndRowGroupsKeepTheTablesSizes(t *testing.T) {
	t.Parallel()
	b := texts(t, 10_000)
	files := laidOut(t, b, map[string]string{"write.target-file-size-bytes": "20000", "write.parquet.row-group-size-bytes": "20000"})
	rowCount, groups := int64(0), 0
	for i, f := range files.Data {
		rowCount += f.Count()
		groups += open(t, files.Objects[i].Data).NumRowGroups()
		if f.FileSizeBytes() > 30_000 {
			t.Errorf("a file has %d bytes", f.FileSizeBytes())
		}
		if f.FilePath() != files.Objects[i].Path || f.FileSizeBytes() != int64(len(files.Objects[i].Data)) {
			t.Errorf("the entry of %s is another object's", f.FilePath())
		}
	}
	if rowCount != 10_000 || len(files.Data) < 3 || groups < 2*len(files.Data) {
		t.Errorf("%d rows in %d files and %d row groups", rowCount, len(files.Data), groups)
	}
}

func TestBloomFiltersAreWrittenWhereTheTableAsks(t *testing.T) {
	t.Parallel()
	const property = "write.parquet.bloom-filter-enabled.column."
	files := laidOut(t, texts(t, 1000), map[string]string{property + "c0": "true", property + "gone": "true", "write.parquet.bloom-filter-fpp.column.c0": "0.001"})
	group := open(t, files.Objects[0].Data).MetaData().RowGroup(0)
	for i, want := range []bool{false, true} {
		chunk, err := group.ColumnChunk(i)
		if err != nil || (chunk.BloomFilterOffset() > 0) != want {
			t.Errorf("column %d has a filter: %v, %v", i, !want, err)
		}
	}
	laidOut(t, texts(t, 1), map[string]string{property + "c0": "true", "write.parquet.bloom-filter-max-bytes": "9223372036854775807"})
	if n := len(files.Objects[0].Data); n > 40_000 {
		t.Errorf("1,000 rows took %d bytes: the filter is not as large as they need", n)
	}
}

func TestStatisticsAreThoseThatTheTableWants(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 40)
	b := batch(t, []iceberg.Type{prim.String, prim.String, prim.String, prim.String},
		[]rows.Cell{{Bytes: []byte(long)}, {Bytes: []byte(long)}, {Bytes: []byte(long)}, {Bytes: []byte(long)}})
	const column = "write.metadata.metrics.column."
	f := laidOut(t, b, map[string]string{
		"write.metadata.metrics.default": "counts", column + "c0": "none", column + "c1": "truncate(3)", column + "c2": "full",
		column + "id": "none", // rows are found by it
	}).Data[0]
	got := []string{}
	for _, id := range []int{1, 10, 11, 12, 13} {
		got = append(got, fmt.Sprint(id, f.ColumnSizes()[id] > 0, f.ValueCounts()[id], len(f.LowerBoundValues()[id]), len(f.UpperBoundValues()[id])))
	}
	want := []string{"1 true 1 8 8", "10 false 0 0 0", "11 true 1 3 3", "12 true 1 40 40", "13 true 1 0 0"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestWideTablesHaveStatisticsOfTheirFirstColumns(t *testing.T) {
	t.Parallel()
	types := slices.Repeat([]iceberg.Type{prim.Int64}, 120)
	row := slices.Repeat([]rows.Cell{{Int: 7}}, 120)
	f := laidOut(t, batch(t, types, row), map[string]string{"write.metadata.metrics.column.c119": "full"}).Data[0]
	if n := len(f.LowerBoundValues()); n != 101 { // the first 100, and the last one
		t.Errorf("%d columns have bounds", n)
	}
	none := laidOut(t, batch(t, types, row), map[string]string{"write.metadata.metrics.max-inferred-column-defaults": "0"}).Data[0]
	if n := len(none.LowerBoundValues()); n != 1 { // the key
		t.Errorf("%d columns have bounds, where none should by itself", n)
	}
}

func TestPropertiesThatCannotBeDoneAreErrors(t *testing.T) {
	t.Parallel()
	schema := iceberg.NewSchema(0, iceberg.NestedField{ID: 1, Name: "id", Type: prim.Int64})
	const bloom = "write.parquet.bloom-filter-"
	for name, value := range map[string]string{
		"write.format.default": "orc", "write.delete.format.default": "avro", "write.parquet.compression-codec": "lzo",
		"write.parquet.compression-level": "best", "write.target-file-size-bytes": "0", "write.parquet.page-size-bytes": "1 MB",
		"write.delete.granularity": "row", "write.metadata.metrics.default": "some", "write.metadata.metrics.column.id": "truncate(0)",
		bloom + "max-bytes": "31", bloom + "fpp.column.id": "NaN", "write.metadata.metrics.max-inferred-column-defaults": "-1",
	} {
		properties := map[string]string{name: value, bloom + "enabled.column.id": "true"}
		if _, err := stage.NewLayout(properties, schema, nil); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s=%s: %v, want an error that names it", name, value, err)
		}
	}
}

// A level is the codec's, so a wrong one is found when files are made of it at the latest.
func TestLevelsAreTheCodecs(t *testing.T) {
	t.Parallel()
	const codec, level = "write.parquet.compression-codec", "write.parquet.compression-level"
	b := texts(t, 10)
	for _, properties := range []map[string]string{
		{codec: "gzip", level: "9"}, {codec: "gzip", level: "-1"}, {codec: "zstd", level: "22"}, {codec: "snappy", level: "3"}, {codec: "lz4_raw", level: "99"}, {codec: "brotli", level: "11"},
	} {
		contents(t, laidOut(t, b, properties).Objects[0].Data)
	}
	if _, err := stage.NewLayout(map[string]string{codec: "gzip", level: "10"}, target(t, b.Schema).Schema, nil); err == nil || !strings.Contains(err.Error(), level) {
		t.Errorf("gzip has a level 10: %v", err)
	}
}

// A row group has the values of its rows alone, also where these are all that there is, in their order.
func TestValuesOfListsAreCountedOnceInSeveralRowGroups(t *testing.T) {
	t.Parallel()
	var list [][]rows.Cell
	for i := range 1000 {
		list = append(list, []rows.Cell{{Children: []rows.Cell{{Int: int64(i)}, {Null: true}}}})
	}
	b := batch(t, []iceberg.Type{&iceberg.ListType{ElementID: 100, Element: prim.Int64}}, list...)
	files := laidOut(t, b, map[string]string{"write.parquet.row-group-size-bytes": "2000"})
	groups := open(t, files.Objects[0].Data).NumRowGroups()
	if f := files.Data[0]; groups < 2 || f.ValueCounts()[100] != 2000 || f.NullValueCounts()[100] != 1000 {
		t.Errorf("%d values, %d nulls in %d row groups", f.ValueCounts()[100], f.NullValueCounts()[100], groups)
	}
}
