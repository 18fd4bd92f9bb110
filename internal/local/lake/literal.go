package lake

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"
)

// Canonical brings a literal of a column's type to the form in which Rows gives values. Literals of nested types are
// JSON; leaves may be texts, numbers or booleans, maps are objects or arrays of pairs, absent fields are NULL.
func Canonical(typ, literal string) (string, error) {
	t, err := parseType(typ, new(int))
	if err != nil {
		return "", err
	}
	a, err := arrayOf(t, literal)
	if err != nil {
		return "", err
	}
	return text(a, 0), nil
}

// arrayOf is an array with one value.
func arrayOf(t iceberg.Type, literal string) (arrow.Array, error) {
	at, err := table.TypeToArrowType(t, false, false)
	if err != nil {
		return nil, err
	}
	b := array.NewBuilder(memory.DefaultAllocator, at)
	if err := appendLiteral(b, literal); err != nil {
		return nil, err
	}
	return b.NewArray(), nil
}

func appendLiteral(b array.Builder, literal string) error {
	switch b.(type) {
	case *array.StructBuilder, *array.ListBuilder, *array.MapBuilder:
		v, err := decode(literal)
		if err != nil {
			return err
		}
		return appendValue(b, v)
	}
	return appendScalar(b, literal)
}

func decode(literal string) (v any, err error) {
	d := json.NewDecoder(strings.NewReader(literal))
	d.UseNumber()
	if err = d.Decode(&v); err == nil && !errors.Is(d.Decode(new(any)), io.EOF) {
		err = errors.New("text after the end")
	}
	if err != nil {
		return nil, fmt.Errorf("%q is no JSON: %w", literal, err)
	}
	return v, nil
}

// appendValue appends decoded JSON.
func appendValue(b array.Builder, v any) error {
	if v == nil {
		b.AppendNull()
		return nil
	}
	switch b := b.(type) {
	case *array.StructBuilder:
		return appendStruct(b, v)
	case *array.MapBuilder:
		return appendMap(b, v)
	case *array.ListBuilder:
		return appendList(b, v)
	}
	switch v := v.(type) {
	case string:
		return appendScalar(b, v)
	case json.Number:
		return appendScalar(b, v.String())
	case bool:
		return appendScalar(b, strconv.FormatBool(v))
	}
	return fmt.Errorf("an object or array is no %s", b.Type())
}

func appendStruct(b *array.StructBuilder, v any) error {
	members, ok := v.(map[string]any)
	if !ok {
		return errors.New("a struct is an object")
	}
	fields := b.Type().(*arrow.StructType)
	for name := range members {
		if _, ok := fields.FieldIdx(name); !ok {
			return fmt.Errorf("the struct has no field %s", name)
		}
	}
	b.Append(true)
	for i, f := range fields.Fields() {
		if err := appendValue(b.FieldBuilder(i), members[f.Name]); err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	return nil
}

func appendList(b *array.ListBuilder, v any) error {
	elements, ok := v.([]any)
	if !ok {
		return errors.New("a list is an array")
	}
	b.Append(true)
	for i, e := range elements {
		if err := appendValue(b.ValueBuilder(), e); err != nil {
			return fmt.Errorf("[%d]: %w", i, err)
		}
	}
	return nil
}

func appendMap(b *array.MapBuilder, v any) error {
	var pairs []any
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			pairs = append(pairs, []any{key, value})
		}
	case []any:
		pairs = v
	default:
		return errors.New("a map is an object or an array of pairs")
	}
	b.Append(true)
	for i, p := range pairs {
		pair, ok := p.([]any)
		if !ok || len(pair) != 2 || pair[0] == nil {
			return fmt.Errorf("entry %d of the map is no [key, value]", i)
		}
		if err := appendValue(b.KeyBuilder(), pair[0]); err != nil {
			return fmt.Errorf("key: %w", err)
		}
		if err := appendValue(b.ItemBuilder(), pair[1]); err != nil {
			return fmt.Errorf("value: %w", err)
		}
	}
	return nil
}

// appendScalar does itself what arrow's own parsers round, or read in another form.
func appendScalar(b array.Builder, text string) error {
	switch b := b.(type) {
	case *array.StringBuilder:
		b.Append(text)
	case *array.BinaryBuilder:
		v, err := hex.DecodeString(text)
		if err != nil {
			return fmt.Errorf("%q is no hex text", text)
		}
		b.Append(v)
	case *array.FixedSizeBinaryBuilder:
		v, err := hex.DecodeString(text)
		if width := b.Type().(*arrow.FixedSizeBinaryType).ByteWidth; err != nil || len(v) != width {
			return fmt.Errorf("%q is no hex text of %d bytes", text, width)
		}
		b.Append(v)
	case *array.Decimal128Builder:
		v, err := parseDecimal(text, b.Type().(*arrow.Decimal128Type))
		if err != nil {
			return err
		}
		b.Append(v)
	case *array.TimestampBuilder:
		v, err := parseTimestamp(text, b.Type().(*arrow.TimestampType))
		if err != nil {
			return err
		}
		b.Append(v)
	case *array.Time64Builder:
		at, err := time.Parse("15:04:05.999999999", text)
		if err != nil || at.Nanosecond()%1000 != 0 {
			return fmt.Errorf("%q is no time with microseconds", text)
		}
		b.Append(arrow.Time64(at.Sub(time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)).Microseconds()))
	case *array.BooleanBuilder, *array.Int32Builder, *array.Int64Builder, *array.Float32Builder, *array.Float64Builder, *array.Date32Builder, *extensions.UUIDBuilder:
		if text == array.NullValueStr { // which arrow takes for NULL
			return fmt.Errorf("%q is no value", text)
		}
		return b.AppendValueFromString(text)
	default:
		return fmt.Errorf("a column of type %s holds NULL only", b.Type())
	}
	return nil
}

// parseTimestamp takes an offset only where the type has a zone; without one it is UTC.
func parseTimestamp(literal string, t *arrow.TimestampType) (arrow.Timestamp, error) {
	layouts := []string{"2006-01-02T15:04:05.999999999"}
	if t.TimeZone != "" {
		layouts = append(layouts, time.RFC3339Nano)
	}
	for _, layout := range layouts {
		at, err := time.Parse(layout, strings.Replace(literal, " ", "T", 1))
		if err != nil {
			continue
		}
		if v := at.UnixNano(); t.Unit == arrow.Nanosecond && time.Unix(0, v).Equal(at) {
			return arrow.Timestamp(v), nil
		}
		if t.Unit == arrow.Microsecond && at.Nanosecond()%1000 == 0 {
			return arrow.Timestamp(at.UnixMicro()), nil
		}
		return 0, fmt.Errorf("%q does not fit %s", literal, t)
	}
	return 0, fmt.Errorf("%q is no timestamp", literal)
}

// parseDecimal is exact, where arrow's own goes through a float.
func parseDecimal(literal string, t *arrow.Decimal128Type) (decimal128.Num, error) {
	r, ok := new(big.Rat).SetString(literal)
	if !ok {
		return decimal128.Num{}, fmt.Errorf("%q is no decimal", literal)
	}
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(t.Scale)), nil)
	if r.Mul(r, new(big.Rat).SetInt(scale)); !r.IsInt() || r.Num().BitLen() > 127 || !decimal128.FromBigInt(r.Num()).FitsInPrecision(t.Precision) {
		return decimal128.Num{}, fmt.Errorf("%q does not fit %s", literal, t)
	}
	return decimal128.FromBigInt(r.Num()), nil
}

// quote writes a JSON string with the characters as they are.
func quote(b []byte, text string) []byte {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a string always encodes
	return append(b, bytes.TrimSuffix(out.Bytes(), []byte("\n"))...)
}
