package coerce

import (
	"errors"
	"fmt"
	"math"

	"github.com/apache/iceberg-go"
	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/rows"
	"github.com/frazil/frazil/internal/wire"
)

func parserOf(t iceberg.Type, r config.Route) parser {
	switch t := t.(type) {
	case iceberg.BooleanType:
		return parseBool
	case iceberg.Int32Type:
		return integer{min: math.MinInt32, max: math.MaxInt32, name: "int", encoding: r.DecimalEncoding}.parse
	case iceberg.Int64Type:
		return integer{min: math.MinInt64, max: math.MaxInt64, name: "long", encoding: r.DecimalEncoding}.parse
	case iceberg.Float64Type:
		return parseDouble
	case iceberg.DecimalType:
		return decimal{precision: t.Precision(), scale: t.Scale(), encoding: r.DecimalEncoding}.parse
	case iceberg.DateType:
		return temporal{unit: r.TimestampUnit}.parseDate
	case iceberg.TimestampType:
		return temporal{unit: r.TimestampUnit}.parseTimestamp
	case iceberg.TimestampTzType:
		return temporal{unit: r.TimestampUnit, zoned: true}.parseTimestamp
	case iceberg.StringType:
		return parseString
	}
	panic("coerce: no parser for " + t.String()) // rows.NewSchema lets no other type in
}

// wrongKind is the refusal of a value whose JSON kind has no meaning for the column.
func wrongKind(v wire.Value, want string) error {
	return fmt.Errorf("a value of kind %s does not fit %s", v.Kind(), want)
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
