package locate_test

import (
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/iceberg-go"
	"github.com/frazil/frazil/internal/locate"
	"github.com/frazil/frazil/internal/rows"
	"github.com/frazil/frazil/internal/tablefile"
)

// byDay is a spec by a column of id 50.
var byDay = iceberg.NewPartitionSpecID(4, iceberg.PartitionField{SourceIDs: []int{50}, FieldID: 1000, Name: "day", Transform: iceberg.IdentityTransform{}})

// placed is a file of the shelf as one of another content, partition (nil: of no spec) and sequence number.
func placed(t *testing.T, f locate.File, content iceberg.ManifestEntryContent, day any, sequence int64, equality ...int) locate.File {
	t.Helper()
	spec, partition := *iceberg.UnpartitionedSpec, map[int]any(nil)
	if day != nil {
		spec, partition = byDay, map[int]any{1000: day}
	}
	b, err := iceberg.NewDataFileBuilder(spec, content, f.FilePath(), iceberg.ParquetFile, partition, nil, nil, f.Count(), f.FileSizeBytes())
	if err != nil {
		t.Fatal(err)
	}
	return live(b.EqualityFieldIDs(equality).Build(), sequence)
}

// optional is an array in which a 0 is null.
func optional(v ...int64) arrow.Array {
	b := array.NewInt64Builder(memory.DefaultAllocator)
	for _, n := range v {
		if n == 0 {
			b.AppendNull()
		} else {
			b.Append(n)
		}
	}
	return b.NewArray()
}

// What an equality delete removes is for other writers to say, so they may name any columns.
func TestEqualityDeletesApplyAsTheSpecSays(t *testing.T) {
	t.Parallel()
	s, schema := newShelf(), keyed(t, prim.Int64)
	columns := func(ids, other arrow.Array) []column { return []column{{1, "k0", ids}, {60, "gone", other}} }
	monday := placed(t, s.parquet(t, "s3://b/mon", columns(longs(1, 2, 3), optional(7, 0, 8))), iceberg.EntryContentData, int32(1), 5)
	tuesday := placed(t, s.parquet(t, "s3://b/tue", columns(longs(4, 5, 6), optional(7, 0, 8))), iceberg.EntryContentData, int32(2), 5)
	young := placed(t, s.parquet(t, "s3://b/new", columns(longs(7), optional(7))), iceberg.EntryContentData, int32(1), 9)
	table := locate.Table{
		Schemas: []*iceberg.Schema{tableOf(schema), iceberg.NewSchema(0, iceberg.NestedField{ID: 60, Name: "gone", Type: prim.Int64})},
		Specs:   []iceberg.PartitionSpec{*iceberg.UnpartitionedSpec, byDay},
	}
	keys := keysOf(schema, long(1), long(2), long(3), long(4), long(5), long(6), long(7))
	sevens := s.parquet(t, "s3://b/sevens", []column{{60, "gone", longs(7)}})
	nulls := s.parquet(t, "s3://b/nulls", []column{{60, "gone", optional(0)}})
	pairs := s.parquet(t, "s3://b/pairs", []column{{60, "gone", longs(8, 8)}, {1, "k0", longs(3, 5)}})
	for name, c := range map[string]struct {
		delete locate.File
		dead   []string
	}{
		"of all partitions":             {placed(t, sevens, iceberg.EntryContentEqDeletes, nil, 9, 60), []string{"0@mon:0", "3@tue:0"}},
		"of one partition":              {placed(t, sevens, iceberg.EntryContentEqDeletes, int32(2), 9, 60), []string{"3@tue:0"}},
		"of the data's own sequence":    {placed(t, sevens, iceberg.EntryContentEqDeletes, nil, 5, 60), nil},
		"newer than all":                {placed(t, sevens, iceberg.EntryContentEqDeletes, nil, 10, 60), []string{"0@mon:0", "3@tue:0", "6@new:0"}},
		"a null equals a null":          {placed(t, nulls, iceberg.EntryContentEqDeletes, int32(1), 9, 60), []string{"1@mon:1"}},
		"columns in any order together": {placed(t, pairs, iceberg.EntryContentEqDeletes, nil, 9, 60, 1), []string{"2@mon:2"}},
	} {
		got := find(t, s, locate.Of(table, []locate.File{monday, tuesday, young, c.delete}), schema, keys)
		left := map[string]bool{}
		for _, hit := range got {
			left[hit] = true
		}
		var dead []string
		for _, hit := range []string{"0@mon:0", "1@mon:1", "2@mon:2", "6@new:0", "3@tue:0", "4@tue:1", "5@tue:2"} {
			if !left[hit] {
				dead = append(dead, hit)
			}
		}
		if len(dead) != len(c.dead) || len(got)+len(dead) != 7 {
			t.Errorf("%s: dead are %v, want %v", name, dead, c.dead)
			continue
		}
		for _, d := range c.dead {
			if left[d] {
				t.Errorf("%s: dead are %v, want %v", name, dead, c.dead)
			}
		}
	}
}

func TestAColumnThatWasAddedWithADefaultIsFoundByIt(t *testing.T) {
	t.Parallel()
	s, schema := newShelf(), keyed(t, prim.Int64, prim.String)
	f := s.parquet(t, "s3://b/f", []column{{1, "k0", longs(1, 2)}})
	table := locate.Table{Schemas: []*iceberg.Schema{tableOf(schema)}, Defaults: tablefile.Defaults{2: {Bytes: []byte("retail")}}}
	pair := func(n int64, s string) []rows.Cell { return []rows.Cell{{Int: n}, {Bytes: []byte(s)}} }
	want(t, find(t, s, locate.Of(table, []locate.File{f}), schema, keysOf(schema, pair(2, "retail"), pair(1, ""))), "0@f:1")
}

// Rows of before a column have its default, and other writers may delete by any column, also one that is in no key.
func TestAnEqualityDeleteOfADefaultReachesOlderRows(t *testing.T) {
	t.Parallel()
	s, schema := newShelf(), keyed(t, prim.Int64)
	doubles := array.NewFloat64Builder(memory.DefaultAllocator)
	doubles.Append(-1.5)
	table := locate.Table{
		Schemas: []*iceberg.Schema{iceberg.NewSchema(1, append(tableOf(schema).Fields(), iceberg.NestedField{ID: 70, Name: "added", Type: prim.Float64})...)},
		Specs:   []iceberg.PartitionSpec{*iceberg.UnpartitionedSpec}, Defaults: tablefile.Defaults{70: {Float: -1.5}},
	}
	old := s.parquet(t, "s3://b/old", []column{{1, "k0", longs(1)}})
	deletes := placed(t, s.parquet(t, "s3://b/deletes", []column{{70, "added", doubles.NewArray()}}), iceberg.EntryContentEqDeletes, nil, 9, 70)
	want(t, find(t, s, locate.Of(table, []locate.File{old, deletes}), schema, keysOf(schema, long(1))))
}

func TestPartitionsAreToldApart(t *testing.T) {
	t.Parallel()
	field := func(id int) iceberg.PartitionField {
		return iceberg.PartitionField{SourceIDs: []int{id}, FieldID: id, Name: fmt.Sprint("p", id), Transform: iceberg.IdentityTransform{}}
	}
	spec := iceberg.NewPartitionSpecID(4, field(1000), field(1001))
	of := func(a, b any) string {
		f, err := iceberg.NewDataFileBuilder(spec, iceberg.EntryContentData, "s3://b/f", iceberg.ParquetFile, map[int]any{1000: a, 1001: b}, nil, nil, 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		return live(f.Build(), 1).PartitionKey()
	}
	for name, pair := range map[string][2]string{
		"a null, and a text":        {of(nil, "z"), of("<nil>", "z")},
		"a text like two":           {of("x 1001=y", "z"), of("x", "y 1001=z")},
		"a quoted text like two":    {of(`x" 1001="y`, "z"), of("x", `y" 1001="z`)},
		"the same null, other side": {of(nil, "z"), of("z", nil)},
	} {
		if pair[0] == pair[1] {
			t.Errorf("%s: both are %s", name, pair[0])
		}
	}
	for _, pair := range [][2]string{{of(int32(7), nil), of(int64(7), nil)}, {of(float32(0.1), nil), of(float64(float32(0.1)), nil)}} {
		if pair[0] != pair[1] {
			t.Errorf("a column was widened: %s is %s", pair[0], pair[1])
		}
	}
}
