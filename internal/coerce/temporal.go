package coerce

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/frazil/frazil/internal/rows"
	"github.com/frazil/frazil/internal/wire"
)

// temporal parses dates and timestamps. Integers take their unit from the writer's type where it sent one, else from
// the route's timestamp_unit; without either an integer is no timestamp. Texts are ISO 8601. Only the years 0001
// to 9999 fit: beyond them lie the values that producers send for infinity and for overflow.
type temporal struct {
	unit  string
	zoned bool
}

const (
	microsPerDay = 24 * 60 * 60 * 1_000_000
	minDay       = -719_162 // 0001-01-01
	maxDay       = 2_932_896
)

var (
	errRange = errors.New("lies outside the years 0001 to 9999")
	errFiner = errors.New("is finer than microseconds")
)

// unitOf says in what the writer's type counts: a timestamp unit, "d" for days, or "" when it does not say. One that
// says something else (a time of day, a year) is an error.
func unitOf(t *wire.Type) (string, error) {
	if t == nil {
		return "", nil
	}
	switch t.Name {
	case "":
		return "", nil
	case "io.debezium.time.Date", "org.apache.kafka.connect.data.Date":
		return "d", nil
	case "io.debezium.time.Timestamp", "org.apache.kafka.connect.data.Timestamp":
		return "ms", nil
	case "io.debezium.time.MicroTimestamp":
		return "us", nil
	case "io.debezium.time.NanoTimestamp":
		return "ns", nil
	}
	return "", fmt.Errorf("an integer of type %s is neither date nor timestamp", t.Name)
}

func (t temporal) routeUnit() (string, error) {
	if t.unit == "auto" {
		return "", errors.New("an integer without a unit is no timestamp (timestamp_unit names it: s, ms, us or ns)")
	}
	return t.unit, nil
}

func (t temporal) parseDate(v wire.Value, c *rows.Cell) error {
	switch v.Kind() {
	case wire.Number:
		n, unit, err := numberAndUnit(v)
		if err != nil {
			return err
		}
		micros, err := toMicros(n, cmp.Or(unit, "d"))
		if err != nil {
			return err
		}
		return setDate(micros, c)
	case wire.Text:
		s := v.Text()
		if len(s) == 10 || len(s) == 11 && s[10] == 'Z' {
			day, ok := readDate(s[:10])
			if !ok {
				return errors.New("is no date")
			}
			c.Int = day
			return nil
		}
		micros, zone, err := readTimestamp(s)
		if err != nil {
			return err
		}
		if zone == zoneOffset {
			return errors.New("a text with an offset does not fit date, which has no zone")
		}
		return setDate(micros, c)
	}
	return wrongKind(v, "date")
}

// numberAndUnit reads an integer and what the writer's type says that it counts.
func numberAndUnit(v wire.Value) (n int64, unit string, err error) {
	var c rows.Cell
	if err := anyLong.parse(v, &c); err != nil {
		return 0, "", err
	}
	unit, err = unitOf(v.Type())
	return c.Int, unit, err
}

func setDate(micros int64, c *rows.Cell) error {
	if micros%microsPerDay != 0 {
		return errors.New("a time other than midnight does not fit date")
	}
	c.Int = micros / microsPerDay
	return nil
}

func (t temporal) parseTimestamp(v wire.Value, c *rows.Cell) error {
	switch v.Kind() {
	case wire.Number:
		n, unit, err := numberAndUnit(v)
		if err == nil && unit == "" {
			unit, err = t.routeUnit()
		}
		if err != nil {
			return err
		}
		c.Int, err = toMicros(n, unit)
		return err
	case wire.Text:
		micros, zone, err := readTimestamp(v.Text())
		if err != nil {
			return err
		}
		if zone == zoneOffset && !t.zoned {
			return errors.New("a text with an offset does not fit timestamp, which has no zone")
		}
		c.Int = micros
		return nil
	}
	return wrongKind(v, "timestamp")
}

var anyLong = integer{min: math.MinInt64, max: math.MaxInt64, name: "long"}

func toMicros(n int64, unit string) (int64, error) {
	factor := int64(1)
	switch unit {
	case "d":
		factor = microsPerDay
	case "s":
		factor = 1_000_000
	case "ms":
		factor = 1000
	case "ns":
		if n%1000 != 0 {
			return 0, errFiner
		}
		n /= 1000
	}
	if n < minDay*microsPerDay/factor || n >= (maxDay+1)*microsPerDay/factor {
		return 0, errRange
	}
	return n * factor, nil
}

// zone is how a timestamp's text says where it is.
type zone int

const (
	zoneNone   zone = iota
	zoneUTC         // Z, also on local values of Debezium's isostring
	zoneOffset      // +02:00
)

// readTimestamp reads YYYY-MM-DD, T or a blank, HH:MM:SS, a fraction and a zone (all but the date optional
// from the right) as microseconds since 1970, in UTC when the zone is there.
func readTimestamp(s []byte) (micros int64, z zone, err error) {
	bad := errors.New("is no timestamp")
	if len(s) < 10 {
		return 0, 0, bad
	}
	day, ok := readDate(s[:10])
	if !ok {
		return 0, 0, bad
	}
	s = s[10:]
	if len(s) > 0 && (s[0] == 'T' || s[0] == ' ') {
		var clock int64
		if clock, s, err = readClock(s[1:]); err != nil {
			return 0, 0, err
		}
		micros = clock
	}
	offset, z, ok := readZone(s)
	if !ok {
		return 0, 0, bad
	}
	micros += day*microsPerDay - offset
	if micros < minDay*microsPerDay || micros >= (maxDay+1)*microsPerDay {
		return 0, 0, errRange
	}
	return micros, z, nil
}

func readDate(s []byte) (day int64, ok bool) {
	year, okY := twoDigits(s[0:])
	rest, okR := twoDigits(s[2:])
	month, okM := twoDigits(s[5:])
	dom, okD := twoDigits(s[8:])
	if !okY || !okR || !okM || !okD || s[4] != '-' || s[7] != '-' {
		return 0, false
	}
	year = year*100 + rest
	at := time.Date(year, time.Month(month), dom, 0, 0, 0, 0, time.UTC)
	if year == 0 || at.Year() != year || int(at.Month()) != month || at.Day() != dom {
		return 0, false
	}
	return at.Unix() / (24 * 60 * 60), true
}

// readClock reads HH:MM, optionally :SS and a fraction, as microseconds of the day.
func readClock(s []byte) (micros int64, rest []byte, err error) {
	bad := errors.New("is no time of day")
	if len(s) < 5 || s[2] != ':' {
		return 0, nil, bad
	}
	hour, okH := twoDigits(s)
	minute, okM := twoDigits(s[3:])
	second, okS := 0, true
	s = s[5:]
	seconds := len(s) > 0 && s[0] == ':'
	if seconds {
		second, okS = twoDigits(s[1:])
		if okS {
			s = s[3:]
		}
	}
	if !okH || !okM || !okS || hour > 23 || minute > 59 || second > 59 {
		return 0, nil, bad
	}
	micros = int64(hour*3600+minute*60+second) * 1_000_000
	if !seconds || len(s) == 0 || s[0] != '.' {
		return micros, s, nil
	}
	fraction, s, err := readFraction(s[1:])
	return micros + fraction, s, err
}

func readFraction(s []byte) (micros int64, rest []byte, err error) {
	i, unit := 0, int64(100_000)
	for ; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
		if unit == 0 && s[i] != '0' {
			return 0, nil, errFiner
		}
		micros += int64(s[i]-'0') * unit
		unit /= 10
	}
	if i == 0 {
		return 0, nil, errors.New("is no time of day")
	}
	return micros, s[i:], nil
}

// readZone reads what stands behind the time: nothing, Z, or an offset as +HH, +HHMM or +HH:MM.
func readZone(s []byte) (offset int64, z zone, ok bool) {
	switch {
	case len(s) == 0:
		return 0, zoneNone, true
	case len(s) == 1 && s[0] == 'Z':
		return 0, zoneUTC, true
	case len(s) < 3 || s[0] != '+' && s[0] != '-':
		return 0, 0, false
	}
	sign := int64(1)
	if s[0] == '-' {
		sign = -1
	}
	hour, okH := twoDigits(s[1:])
	rest := s[3:]
	if len(rest) == 3 && rest[0] == ':' {
		rest = rest[1:]
	}
	minute, okM := 0, len(rest) == 0
	if len(rest) == 2 {
		minute, okM = twoDigits(rest)
	}
	return sign * int64(hour*60+minute) * 60_000_000, zoneOffset, okH && okM && hour < 24 && minute < 60
}

func twoDigits(s []byte) (int, bool) {
	if len(s) < 2 || s[0] < '0' || s[0] > '9' || s[1] < '0' || s[1] > '9' {
		return 0, false
	}
	return int(s[0]-'0')*10 + int(s[1]-'0'), true
}
