package rows

import (
	"encoding/binary"
	"hash/maphash"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// Fingerprint stands for the values of a row: rows of one schema are alike if and only if their fingerprints are, but for a
// chance of one in 2^128. Fingerprints of different processes do not compare.
type Fingerprint [2]uint64

// Fingerprints are those of the rows at the given indices of some columns.
func Fingerprints(columns []arrow.Array, indices []int) []Fingerprint {
	values := make([]valueWriter, len(columns))
	for i, c := range columns {
		values[i] = newValueWriter(c)
	}
	out := make([]Fingerprint, len(indices))
	var row []byte
	for n, index := range indices {
		row = row[:0]
		for _, write := range values {
			row = write(row, index)
		}
		out[n] = Fingerprint{maphash.Bytes(secret[0], row), maphash.Bytes(secret[1], row)}
	}
	return out
}

// valueWriter appends the value of a column in a row so that no two lists of values look alike.
type valueWriter func(b []byte, row int) []byte

func newValueWriter(a arrow.Array) valueWriter {
	value := notNull(a)
	return func(b []byte, row int) []byte {
		if a.IsNull(row) {
			return append(b, 0)
		}
		return value(append(b, 1), row)
	}
}

func notNull(a arrow.Array) valueWriter {
	switch a := a.(type) {
	case *array.Boolean:
		return fixed(a.Value, func(b []byte, v bool) []byte {
			if v {
				return append(b, 1)
			}
			return append(b, 0)
		})
	case *array.Int32:
		return fixed(a.Value, append32[int32])
	case *array.Int64:
		return fixed(a.Value, append64[int64])
	case *array.Date32:
		return fixed(a.Value, append32[arrow.Date32])
	case *array.Time64:
		return fixed(a.Value, append64[arrow.Time64])
	case *array.Timestamp:
		return fixed(a.Value, append64[arrow.Timestamp])
	case *array.Float32:
		return fixed(a.Value, func(b []byte, v float32) []byte { return append32(b, int32(math.Float32bits(v))) })
	case *array.Float64:
		return fixed(a.Value, func(b []byte, v float64) []byte { return append64(b, int64(math.Float64bits(v))) })
	case *array.Decimal128:
		return fixed(a.Value, AppendDecimal)
	case *array.String:
		return fixed(a.Value, appendText[string])
	case *array.Binary:
		return fixed(a.Value, appendText[[]byte])
	case *array.FixedSizeBinary:
		return fixed(a.Value, appendText[[]byte])
	case array.ExtensionArray:
		return notNull(a.Storage())
	}
	return nested(a)
}

func nested(a arrow.Array) valueWriter {
	switch a := a.(type) {
	case *array.Struct:
		fields := make([]valueWriter, a.NumField())
		for i := range fields {
			fields[i] = newValueWriter(a.Field(i))
		}
		return func(b []byte, row int) []byte {
			for _, write := range fields {
				b = write(b, row)
			}
			return b
		}
	case *array.Map:
		return entries(a, newValueWriter(a.Keys()), newValueWriter(a.Items()))
	case array.ListLike:
		return entries(a, newValueWriter(a.ListValues()))
	case *array.Null:
		return func(b []byte, _ int) []byte { return b }
	}
	panic("rows: no fingerprint of a " + a.DataType().String()) // NewSchema lets no other type in
}

// entries writes how many a row's list or map has, and each of them.
func entries(a array.ListLike, parts ...valueWriter) valueWriter {
	return func(b []byte, row int) []byte {
		from, to := a.ValueOffsets(row)
		b = append64(b, to-from)
		for i := from; i < to; i++ {
			for _, write := range parts {
				b = write(b, int(i))
			}
		}
		return b
	}
}

func fixed[T any](at func(int) T, write func([]byte, T) []byte) valueWriter {
	return func(b []byte, row int) []byte { return write(b, at(row)) }
}

func append32[T ~int32](b []byte, v T) []byte { return binary.LittleEndian.AppendUint32(b, uint32(v)) }

func append64[T ~int64](b []byte, v T) []byte { return binary.LittleEndian.AppendUint64(b, uint64(v)) }

func appendText[T string | []byte](b []byte, v T) []byte {
	return append(binary.LittleEndian.AppendUint32(b, uint32(len(v))), v...)
}
