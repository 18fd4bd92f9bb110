package coerce

import (
	"errors"

	"github.com/frazil/frazil/internal/rows"
	"github.com/frazil/frazil/internal/wire"
)

// part is a member of Debezium's structured temporals that is a number.
type part int

const (
	partYear part = iota
	partMonth
	partDay
	partHour
	partMinute
	partSecond
	partNanos
	partOffset
	parts
)

var partNames = map[string]part{
	"year": partYear, "month": partMonth, "day": partDay, "hour": partHour, "minute": partMinute, "second": partSecond,
	"nanos": partNanos, "offsetSeconds": partOffset,
}

// components are such a value's numbers, as far as it has them.
type components struct {
	n        [parts]int64
	has      [parts]bool
	infinite int
	named    bool // it has a zone's name
}

// structured reads Debezium's structured temporals (time.precision.mode=structured): an object of numbers.
func (t *temporal) structured(v wire.Value) (instant, error) {
	p, err := readComponents(v)
	switch {
	case err != nil:
		return instant{}, err
	case t.kind == times && p.has[partYear] || t.kind != times && !p.has[partYear] && p.infinite == 0:
		return instant{}, wrongKind(v, t.typeName())
	case p.infinite != 0:
		return instant{infinite: p.infinite}, nil
	case p.named && !p.has[partOffset]:
		return instant{}, errors.New("a zone without its offset at the time is not supported")
	case p.n[partOffset] != 0 && !t.zoned:
		return instant{}, errors.New("a value with an offset does not fit " + t.typeName() + ", which has no zone")
	}
	return t.compose(p)
}

func (t *temporal) compose(p components) (at instant, err error) {
	n := p.n
	if n[partHour]|n[partMinute]|n[partSecond]|n[partNanos] < 0 || n[partHour] > 23 || n[partMinute] > 59 || n[partSecond] > 59 || n[partNanos] > 999_999_999 {
		return at, errNoTime
	}
	at = instant{sec: n[partHour]*3600 + n[partMinute]*60 + n[partSecond], nano: n[partNanos]}
	if t.kind == times {
		return at, nil
	}
	days, ok := dayOf(int(n[partYear]), int(n[partMonth]), int(n[partDay]))
	if !ok {
		return at, errors.New("is no date") // also the zero dates of MySQL
	}
	at.sec += days*day - n[partOffset]
	if !p.has[partOffset] && t.zoned && t.options.zone != nil {
		at.sec = inZone(at.sec, t.options.zone)
	}
	return at, nil
}

func readComponents(v wire.Value) (p components, err error) {
	for name, m := range v.Members() {
		if m.Kind() == wire.Null {
			continue
		}
		switch string(name) {
		case "precision":
		case "zoneId":
			p.named = true
		case "specialValue":
			switch string(m.Text()) {
			case "POSITIVE_INFINITY":
				p.infinite = 1
			case "NEGATIVE_INFINITY":
				p.infinite = -1
			default:
				return p, errors.New("is special in a way that is not known")
			}
		default:
			if err := p.number(name, m); err != nil {
				return p, err
			}
		}
	}
	return p, nil
}

func (p *components) number(name []byte, m wire.Value) error {
	i, ok := partNames[string(name)]
	if !ok {
		return errors.New("an object that is no structured temporal does not fit")
	}
	var c rows.Cell
	// No component is larger; the limit keeps days and seconds inside 64 bits.
	if (&integer{min: -1_000_000_000, max: 1_000_000_000, name: "a component"}).parse(m, &c) != nil {
		return errors.New("a component of it is no number that it can be")
	}
	p.n[i], p.has[i] = c.Int, true
	return nil
}
