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
	"github.com/frazil/frazil/internal/rows"
)

// metrics are a file's statistics as a manifest holds them, by field id.
type metrics struct {
	modes                      map[int]mode
	sizes, values, nulls, nans map[int]int64
	lower, upper               map[int][]byte
	splits                     []int64
}

func newMetrics(meta *metadata.FileMetaData, f parquetFile) *metrics {
	m := &metrics{
		modes: f.modes,
		sizes: map[int]int64{}, values: map[int]int64{}, nulls: map[int]int64{}, nans: map[int]int64{},
		lower: map[int][]byte{}, upper: map[int][]byte{},
	}
	for _, g := range meta.RowGroups {
		for i, c := range g.Columns {
			if id := int(meta.Schema.Column(i).SchemaNode().FieldID()); m.modes[id].counts {
				m.sizes[id] += c.MetaData.TotalCompressedSize
			}
		}
		m.splits = append(m.splits, g.GetFileOffset())
	}
	for i, field := range f.schema.Fields() {
		m.measure(field, f.columns[i], false)
	}
	return m
}

func (m *metrics) describe(b *iceberg.DataFileBuilder) *iceberg.DataFileBuilder {
	return b.ColumnSizes(m.sizes).ValueCounts(m.values).NullValueCounts(m.nulls).NaNValueCounts(m.nans).
		LowerBoundValues(m.lower).UpperBoundValues(m.upper).SplitOffsets(m.splits)
}

// measure counts a column's leaves and takes their bounds. Those inside a list or map are repeated: they are counted, but
// have no bounds, which would say nothing of a row (as in Iceberg's own writers).
func (m *metrics) measure(f arrow.Field, column arrow.Array, repeated bool) {
	switch a := column.(type) {
	case *array.Struct:
		for i, child := range a.DataType().(*arrow.StructType).Fields() {
			m.measure(child, a.Field(i), repeated)
		}
		return
	case *array.List:
		m.measure(a.DataType().(*arrow.ListType).ElemField(), a.ListValues(), true)
		return
	case *array.Map:
		pair := a.DataType().(*arrow.MapType)
		m.measure(pair.KeyField(), a.Keys(), true)
		m.measure(pair.ItemField(), a.Items(), true)
		return
	}
	id := rows.FieldID(f)
	if mode := m.modes[id]; mode.counts {
		m.leaf(id, column, mode, repeated)
	}
}

func (m *metrics) leaf(id int, column arrow.Array, how mode, repeated bool) {
	m.values[id] = int64(column.Len())
	m.nulls[id] = int64(column.NullN())
	switch a := column.(type) {
	case *array.Float32:
		m.nans[id] = countNaN(a, a.Value)
	case *array.Float64:
		m.nans[id] = countNaN(a, a.Value)
	}
	if !how.bounds || repeated {
		return
	}
	lower, upper := bounds(column, how.cut)
	if lower != nil {
		m.lower[id] = lower
	}
	if upper != nil {
		m.upper[id] = upper
	}
}

func countNaN[T float32 | float64](a arrow.Array, at func(int) T) (n int64) {
	for i := range a.Len() {
		if v := at(i); a.IsValid(i) && v != v {
			n++
		}
	}
	return n
}

// bounds are the least and the greatest value, not null and no NaN, as Iceberg's binary single values (spec, appendix
// D); nil when there is none. Those of texts and binary are cut to a length, 0 for whole.
func bounds(column arrow.Array, cut int) (lower, upper []byte) {
	switch a := column.(type) {
	case *array.Boolean:
		return boundsOf(a, a.Value, func(x, y bool) bool { return !x && y }, encodeBool)
	case *array.Int32:
		return boundsOf(a, a.Value, cmp.Less[int32], encode32[int32])
	case *array.Date32:
		return boundsOf(a, a.Value, cmp.Less[arrow.Date32], encode32[arrow.Date32])
	case *array.Int64:
		return boundsOf(a, a.Value, cmp.Less[int64], encode64[int64])
	case *array.Time64:
		return boundsOf(a, a.Value, cmp.Less[arrow.Time64], encode64[arrow.Time64])
	case *array.Timestamp:
		return boundsOf(a, a.Value, cmp.Less[arrow.Timestamp], encode64[arrow.Timestamp])
	case *array.Float32:
		return floatBounds(a, a.Value, func(v float32) []byte { return encode32(int32(math.Float32bits(v))) })
	case *array.Float64:
		return floatBounds(a, a.Value, func(v float64) []byte { return encode64(int64(math.Float64bits(v))) })
	case *array.Decimal128:
		return boundsOf(a, a.Value, decimal128.Num.Less, encodeDecimal)
	case *array.String:
		lower, upper = boundsOf(a, a.Value, cmp.Less[string], func(s string) []byte { return []byte(s) })
		return valid(cutLower(lower, cut)), valid(cutUpper(upper, cut))
	case *array.Binary:
		lower, upper = boundsOf(a, a.ValueString, cmp.Less[string], func(s string) []byte { return []byte(s) })
		return cutBytes(lower, cut), raiseBytes(upper, cut)
	case *array.FixedSizeBinary:
		lower, upper = boundsOf(a, func(i int) string { return string(a.Value(i)) }, cmp.Less[string], func(s string) []byte { return []byte(s) })
		return cutBytes(lower, cut), raiseBytes(upper, cut)
	case array.ExtensionArray: // a uuid: never cut
		return bounds(a.Storage(), 0)
	}
	return nil, nil
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

func encode64[T int64 | arrow.Timestamp | arrow.Time64](v T) []byte {
	return binary.LittleEndian.AppendUint64(nil, uint64(v))
}

// encodeDecimal is the shortest big-endian two's complement of an unscaled decimal.
func encodeDecimal(v decimal128.Num) []byte {
	b := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, uint64(v.HighBits())), v.LowBits())
	for len(b) > 1 && (b[0] == 0 && b[1] < 0x80 || b[0] == 0xff && b[1] >= 0x80) {
		b = b[1:]
	}
	return b
}

// floatBounds leaves NaN out, and gives zeros the sign that widens the range: -0.0 is below 0.0.
func floatBounds[T float32 | float64](a arrow.Array, at func(int) T, encode func(T) []byte) (lower, upper []byte) {
	lo, hi := T(math.Inf(1)), T(math.Inf(-1))
	found := false
	for i := range a.Len() {
		if v := at(i); a.IsValid(i) && v == v {
			lo, hi, found = min(lo, v), max(hi, v), true
		}
	}
	if !found {
		return nil, nil
	}
	if lo == 0 {
		lo = T(math.Copysign(0, -1))
	}
	if hi == 0 {
		hi = 0
	}
	return encode(lo), encode(hi)
}

// valid leaves out a bound that is no UTF-8, as texts of other writers may be: readers could not decode it.
func valid(b []byte) []byte {
	if !utf8.Valid(b) {
		return nil
	}
	return b
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
	for b = valid(b[:end:end]); len(b) > 0; {
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

// cutBytes is cutLower of binary.
func cutBytes(b []byte, cut int) []byte {
	if cut == 0 || len(b) <= cut {
		return b
	}
	return b[:cut]
}

// raiseBytes is cutUpper of binary.
func raiseBytes(b []byte, cut int) []byte {
	if cut == 0 || len(b) <= cut {
		return b
	}
	for end := cut; end > 0; end-- {
		if b[end-1] != 0xff {
			out := append([]byte{}, b[:end]...)
			out[end-1]++
			return out
		}
	}
	return nil
}
