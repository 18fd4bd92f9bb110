package lake

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
)

// text is a value in its canonical form: timestamps with six fraction digits, decimals at their scale.
func text(a arrow.Array, i int) string {
	switch a := a.(type) {
	case *array.Timestamp:
		at := time.UnixMicro(int64(a.Value(i))).UTC()
		if a.DataType().(*arrow.TimestampType).TimeZone != "" {
			return at.Format("2006-01-02T15:04:05.000000+00:00")
		}
		return at.Format("2006-01-02T15:04:05.000000")
	case *array.Decimal128:
		return a.Value(i).ToString(a.DataType().(*arrow.Decimal128Type).Scale)
	case *array.Float64:
		return strconv.FormatFloat(a.Value(i), 'g', -1, 64)
	}
	return a.ValueStr(i)
}

// Canonical brings a literal of a column's type to the form in which Rows gives values.
func Canonical(typ, literal string) (string, error) {
	switch {
	case typ == "timestamp" || typ == "timestamptz":
		at, err := parseTimestamp(literal)
		if err != nil {
			return "", err
		}
		if typ == "timestamptz" {
			return at.UTC().Format("2006-01-02T15:04:05.000000+00:00"), nil
		}
		return at.Format("2006-01-02T15:04:05.000000"), nil
	case typ == "double":
		f, err := strconv.ParseFloat(literal, 64)
		return strconv.FormatFloat(f, 'g', -1, 64), err
	case strings.HasPrefix(typ, "decimal"):
		var d arrow.Decimal128Type
		if _, err := fmt.Sscanf(strings.ReplaceAll(typ, " ", ""), "decimal(%d,%d)", &d.Precision, &d.Scale); err != nil {
			return "", err
		}
		v, err := parseDecimal(literal, &d)
		return v.ToString(d.Scale), err
	}
	return literal, nil
}

func parseTimestamp(literal string) (time.Time, error) {
	literal = strings.Replace(literal, " ", "T", 1)
	for _, layout := range []string{"2006-01-02T15:04:05.999999999", time.RFC3339Nano} {
		if at, err := time.Parse(layout, literal); err == nil {
			return at, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is no timestamp", literal)
}

// parseDecimal is exact, where arrow's own goes through a float.
func parseDecimal(literal string, t *arrow.Decimal128Type) (decimal128.Num, error) {
	r, ok := new(big.Rat).SetString(literal)
	if !ok {
		return decimal128.Num{}, fmt.Errorf("%q is no decimal", literal)
	}
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(t.Scale)), nil)
	if r.Mul(r, new(big.Rat).SetInt(scale)); !r.IsInt() || r.Num().BitLen() > 127 {
		return decimal128.Num{}, fmt.Errorf("%q does not fit %s", literal, t)
	}
	return decimal128.FromBigInt(r.Num()), nil
}
