package lake

import (
	"encoding/hex"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// text is a value in its canonical form: Iceberg's JSON single-value form without quotes, with all fraction digits of a
// time, and decimals at their scale. A nested value is compact JSON, structs as objects and maps as pairs in the order
// of their keys.
func text(a arrow.Array, i int) string {
	switch a := a.(type) {
	case *array.Timestamp:
		return timestampText(a.Value(i), a.DataType().(*arrow.TimestampType))
	case *array.Time64:
		return time.UnixMicro(int64(a.Value(i))).UTC().Format("15:04:05.000000")
	case *array.Decimal128:
		return a.Value(i).ToString(a.DataType().(*arrow.Decimal128Type).Scale)
	case *array.Float32:
		return floatText(float64(a.Value(i)), 32)
	case *array.Float64:
		return floatText(a.Value(i), 64)
	case *array.Binary:
		return hex.EncodeToString(a.Value(i))
	case *array.FixedSizeBinary:
		return hex.EncodeToString(a.Value(i))
	case *array.String:
		return a.Value(i)
	case *array.Struct, *array.Map, *array.List:
		return string(appendJSON(nil, a, i))
	}
	return a.ValueStr(i)
}

func timestampText(v arrow.Timestamp, t *arrow.TimestampType) string {
	at, layout := v.ToTime(t.Unit).UTC(), "2006-01-02T15:04:05.000000"
	if t.Unit == arrow.Nanosecond {
		layout += "000"
	}
	if t.TimeZone != "" {
		layout += "+00:00"
	}
	return at.Format(layout)
}

func floatText(v float64, bits int) string {
	text := strconv.FormatFloat(v, 'g', -1, bits)
	return strings.Replace(strings.TrimPrefix(text, "+"), "Inf", "Infinity", 1)
}

// appendJSON appends a value in its JSON form.
func appendJSON(b []byte, a arrow.Array, i int) []byte {
	if isNull(a, i) {
		return append(b, "null"...)
	}
	switch a := a.(type) {
	case *array.Struct:
		return appendObject(b, a, i)
	case *array.Map:
		return appendPairs(b, a, i)
	case *array.List:
		return appendElements(b, a, i)
	case *array.Boolean, *array.Int32, *array.Int64:
		return append(b, text(a, i)...)
	case *array.Float32, *array.Float64:
		if text := text(a, i); strings.Trim(text, "-0123456789.e+") == "" {
			return append(b, text...)
		}
	}
	return quote(b, text(a, i))
}

// isNull is right for a column of type unknown too, of which arrow says that no value is null.
func isNull(a arrow.Array, i int) bool {
	_, unknown := a.(*array.Null)
	return unknown || a.IsNull(i)
}

func appendObject(b []byte, a *array.Struct, i int) []byte {
	b = append(b, '{')
	for f, field := range a.DataType().(*arrow.StructType).Fields() {
		if f > 0 {
			b = append(b, ',')
		}
		b = append(quote(b, field.Name), ':')
		b = appendJSON(b, a.Field(f), i)
	}
	return append(b, '}')
}

func appendElements(b []byte, a *array.List, i int) []byte {
	b = append(b, '[')
	from, to := a.ValueOffsets(i)
	for e := from; e < to; e++ {
		if e > from {
			b = append(b, ',')
		}
		b = appendJSON(b, a.ListValues(), int(e))
	}
	return append(b, ']')
}

func appendPairs(b []byte, a *array.Map, i int) []byte {
	var pairs [][2]string
	from, to := a.ValueOffsets(i)
	for e := from; e < to; e++ {
		pairs = append(pairs, [2]string{string(appendJSON(nil, a.Keys(), int(e))), string(appendJSON(nil, a.Items(), int(e)))})
	}
	slices.SortStableFunc(pairs, func(x, y [2]string) int { return compareJSON(x[0], y[0]) })
	b = append(b, '[')
	for e, p := range pairs {
		if e > 0 {
			b = append(b, ',')
		}
		b = append(b, "["+p[0]+","+p[1]+"]"...)
	}
	return append(b, ']')
}

// compareJSON orders numbers as numbers and everything else as text.
func compareJSON(x, y string) int {
	p, ok := new(big.Rat).SetString(x)
	q, both := new(big.Rat).SetString(y)
	if ok && both {
		return p.Cmp(q)
	}
	return strings.Compare(x, y)
}
