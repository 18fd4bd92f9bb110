package coerce_test

import (
	"bytes"
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/iceberg-go"
	"github.com/frazil/frazil/internal/change"
	"github.com/frazil/frazil/internal/rows"
	"github.com/frazil/frazil/internal/wire"
)

var (
	fuzzTypes = []iceberg.Type{
		prim.Bool, prim.Int32, prim.Int64, prim.Float64, iceberg.DecimalTypeOf(9, 2), iceberg.DecimalTypeOf(18, 0), iceberg.DecimalTypeOf(38, 10),
		prim.Date, prim.Timestamp, prim.TimestampTz, prim.String,
	}
	fuzzEncodings = []string{"auto", "text", "base64", "number"}
	fuzzUnits     = []string{"auto", "s", "ms", "us", "ns"}
)

// FuzzCoerce: no value and no type makes it panic, a number that is taken is the number that was sent, and what is
// refused leaves nothing behind.
func FuzzCoerce(f *testing.F) {
	for i, list := range [][]form{booleans, ints, longs, doubles, decimals10, decimals38, decimals38, dates, timestamps, timestamptzs, texts} {
		for _, form := range list {
			f.Add([]byte(form.value), byte(i), byte(len(form.value)))
		}
	}
	f.Fuzz(func(t *testing.T, value []byte, typ, rules byte) {
		var doc wire.Doc
		row, err := doc.JSON(append(append([]byte(`{"id":1,"v":`), value...), '}'))
		if err != nil || row.Len() != 2 {
			return
		}
		route := plain()
		route.DecimalEncoding = fuzzEncodings[int(rules)%len(fuzzEncodings)]
		route.TimestampUnit = fuzzUnits[int(rules/8)%len(fuzzUnits)]
		b := rows.NewBatch(table(t, fuzzTypes[int(typ)%len(fuzzTypes)]))
		if err := compiled(t, b.Schema, route).Add(b, change.Upsert(row)); err != nil {
			untouched(t, b)
			return
		}
		if v := row.Field("v"); v.Kind() == wire.Number && !bytes.ContainsAny(v.Text(), "eE") {
			checkNumber(t, string(v.Text()), b.Columns()[1], route.TimestampUnit)
		}
	})
}

// checkNumber compares a cell with the number that was sent.
func checkNumber(t *testing.T, sent string, a arrow.Array, unit string) {
	var got string
	switch a := a.(type) {
	case *array.Decimal128:
		got = a.Value(0).ToString(a.DataType().(*arrow.Decimal128Type).Scale)
	case *array.Timestamp:
		got = new(big.Rat).Mul(big.NewRat(int64(a.Value(0)), 1), micros[unit]).RatString()
	case *array.Date32:
		got = strconv.Itoa(int(a.Value(0)))
	case *array.Int32, *array.Int64:
		got = a.ValueStr(0)
	case *array.Float64:
		nearest, err := strconv.ParseFloat(sent, 64)
		if err != nil || math.Float64bits(nearest) != math.Float64bits(a.Value(0)) {
			t.Fatalf("%s became %v", sent, a.Value(0))
		}
		if strings.Contains(sent, ".") {
			return
		}
		got = new(big.Rat).SetFloat64(a.Value(0)).RatString()
	default:
		return
	}
	want, ok := new(big.Rat).SetString(sent)
	have, okHave := new(big.Rat).SetString(got)
	if !ok || !okHave || want.Cmp(have) != 0 {
		t.Fatalf("%s became %s", sent, got)
	}
}

// micros is a microsecond in units.
var micros = map[string]*big.Rat{"s": big.NewRat(1, 1_000_000), "ms": big.NewRat(1, 1000), "us": big.NewRat(1, 1), "ns": big.NewRat(1000, 1)}
