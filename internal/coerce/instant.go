package coerce

import "time"

// instant is a point in time, of a wall clock where there is no zone, or of a day.
type instant struct {
	sec  int64 // since 1970, or since midnight
	nano int64 // of the second

	finer     bool // it has fractions of a nanosecond
	infinite  int  // negative: before all others, positive: after
	overflown bool // it is no moment of which the source could have told
}

// since1970 reads units of which a second has so many.
func since1970(n, perSecond int64) instant {
	sec, rest := floor(n, perSecond)
	return instant{sec: sec, nano: rest * (1_000_000_000 / perSecond)}
}

// floor divides towards the past.
func floor(n, by int64) (quotient, rest int64) {
	quotient, rest = n/by, n%by
	if rest < 0 {
		quotient, rest = quotient-1, rest+by
	}
	return quotient, rest
}

// count is the instant in units of so many nanoseconds, of which it has to have no more than 64 bits hold.
func (at instant) count(nanos int64) int64 {
	if nanos > 1_000_000_000 {
		n, _ := floor(at.sec, nanos/1_000_000_000)
		return n
	}
	return at.sec*(1_000_000_000/nanos) + at.nano/nanos
}

// whole reports whether it is a whole number of units of so many nanoseconds.
func (at instant) whole(nanos int64) bool {
	if nanos > 1_000_000_000 {
		return at.sec%(nanos/1_000_000_000) == 0 && at.nano == 0 && !at.finer
	}
	return at.nano%nanos == 0 && !at.finer
}

// outside is negative before the limits, positive behind them, else 0.
func (at instant) outside(limit [2]instant) int {
	switch {
	case at.before(limit[0]):
		return -1
	case limit[1].before(at):
		return 1
	}
	return 0
}

func (at instant) before(o instant) bool {
	return at.sec < o.sec || at.sec == o.sec && at.nano < o.nano
}

// PostgreSQL's infinities, in the integers that Debezium has for them; in dates both lie far in the past.
var infinities = map[string]map[int64]int{
	"d":  {-2_147_472_692: 1, -2_147_472_691: -1},
	"ms": {9_223_372_036_825_200: 1, -9_223_372_036_832_400: -1},
	"us": {9_223_372_036_825_200_000: 1, -9_223_372_036_832_400_000: -1},
	"ns": {1<<63 - 1: 1, -1 << 63: -1},
}

// oldest is the second before which no source reaches: PostgreSQL begins with the year 4714 BC.
const oldest = -210_866_803_200

// fromInteger reads units: s, ms, us, ns, or d for days.
func fromInteger(n int64, unit string) (at instant) {
	switch unit {
	case "d":
		at.sec = max(-1<<40, min(n, 1<<40)) * day
	case "s":
		at.sec = n
	case "ms":
		at = since1970(n, 1000)
	case "us":
		at = since1970(n, 1_000_000)
	case "ns":
		at = since1970(n, 1_000_000_000)
	}
	if unit == "ns" || at.outside(years) != 0 {
		at.infinite = infinities[unit][n]
		at.overflown = at.infinite == 0 && at.sec < oldest
	}
	return at
}

// inZone is when the wall clock of a zone shows what a clock in UTC shows at sec. A time that is there twice is the first
// of both, one that is skipped is as much later as was skipped: the offset of before the change counts, as in
// PostgreSQL and Java.
func inZone(sec int64, zone *time.Location) int64 {
	offset := func(sec int64) int64 {
		_, o := time.Unix(sec, 0).In(zone).Zone()
		return int64(o)
	}
	before, after := offset(sec-day), offset(sec+day)
	if offset(sec-before) != before && offset(sec-after) == after {
		return sec - after
	}
	return sec - before
}
