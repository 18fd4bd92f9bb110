package coerce

import (
	"errors"
	"fmt"
	"math"

	"github.com/apache/iceberg-go"
	"github.com/frazil/frazil/internal/rows"
	"github.com/frazil/frazil/internal/wire"
)

// parser reads a value, which is neither absent nor null, into an empty cell.
type parser func(v wire.Value, c *rows.Cell) error

// parserOf is the parser of a type. It fails only for names inside a type that fold alike.
func parserOf(t iceberg.Type, o options) (parser, error) {
	switch t := t.(type) {
	case *iceberg.StructType:
		return newStructure(t, o)
	case *iceberg.ListType:
		return newList(t, o)
	case *iceberg.MapType:
		return newDictionary(t, o)
	}
	if isTimed(t) {
		return temporalParser(t, o), nil
	}
	return scalarParser(t, o), nil
}

func scalarParser(t iceberg.Type, o options) parser {
	switch t := t.(type) {
	case iceberg.BooleanType:
		return parseBool
	case iceberg.Int32Type:
		return (&integer{min: math.MinInt32, max: math.MaxInt32, name: "int", encoding: o.decimals, unsigned: o.unsigned}).parse
	case iceberg.Int64Type:
		return (&integer{min: math.MinInt64, max: math.MaxInt64, name: "long", encoding: o.decimals, unsigned: o.unsigned}).parse
	case iceberg.Float32Type:
		return parseFloat
	case iceberg.Float64Type:
		return parseDouble
	case iceberg.DecimalType:
		return (&decimal{t.Precision(), t.Scale(), o}).parse
	case iceberg.StringType:
		return parseString
	case iceberg.UUIDType:
		return id{o.scratch}.parse
	case iceberg.FixedType:
		return blob{t.String(), t.Len(), o}.parse
	case iceberg.BinaryType:
		return blob{"binary", -1, o}.parse
	case iceberg.UnknownType:
		return parseUnknown
	}
	panic("coerce: no parser for " + t.String()) // rows.NewSchema lets no other type in
}

func temporalParser(t iceberg.Type, o options) parser {
	switch t.(type) {
	case iceberg.DateType:
		return (&temporal{kind: dates, options: o}).parse
	case iceberg.TimeType:
		return (&temporal{kind: times, options: o}).parse
	case iceberg.TimestampType:
		return (&temporal{kind: micros, options: o}).parse
	case iceberg.TimestampTzType:
		return (&temporal{kind: micros, zoned: true, options: o}).parse
	case iceberg.TimestampNsType:
		return (&temporal{kind: nanos, options: o}).parse
	default:
		return (&temporal{kind: nanos, zoned: true, options: o}).parse
	}
}

// wrongKind is the refusal of a value whose JSON kind has no meaning for the column.
func wrongKind(v wire.Value, want string) error {
	return fmt.Errorf("a value of kind %s does not fit %s", v.Kind(), want)
}

// parseUnknown refuses whatever is there: a column of type unknown is always NULL.
func parseUnknown(v wire.Value, _ *rows.Cell) error {
	return wrongKind(v, "unknown, which is always NULL")
}

// parseBool takes true and false, the texts of both, and the 0 and 1 that MySQL has for them.
func parseBool(v wire.Value, c *rows.Cell) error {
	switch v.Kind() {
	case wire.Bool:
		if v.Bool() {
			c.Int = 1
		}
		return nil
	case wire.Number, wire.Text:
		switch string(v.Text()) {
		case "1", "true":
			c.Int = 1
			return nil
		case "0", "false":
			return nil
		}
		return errors.New("only true, false, 1 and 0 fit boolean")
	}
	return wrongKind(v, "boolean")
}

// parseString keeps texts as they are; numbers, booleans and nested values as the JSON text that was sent. A
// text that stands for bytes is refused: its characters are an encoding, not the value.
func parseString(v wire.Value, c *rows.Cell) error {
	if t := v.Type(); t != nil && t.Kind == "bytes" {
		return errors.New("bytes do not fit string")
	}
	if v.Kind() == wire.Text {
		c.Bytes = v.Text()
		return nil
	}
	c.Bytes = v.Raw()
	return nil
}
