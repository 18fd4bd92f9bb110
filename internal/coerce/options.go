package coerce

import (
	"fmt"
	"time"

	"github.com/apache/iceberg-go"
	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/rows"
)

// options is what a route says of the encodings of one column, and of all that is nested in it.
type options struct {
	unit     string // of integers that are timestamps
	decimals string
	binary   string
	unsigned bool
	floor    bool
	special  config.Rule
	zone     *time.Location // nil: UTC
	ignore   bool           // members that a struct does not have
	fold     bool
	scratch  *scratch
}

// newOptions are those of a route's columns of which it says nothing.
func newOptions(r config.Route, s *scratch) (options, error) {
	o := options{
		unit: r.TimestampUnit, decimals: r.DecimalEncoding, binary: r.BinaryEncoding, special: r.SpecialTemporals,
		ignore: r.UnknownColumns == config.Ignore, fold: r.Names == "fold_case", scratch: s,
	}
	if r.TimeZone == "" || r.TimeZone == "UTC" {
		return o, nil
	}
	zone, err := time.LoadLocation(r.TimeZone)
	if err != nil {
		return o, fmt.Errorf("time_zone: %w", err)
	}
	o.zone = zone
	return o, nil
}

// of lays what the route says of one column over the options. What would have no effect on the column is an error.
func (o options) of(column rows.Column, c config.Column) (options, error) {
	for _, key := range []struct {
		name string
		set  bool
		is   func(iceberg.Type) bool
	}{
		{"unsigned", c.Unsigned, isExact}, {"timestamp_unit", c.TimestampUnit != "", isTimed},
		{"fractions", c.Floor, func(t iceberg.Type) bool { return isTimed(t) || isDecimal(t) }},
	} {
		if key.set && !holds(column.Type, key.is) {
			return o, misfit(column.Name, "the route's %s has no meaning for the type %s", key.name, column.Type)
		}
	}
	o.unsigned, o.floor = c.Unsigned, c.Floor
	if c.TimestampUnit != "" {
		o.unit = c.TimestampUnit
	}
	return o, nil
}

// holds reports whether t, or a type nested in it, is of a kind.
func holds(t iceberg.Type, is func(iceberg.Type) bool) bool {
	nested, ok := t.(iceberg.NestedType)
	if !ok {
		return is(t)
	}
	for _, f := range nested.Fields() {
		if holds(f.Type, is) {
			return true
		}
	}
	return false
}

func isDecimal(t iceberg.Type) bool {
	_, ok := t.(iceberg.DecimalType)
	return ok
}

func isExact(t iceberg.Type) bool {
	switch t.(type) {
	case iceberg.Int32Type, iceberg.Int64Type, iceberg.DecimalType:
		return true
	}
	return false
}

func isTimed(t iceberg.Type) bool {
	switch t.(type) {
	case iceberg.DateType, iceberg.TimeType, iceberg.TimestampType, iceberg.TimestampTzType, iceberg.TimestampNsType, iceberg.TimestampTzNsType:
		return true
	}
	return false
}
