package rows

import (
	"encoding/binary"
	"hash/maphash"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// Fingerprint stands for the values of a row: rows of one schema are alike if and only if their fingerprints are, but for a
// chance of one in 2^128. Fingerprints of different processes do not compare.
type Fingerprint [2]uint64

// Fingerprints are those of the rows at the given indices of some columns.
func Fingerprints(columns []arrow.Array, indices []int) []Fingerprint {
	out := make([]Fingerprint, len(indices))
	for _, c := range columns {
		fold(out, c, func(n int) int { return indices[n] })
	}
	return out
}

// AddColumn takes the next column of rows into their fingerprints, which begin as zeros: those of the rows of the array, in
// their order.
func AddColumn(to []Fingerprint, column arrow.Array) { fold(to, column, func(n int) int { return n }) }

// fold takes in a column's value of each row, which is found at the index that at gives for it.
func fold(to []Fingerprint, column arrow.Array, at func(n int) int) {
	value := wordsOf(column)
	if value == nil {
		return // nothing of it is stored: no value differs from another
	}
	for n := range to {
		first, second := uint64(null), uint64(null)
		if i := at(n); column.IsValid(i) {
			first, second = value(i)
		}
		to[n].add(first, second)
	}
}

// null is both words of no value. Those of a value are so by chance alone.
const null = 0x6e756c6c

// wordsOf returns the function that gives the two words that stand for the value at an index; nil for columns of type unknown, and
// structs of such.
func wordsOf(column arrow.Array) func(i int) (first, second uint64) {
	switch a := column.(type) {
	case *array.Null:
		return nil
	case *array.Boolean:
		return number(a.Value, func(v bool) uint64 {
			if v {
				return 1
			}
			return 0
		})
	case *array.Int32:
		return number(a.Value, func(v int32) uint64 { return uint64(v) })
	case *array.Int64:
		return number(a.Value, func(v int64) uint64 { return uint64(v) })
	case *array.Date32:
		return number(a.Value, func(v arrow.Date32) uint64 { return uint64(v) })
	case *array.Time64:
		return number(a.Value, func(v arrow.Time64) uint64 { return uint64(v) })
	case *array.Timestamp:
		return number(a.Value, func(v arrow.Timestamp) uint64 { return uint64(v) })
	case *array.Float32:
		return number(a.Value, func(v float32) uint64 { return uint64(math.Float32bits(v)) })
	case *array.Float64:
		return number(a.Value, math.Float64bits)
	case *array.Decimal128:
		return func(i int) (uint64, uint64) {
			v := a.Value(i)
			return Mix(v.LowBits()^salts[0]) + uint64(v.HighBits()), Mix(v.LowBits()^salts[1]) + uint64(v.HighBits())
		}
	case *array.String:
		return func(i int) (uint64, uint64) {
			v := a.Value(i)
			return maphash.String(secret[0], v), maphash.String(secret[1], v)
		}
	case array.ExtensionArray:
		return wordsOf(a.Storage())
	case *array.Struct:
		if unknown(a.DataType()) {
			return nil
		}
	}
	write, value := notNull(column), []byte(nil)
	return func(i int) (uint64, uint64) {
		value = write(value[:0], i)
		return maphash.Bytes(secret[0], value), maphash.Bytes(secret[1], value)
	}
}

func unknown(t arrow.DataType) bool {
	s, ok := t.(*arrow.StructType)
	if !ok {
		return t.ID() == arrow.NULL
	}
	return !slices.ContainsFunc(s.Fields(), func(f arrow.Field) bool { return !unknown(f.Type) })
}

func number[T any](at func(int) T, bits func(T) uint64) func(i int) (first, second uint64) {
	return func(i int) (uint64, uint64) {
		v := bits(at(i))
		return v ^ salts[0], v ^ salts[1]
	}
}

// salts are what the process adds to numbers: nobody can choose two rows of them that look alike.
var salts = [2]uint64{rand.Uint64(), rand.Uint64()}

// add takes in a value by its words.
func (f *Fingerprint) add(first, second uint64) {
	f[0] = Mix(bits.RotateLeft64(f[0], 23)*0x9e3779b97f4a7c15 + Mix(first))
	f[1] = Mix(bits.RotateLeft64(f[1], 29)*0xd6e8feb86659fd93 + Mix(second))
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
