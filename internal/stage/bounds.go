package stage

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
)

// bounds are the least and the greatest value of a column, not null and no NaN.
type bounds interface {
	// add takes in the values of an array.
	add(a arrow.Array)
	// encoded are the bounds as Iceberg's binary single values (spec, appendix D); nil where there is none. Those of texts and
	// binary are cut to a length, 0 for whole.
	encoded(cut int) (lower, upper []byte)
}

// newBounds are those of a column with arrays like this one; nil: its type has none.
func newBounds(like arrow.Array) bounds {
	switch like.(type) {
	case *array.Boolean:
		return plain((*array.Boolean).Value, func(x, y bool) bool { return !x && y }, encodeBool)
	case *array.Int32:
		return plain((*array.Int32).Value, cmp.Less[int32], encode32[int32])
	case *array.Date32:
		return plain((*array.Date32).Value, cmp.Less[arrow.Date32], encode32[arrow.Date32])
	case *array.Int64:
		return plain((*array.Int64).Value, cmp.Less[int64], encode64[int64])
	case *array.Time64:
		return plain((*array.Time64).Value, cmp.Less[arrow.Time64], encode64[arrow.Time64])
	case *array.Timestamp:
		return plain((*array.Timestamp).Value, cmp.Less[arrow.Timestamp], encode64[arrow.Timestamp])
	case *array.Decimal128:
		return plain((*array.Decimal128).Value, decimal128.Num.Less, encodeDecimal)
	case *array.Float32:
		return floats((*array.Float32).Value, func(v float32) []byte { return encode32(int32(math.Float32bits(v))) })
	case *array.Float64:
		return floats((*array.Float64).Value, func(v float64) []byte { return encode64(int64(math.Float64bits(v))) })
	case *array.String:
		return &extremes[*array.String, string]{at: (*array.String).Value, less: cmp.Less[string], own: strings.Clone, encode: cutText}
	case *array.Binary:
		return binaries((*array.Binary).Value, cutBinary)
	case *array.FixedSizeBinary:
		return binaries((*array.FixedSizeBinary).Value, cutBinary)
	case array.ExtensionArray:
		return uuids{wholes(bytes.Compare), wholes(compareSigned)}
	}
	return nil
}

// extremes are bounds by the order of a Go type.
type extremes[A arrow.Array, T any] struct {
	at     func(A, int) T
	less   func(T, T) bool
	skip   func(T) bool // values that are none; nil: no value is
	own    func(T) T    // makes a copy that outlives the array; nil: values are copies
	encode func(lo, hi T, cut int) (lower, upper []byte)

	lo, hi T
	found  bool
}

func (e *extremes[A, T]) add(values arrow.Array) {
	a := values.(A)
	lo, hi, found := e.lo, e.hi, e.found
	for i := range a.Len() {
		if a.IsNull(i) {
			continue
		}
		v := e.at(a, i)
		if e.skip != nil && e.skip(v) {
			continue
		}
		if !found || e.less(v, lo) {
			lo = v
		}
		if !found || e.less(hi, v) {
			hi = v
		}
		found = true
	}
	if e.own != nil && found {
		lo, hi = e.own(lo), e.own(hi)
	}
	e.lo, e.hi, e.found = lo, hi, found
}

func (e *extremes[A, T]) encoded(cut int) (lower, upper []byte) {
	if !e.found {
		return nil, nil
	}
	return e.encode(e.lo, e.hi, cut)
}

func plain[A arrow.Array, T any](at func(A, int) T, less func(T, T) bool, encode func(T) []byte) bounds {
	return &extremes[A, T]{at: at, less: less, encode: func(lo, hi T, _ int) (lower, upper []byte) { return encode(lo), encode(hi) }}
}

// floats leaves NaN out, and gives zeros the sign that widens the range: -0.0 is below 0.0.
func floats[A arrow.Array, T float32 | float64](at func(A, int) T, encode func(T) []byte) bounds {
	return &extremes[A, T]{
		at: at, less: cmp.Less[T], skip: func(v T) bool { return v != v },
		encode: func(lo, hi T, _ int) (lower, upper []byte) {
			if lo == 0 {
				lo = T(math.Copysign(0, -1))
			}
			if hi == 0 {
				hi = 0
			}
			return encode(lo), encode(hi)
		},
	}
}

func binaries[A arrow.Array](at func(A, int) []byte, encode func(lo, hi []byte, cut int) (lower, upper []byte)) bounds {
	return &extremes[A, []byte]{at: at, less: func(a, b []byte) bool { return bytes.Compare(a, b) < 0 }, own: bytes.Clone, encode: encode}
}

// uuids are bounds by the order of bytes, where the order of Java's UUID has the same ones: writers and readers on the JVM compare uuids so,
// and would pass over files that have what they look for (apache/iceberg#14216).
type uuids struct{ byBytes, bySigns bounds }

func (u uuids) add(a arrow.Array) {
	storage := a.(array.ExtensionArray).Storage()
	u.byBytes.add(storage)
	u.bySigns.add(storage)
}

func (u uuids) encoded(int) (lower, upper []byte) {
	lower, upper = u.byBytes.encoded(0)
	lo, hi := u.bySigns.encoded(0)
	if !bytes.Equal(lower, lo) {
		lower = nil
	}
	if !bytes.Equal(upper, hi) {
		upper = nil
	}
	return lower, upper
}

// wholes are bounds of values of one size.
func wholes(compare func(a, b []byte) int) bounds {
	return &extremes[*array.FixedSizeBinary, []byte]{
		at: (*array.FixedSizeBinary).Value, less: func(a, b []byte) bool { return compare(a, b) < 0 }, own: bytes.Clone,
		encode: func(lo, hi []byte, _ int) (lower, upper []byte) { return lo, hi },
	}
}

// compareSigned compares two uuids as Java does: as two numbers with signs.
func compareSigned(a, b []byte) int {
	number := func(b []byte) int64 { return int64(binary.BigEndian.Uint64(b)) }
	return cmp.Or(cmp.Compare(number(a), number(b)), cmp.Compare(number(a[8:]), number(b[8:])))
}

func cutText(lo, hi string, cut int) (lower, upper []byte) {
	return valid(cutLower([]byte(lo), cut)), valid(cutUpper([]byte(hi), cut))
}

func cutBinary(lo, hi []byte, cut int) (lower, upper []byte) {
	return cutBytes(lo, cut), raiseBytes(hi, cut)
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
