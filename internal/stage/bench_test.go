package stage_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/iceberg-go"
	"github.com/frazil/frazil/internal/locate"
	"github.com/frazil/frazil/internal/resolve"
	"github.com/frazil/frazil/internal/rows"
	"github.com/frazil/frazil/internal/stage"
)

// BenchmarkWrite writes a hundred thousand rows: by mix of types, then one mix by what
// the table wants of its files.
func BenchmarkWrite(b *testing.B) {
	number := func(r *rand.Rand) rows.Cell { return rows.Cell{Int: r.Int64N(1 << 40)} }
	text := func(r *rand.Rand) rows.Cell { return rows.Cell{Bytes: fmt.Appendf(nil, "customer %d", r.IntN(5000))} }
	amount := func(r *rand.Rand) rows.Cell { return rows.Cell{Decimal: decimal128.FromI64(r.Int64N(1 << 30))} }
	point := &iceberg.StructType{FieldList: []iceberg.NestedField{{ID: 100, Name: "x", Type: prim.Int64}, {ID: 101, Name: "s", Type: prim.String}}}
	list := &iceberg.ListType{ElementID: 102, Element: prim.Int64}
	nested := func(r *rand.Rand) rows.Cell { return rows.Cell{Children: []rows.Cell{number(r), text(r)}} }
	several := func(r *rand.Rand) rows.Cell { return rows.Cell{Children: []rows.Cell{number(r), number(r), number(r)}} }
	mixed := []filler{{prim.Int64, number}, {prim.String, text}, {iceberg.DecimalTypeOf(12, 2), amount}, {prim.Timestamp, number}, {prim.Int64, number}}
	for _, c := range []struct {
		name    string
		columns []filler
		change  func(*stage.Target)
	}{
		{"longs", slices.Repeat([]filler{{prim.Int64, number}}, 5), nil},
		{"texts", slices.Repeat([]filler{{prim.String, text}}, 5), nil},
		{"decimals", slices.Repeat([]filler{{iceberg.DecimalTypeOf(12, 2), amount}}, 5), nil},
		{"mixed", mixed, nil},
		{"nested", []filler{{point, nested}, {list, several}}, nil},
		{"mixed-in-16-buckets", mixed, partitioned(1, "b", iceberg.BucketTransform{NumBuckets: 16})},
		{"mixed-sorted", mixed, func(t *stage.Target) {
			t.Sort = stage.Order{ID: 1, Fields: []stage.OrderField{{SourceID: 11, Transform: iceberg.IdentityTransform{}}}}
		}},
	} {
		b.Run(c.name, func(b *testing.B) { benchmarkWrite(b, c.columns, c.change) })
	}
}

// filler is a column's type and random values of it.
type filler struct {
	typ  iceberg.Type
	cell func(*rand.Rand) rows.Cell
}

func benchmarkWrite(b *testing.B, columns []filler, change func(*stage.Target)) {
	const n = 100_000
	r := rand.New(rand.NewPCG(1, 2))
	var types []iceberg.Type
	for _, c := range columns {
		types = append(types, c.typ)
	}
	list := make([][]rows.Cell, n)
	for i := range list {
		for _, c := range columns {
			list[i] = append(list[i], c.cell(r))
		}
	}
	full := batch(b, types, list...)
	to := target(b, full.Schema)
	if change != nil {
		change(&to)
	}
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	o := &resolve.Outcome{Batch: full, Write: picks(all...), Found: &locate.Found{}}
	size := 0
	b.ReportAllocs()
	for b.Loop() {
		files, err := stage.Write(b.Context(), nil, &locate.Snapshot{}, o, stage.Position, to)
		if err != nil {
			b.Fatal(err)
		}
		size = 0
		for _, f := range files.Objects {
			size += len(f.Data)
		}
	}
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
	b.ReportMetric(float64(size)/n, "bytes/row")
}
