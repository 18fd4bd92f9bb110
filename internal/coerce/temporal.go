package coerce

import (
	"errors"
	"fmt"
	"math"

	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/rows"
	"github.com/frazil/frazil/internal/wire"
)

// temporal parses dates, times of day and timestamps. Integers take their unit from the writer's type where it sent one,
// else from the route's timestamp_unit; without either an integer is a date or nothing. Texts are ISO 8601. What lies
// outside the years 0001 to 9999 (of nanoseconds: outside what 64 bits hold) is special, as the values are that producers
// send for infinity: it is refused, NULL, or the limit nearest to it, by the route's special_temporals.
type temporal struct {
	kind    *kind
	zoned   bool
	options options
}

// kind is what a temporal type counts.
type kind struct {
	name  string // in errors: what a finer value is finer than
	unit  int64  // nanoseconds
	limit [2]instant
}

const day = 24 * 60 * 60

var (
	years = [2]instant{{sec: -719_162 * day}, {sec: 2_932_897*day - 1, nano: 999_999_999}} // 0001-01-01 to 9999-12-31

	dates  = &kind{"days", day * 1_000_000_000, years}
	times  = &kind{"microseconds", 1000, [2]instant{{}, {sec: day - 1, nano: 999_999_999}}}
	micros = &kind{"microseconds", 1000, years}
	nanos  = &kind{"nanoseconds", 1, [2]instant{since1970(math.MinInt64, 1_000_000_000), since1970(math.MaxInt64, 1_000_000_000)}}
)

var (
	errRange    = errors.New("lies outside the years 0001 to 9999 (special_temporals: null or clamp let it in)")
	errNanos    = errors.New("lies outside the years 1677 to 2262, which nanoseconds reach (special_temporals: null or clamp let it in)")
	errInfinite = errors.New("is infinite (special_temporals: null or clamp let it in)")
	errOverflow = errors.New("is beyond what the source can hold: the producer's integer overflowed")
	errDay      = errors.New("lies outside a day, of 00:00:00 to 23:59:59.999999")
	errMidnight = errors.New("a time other than midnight does not fit date")
)

func (t *temporal) parse(v wire.Value, c *rows.Cell) error {
	var at instant
	var err error
	switch v.Kind() {
	case wire.Number:
		at, err = t.number(v)
	case wire.Text:
		at, err = t.text(v)
	case wire.Object:
		at, err = t.structured(v)
	default:
		err = wrongKind(v, t.typeName())
	}
	if err != nil {
		return err
	}
	return t.settle(at, c)
}

func (t *temporal) typeName() string {
	switch t.kind {
	case dates:
		return "date"
	case times:
		return "time"
	}
	return "timestamp"
}

// number reads an integer.
func (t *temporal) number(v wire.Value) (instant, error) {
	var c rows.Cell
	if err := anyLong.parse(v, &c); err != nil {
		return instant{}, err
	}
	unit, err := t.unitOf(v.Type())
	if err != nil {
		return instant{}, err
	}
	return fromInteger(c.Int, unit), nil
}

var anyLong = integer{min: math.MinInt64, max: math.MaxInt64, name: "long"}

// unitOf says in what an integer counts: a timestamp unit, or d for days.
func (t *temporal) unitOf(typ *wire.Type) (string, error) {
	clock := t.kind == times
	if typ != nil && typ.Name != "" {
		unit := dateUnits[typ.Name]
		if clock {
			unit = clockUnits[typ.Name]
		}
		if unit == "" {
			return "", fmt.Errorf("an integer of type %s is no %s", typ.Name, t.typeName())
		}
		return unit, nil
	}
	switch {
	case t.kind == dates:
		return "d", nil
	case t.options.unit == "auto":
		return "", fmt.Errorf("an integer without a unit is no %s (timestamp_unit names it: s, ms, us or ns)", t.typeName())
	}
	return t.options.unit, nil
}

// dateUnits and clockUnits are the writer's types that count something.
var dateUnits = map[string]string{
	"io.debezium.time.Date": "d", "org.apache.kafka.connect.data.Date": "d",
	"io.debezium.time.Timestamp": "ms", "org.apache.kafka.connect.data.Timestamp": "ms",
	"io.debezium.time.MicroTimestamp": "us", "io.debezium.time.NanoTimestamp": "ns",
}

var clockUnits = map[string]string{
	"io.debezium.time.Time": "ms", "org.apache.kafka.connect.data.Time": "ms",
	"io.debezium.time.MicroTime": "us", "io.debezium.time.NanoTime": "ns",
}

// text reads a text.
func (t *temporal) text(v wire.Value) (instant, error) {
	s := v.Text()
	if t.kind == times {
		return readTimeOfDay(s)
	}
	if infinite, ok := readInfinity(s); ok {
		return infinite, nil
	}
	at, zone, err := readTimestamp(s)
	switch {
	case err != nil && t.kind == dates:
		return at, errors.New("is no date")
	case err != nil:
		return at, err
	case zone == zoneOffset && !t.zoned:
		return at, fmt.Errorf("a text with an offset does not fit %s, which has no zone", t.typeName())
	}
	if typ := v.Type(); typ != nil && typ.Name == "io.debezium.time.IsoTimestamp" {
		zone = zoneNone // the Z behind it is only for show
	}
	if zone == zoneNone && t.zoned && t.options.zone != nil {
		at.sec = inZone(at.sec, t.options.zone)
	}
	return at, nil
}

// settle puts what was read into the cell.
func (t *temporal) settle(at instant, c *rows.Cell) error {
	special := at.infinite
	if special == 0 {
		special = at.outside(t.kind.limit)
	}
	if special != 0 {
		return t.special(at, special, c)
	}
	if !at.whole(t.kind.unit) && !t.options.floor {
		if t.kind == dates {
			return errMidnight
		}
		return fmt.Errorf("is finer than %s", t.kind.name)
	}
	c.Int = at.count(t.kind.unit)
	return nil
}

// special settles what lies below (negative) or above all that fits.
func (t *temporal) special(at instant, side int, c *rows.Cell) error {
	switch {
	case t.kind == times:
		return errDay
	case t.options.special == config.Null:
		c.Null = true
		return nil
	case t.options.special == config.Clamp && at.overflown:
		return errOverflow
	case t.options.special == config.Clamp && side < 0:
		c.Int = t.kind.limit[0].count(t.kind.unit)
		return nil
	case t.options.special == config.Clamp:
		c.Int = t.kind.limit[1].count(t.kind.unit)
		return nil
	case at.infinite != 0:
		return errInfinite
	case t.kind == nanos:
		return errNanos
	}
	return errRange
}
