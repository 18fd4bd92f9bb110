package stage

import (
	"cmp"
	"encoding/binary"
	"math"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/iceberg-go"
)

// truncateTo is the length in code points of the bounds of texts: Iceberg's default, truncate(16).
const truncateTo = 16

// metrics are a file's statistics as a manifest holds them, by field id.
type metrics struct {
	sizes, values, nulls, nans map[int]int64
	lower, upper               map[int][]byte
	splits                     []int64
}

func newMetrics(meta *metadata.FileMetaData) *metrics {
	m := &metrics{
		sizes: map[int]int64{}, values: map[int]int64{}, nulls: map[int]int64{}, nans: map[int]int64{},
		lower: map[int][]byte{}, upper: map[int][]byte{},
	}
	for _, g := range meta.RowGroups {
		for i, c := range g.Columns {
			id := int(meta.Schema.Column(i).SchemaNode().FieldID())
			m.sizes[id] += c.MetaData.TotalCompressedSize
		}
		m.splits = append(m.splits, g.GetFileOffset())
	}
	return m
}

func (m *metrics) describe(b *iceberg.DataFileBuilder) iceberg.DataFile {
	return b.ColumnSizes(m.sizes).ValueCounts(m.values).NullValueCounts(m.nulls).NaNValueCounts(m.nans).
		LowerBoundValues(m.lower).UpperBoundValues(m.upper).SplitOffsets(m.splits).Build()
}

// measure counts a column and takes its bounds; those of texts are cut to so many code points, 0 for whole.
func (m *metrics) measure(id int, column arrow.Array, cut int) {
	m.values[id] = int64(column.Len())
	m.nulls[id] = int64(column.NullN())
	var lower, upper []byte
	switch a := column.(type) {
	case *array.Boolean:
		lower, upper = boundsOf(a, a.Value, func(x, y bool) bool { return !x && y }, encodeBool)
	case *array.Int32:
		lower, upper = boundsOf(a, a.Value, cmp.Less[int32], encode32[int32])
	case *array.Date32:
		lower, upper = boundsOf(a, a.Value, cmp.Less[arrow.Date32], encode32[arrow.Date32])
	case *array.Int64:
		lower, upper = boundsOf(a, a.Value, cmp.Less[int64], encode64[int64])
	case *array.Timestamp:
		lower, upper = boundsOf(a, a.Value, cmp.Less[arrow.Timestamp], encode64[arrow.Timestamp])
	case *array.Float64:
		m.nans[id], lower, upper = doubleBounds(a)
	case *array.Decimal128:
		lower, upper = boundsOf(a, a.Value, decimal128.Num.Less, encodeDecimal)
	case *array.String:
		lower, upper = boundsOf(a, a.Value, cmp.Less[string], func(s string) []byte { return []byte(s) })
		lower, upper = cutLower(lower, cut), cutUpper(upper, cut)
	}
	if lower != nil {
		m.lower[id] = lower
	}
	if upper != nil {
		m.upper[id] = upper
	}
}

// boundsOf is the least and the greatest value that is not null, encoded; nil when there is none.
func boundsOf[T any](a arrow.Array, at func(int) T, less func(T, T) bool, encode func(T) []byte) (lower, upper []byte) {
	var lo, hi T
	found := false
	for i := range a.Len() {
		if a.IsNull(i) {
			continue
		}
		v := at(i)
		if !found || less(v, lo) {
			lo = v
		}
		if !found || less(hi, v) {
			hi = v
		}
		found = true
	}
	if !found {
		return nil, nil
	}
	return encode(lo), encode(hi)
}

func encodeBool(v bool) []byte {
	if v {
		return []byte{1}
	}
	return []byte{0}
}

func encode32[T int32 | arrow.Date32](v T) []byte {
	return binary.LittleEndian.AppendUint32(nil, uint32(v))
}

func encode64[T int64 | arrow.Timestamp](v T) []byte {
	return binary.LittleEndian.AppendUint64(nil, uint64(v))
}

// encodeDecimal is the shortest big-endian two's complement of an unscaled decimal (Iceberg spec, appendix D).
func encodeDecimal(v decimal128.Num) []byte {
	b := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, uint64(v.HighBits())), v.LowBits())
	for len(b) > 1 && (b[0] == 0 && b[1] < 0x80 || b[0] == 0xff && b[1] >= 0x80) {
		b = b[1:]
	}
	return b
}

// doubleBounds leaves NaN out, and gives zeros the sign that widens the range: -0.0 is below 0.0.
func doubleBounds(a *array.Float64) (nans int64, lower, upper []byte) {
	lo, hi := math.Inf(1), math.Inf(-1)
	found := false
	for i := range a.Len() {
		switch v := a.Value(i); {
		case a.IsNull(i):
		case math.IsNaN(v):
			nans++
		default:
			lo, hi, found = min(lo, v), max(hi, v), true
		}
	}
	if !found {
		return nans, nil, nil
	}
	if lo == 0 {
		lo = math.Copysign(0, -1)
	}
	if hi == 0 {
		hi = 0
	}
	return nans, encode64(int64(math.Float64bits(lo))), encode64(int64(math.Float64bits(hi)))
}

// cutLower keeps the first code points of a lower bound: a prefix is never above the whole.
func cutLower(b []byte, cut int) []byte {
	return b[:prefix(b, cut)]
}

// cutUpper keeps the first code points of an upper bound and raises the last of them, so that it is above
// every text with that beginning; nil when no code point can be raised.
func cutUpper(b []byte, cut int) []byte {
	end := prefix(b, cut)
	if end == len(b) {
		return b
	}
	for b = b[:end:end]; len(b) > 0; {
		r, size := utf8.DecodeLastRune(b)
		b = b[:len(b)-size]
		if r++; r == 0xD800 {
			r = 0xE000 // no code points between
		}
		if r <= utf8.MaxRune {
			return utf8.AppendRune(b[:len(b):len(b)], r)
		}
	}
	return nil
}

// prefix is the length in bytes of the first cut code points; 0 for all.
func prefix(b []byte, cut int) int {
	if cut == 0 {
		return len(b)
	}
	end := 0
	for range cut {
		if end == len(b) {
			break
		}
		_, size := utf8.DecodeRune(b[end:])
		end += size
	}
	return end
}
