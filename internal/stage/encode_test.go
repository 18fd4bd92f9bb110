package stage

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/apache/iceberg-go"
	"github.com/frazil/frazil/internal/rows"
)

// A file whose columns are encoded at once is, byte for byte, that of one column after the other.
func TestColumnsAreEncodedAtOnceAsTheyAreInTurn(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	var fields []arrow.Field
	for i, typ := range []arrow.DataType{
		arrow.FixedWidthTypes.Boolean, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64,
		arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Time64us, arrow.FixedWidthTypes.Timestamp_us, &arrow.TimestampType{Unit: arrow.Nanosecond},
		arrow.BinaryTypes.String, arrow.BinaryTypes.Binary, &arrow.FixedSizeBinaryType{ByteWidth: 5}, extensions.NewUUIDType(),
		&arrow.Decimal128Type{Precision: 9, Scale: 2}, &arrow.Decimal128Type{Precision: 18, Scale: 2}, &arrow.Decimal128Type{Precision: 38, Scale: 2},
	} {
		for j, nullable := range []bool{true, false} {
			id := 1 + 2*i + j
			fields = append(fields, arrow.Field{Name: string(rune('a'+i)) + string(rune('0'+j)), Type: typ, Nullable: nullable, Metadata: rows.IDMetadata(id)})
		}
	}
	for _, nulls := range []float64{0, 0.3, 1} {
		const n = 5000
		f := parquetFile{schema: arrow.NewSchema(fields, nil), rows: n, bytes: 1 << 20}
		columns := make([][]arrow.Array, len(fields))
		for i, field := range fields {
			for from := 0; from < n; from += n / 2 { // a chunk has an offset
				all := drawn(r, field, n/2+7, nulls)
				columns[i] = append(columns[i], array.NewSlice(all, 7, int64(all.Len())), array.NewSlice(all, 0, 0))
			}
		}
		f.chunks = func(column int, from, to int64) ([]arrow.Array, error) {
			half := columns[column][2*(from/(n/2))]
			return []arrow.Array{array.NewSlice(half, 0, 100), array.NewSlice(half, 100, to-from)}, nil
		}
		f.differ = func(column int) bool { return column%3 == 0 }
		l, err := NewLayout(map[string]string{"write.parquet.row-group-size-bytes": "600000", "write.parquet.page-size-bytes": "4000",
			"write.parquet.bloom-filter-enabled.column.c0": "true", "write.parquet.bloom-filter-enabled.column.j1": "true"},
			iceberg.NewSchema(0, iceberg.NestedField{ID: 5, Name: "c0", Type: iceberg.PrimitiveTypes.Int64}, iceberg.NestedField{ID: 20, Name: "j1", Type: iceberg.PrimitiveTypes.String}), nil)
		if err != nil {
			t.Fatal(err)
		}
		if groups := l.groups(f); groups != 2 {
			t.Fatal(groups, "row groups")
		}
		properties := parquet.NewWriterProperties(l.parquet(f)...)
		var inTurn, atOnce bytes.Buffer
		out, err := pqarrow.NewFileWriter(f.schema, &inTurn, properties, pqarrow.DefaultWriterProps())
		if err != nil {
			t.Fatal(err)
		}
		other, err := newEncoder(&atOnce, f, properties)
		if _, is := other.(*parallel); err != nil || !is {
			t.Fatal(other, err)
		}
		for _, e := range []encoder{serial{out}, other} {
			for _, from := range []int64{0, n / 2} {
				if err := encodeGroup(e, f, newMetrics(nil), from, from+n/2); err != nil {
					t.Fatal(err)
				}
			}
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(inTurn.Bytes(), atOnce.Bytes()) {
			t.Errorf("%.0f %% nulls: %d bytes, want the same as %d", 100*nulls, atOnce.Len(), inTurn.Len())
		}
	}
}

// drawn is an array for a field, of which so many values are null where that is allowed.
func drawn(r *rand.Rand, field arrow.Field, n int, nulls float64) arrow.Array {
	b := array.NewBuilder(memory.DefaultAllocator, field.Type)
	text := func(length int) []byte {
		out := make([]byte, length)
		for i := range out {
			out[i] = byte('a' + r.IntN(26))
		}
		return out
	}
	for range n {
		if field.Nullable && r.Float64() < nulls {
			b.AppendNull()
			continue
		}
		switch b := b.(type) {
		case *array.BooleanBuilder:
			b.Append(r.IntN(2) == 0)
		case *array.Int32Builder:
			b.Append(r.Int32N(1000))
		case *array.Int64Builder:
			b.Append(r.Int64())
		case *array.Float32Builder:
			b.Append(r.Float32())
		case *array.Float64Builder:
			b.Append(r.Float64())
		case *array.Date32Builder:
			b.Append(arrow.Date32(r.Int32N(20000)))
		case *array.Time64Builder:
			b.Append(arrow.Time64(r.Int64N(86_400_000_000)))
		case *array.TimestampBuilder:
			b.Append(arrow.Timestamp(r.Int64()))
		case *array.StringBuilder:
			b.BinaryBuilder.Append(text(r.IntN(20)))
		case *array.BinaryBuilder:
			b.Append(text(r.IntN(20)))
		case *array.FixedSizeBinaryBuilder:
			b.Append(text(5))
		case *extensions.UUIDBuilder:
			b.AppendBytes([16]byte(text(16)))
		case *array.Decimal128Builder:
			b.Append(decimal128.FromI64(r.Int64N(1_000_000_000)))
		default:
			panic(field.Type)
		}
	}
	return b.NewArray()
}
