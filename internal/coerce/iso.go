package coerce

import "errors"

var (
	errNoTimestamp = errors.New("is no timestamp")
	errNoTime      = errors.New("is no time of day")
)

// zone is how a timestamp's text says where it is.
type zone int

const (
	zoneNone   zone = iota
	zoneUTC         // Z, also on local values of Debezium's isostring
	zoneOffset      // +02:00
)

func readInfinity(s []byte) (instant, bool) {
	switch string(s) {
	case "infinity", "Infinity", "+infinity":
		return instant{infinite: 1}, true
	case "-infinity", "-Infinity":
		return instant{infinite: -1}, true
	}
	return instant{}, false
}

// readTimestamp reads YYYY-MM-DD, T or a blank, HH:MM:SS, a fraction and a zone (all but the date optional
// from the right), in UTC when the zone is there. Years before 1 and after 9999 have a sign and as many digits as they
// need; 0 is the year before 1.
func readTimestamp(s []byte) (at instant, z zone, err error) {
	if at, z, ok := readPlain(s); ok {
		return at, z, nil
	}
	return readAny(s)
}

// readPlain reads the form that most timestamps have: years of four digits, seconds, up to nine digits of a fraction, and Z or
// nothing. It is not ok of another one.
func readPlain(s []byte) (at instant, z zone, ok bool) {
	const whole = len("2006-01-02T15:04:05")
	if len(s) < whole || s[4] != '-' || s[7] != '-' || s[10] != 'T' && s[10] != ' ' || s[13] != ':' || s[16] != ':' {
		return at, 0, false
	}
	century, ok1 := twoDigits(s)
	year, ok2 := twoDigits(s[2:])
	month, ok3 := twoDigits(s[5:])
	dom, ok4 := twoDigits(s[8:])
	hour, ok5 := twoDigits(s[11:])
	minute, ok6 := twoDigits(s[14:])
	second, ok7 := twoDigits(s[17:])
	year += 100 * century
	days, exists := dayOf(year, month, dom)
	nano, rest, ok8 := plainFraction(s[whole:])
	utc := len(rest) == 1 && rest[0] == 'Z'
	if !(ok1 && ok2 && ok3 && ok4 && ok5 && ok6 && ok7 && ok8 && exists) || hour > 23 || minute > 59 || second > 59 || len(rest) > 0 && !utc {
		return at, 0, false
	}
	if utc {
		z = zoneUTC
	}
	return instant{sec: days*day + int64(hour*3600+minute*60+second), nano: nano}, z, true
}

// plainFraction reads a fraction, if there is one, of up to nine digits as nanoseconds.
func plainFraction(s []byte) (nano int64, rest []byte, ok bool) {
	if len(s) == 0 || s[0] != '.' {
		return 0, s, true
	}
	n := 1
	for ; n < len(s) && s[n]-'0' < 10; n++ {
		nano = nano*10 + int64(s[n]-'0')
	}
	if n == 1 || n > 10 {
		return 0, nil, false
	}
	return nano * powers[10-n], s[n:], true
}

// readAny reads timestamps of any form.
func readAny(s []byte) (at instant, z zone, err error) {
	days, s, ok := readDate(s)
	if !ok {
		return at, 0, errNoTimestamp
	}
	clock := len(s) > 0 && (s[0] == 'T' || s[0] == ' ')
	if clock {
		if at, s, err = readClock(s[1:]); err != nil {
			return at, 0, err
		}
	}
	offset, z, ok := readZone(s)
	if !ok {
		return at, 0, errNoTimestamp
	}
	at.sec += days*day - offset
	if at.outside(years) != 0 {
		at.infinite = infinite(at, days, clock)
	}
	return at, z, nil
}

// infinite tells the texts that Debezium writes for PostgreSQL's infinities.
func infinite(at instant, days int64, clock bool) int {
	if !clock {
		return infinities["d"][days]
	}
	if at.nano%1_000_000 != 0 || at.sec > 1<<53 || at.sec < -1<<53 {
		return 0
	}
	return infinities["ms"][at.sec*1000+at.nano/1_000_000]
}

// readDate reads a date as days since 1970.
func readDate(s []byte) (days int64, rest []byte, ok bool) {
	year, s, ok := readYear(s)
	if !ok || len(s) < 6 || s[0] != '-' || s[3] != '-' {
		return 0, nil, false
	}
	month, okM := twoDigits(s[1:])
	dom, okD := twoDigits(s[4:])
	if !okM || !okD {
		return 0, nil, false
	}
	days, ok = dayOf(year, month, dom)
	return days, s[6:], ok
}

// dayOf is a date of the Gregorian calendar, which goes on before it was made, in days since 1970. It is not ok if there is
// no such date.
func dayOf(year, month, dom int) (days int64, ok bool) {
	if month < 1 || month > 12 || dom < 1 || dom > daysIn(year, month) {
		return 0, false
	}
	y, m := int64(year), int64(month-3) // of years that begin in March, so that a leap day is the last
	if m < 0 {
		y, m = y-1, m+12
	}
	const in400 = 400*365 + 97
	centuries, y := floor(y, 400)
	return centuries*in400 + y*365 + y/4 - y/100 + (m*153+2)/5 + int64(dom-1) - 719_468, true
}

func daysIn(year, month int) int {
	switch {
	case month == 2 && year%4 == 0 && (year%100 != 0 || year%400 == 0):
		return 29
	case month == 2:
		return 28
	case month == 4 || month == 6 || month == 9 || month == 11:
		return 30
	}
	return 31
}

// readYear reads four digits, or a sign and four to nine.
func readYear(s []byte) (year int, rest []byte, ok bool) {
	signed := len(s) > 0 && (s[0] == '-' || s[0] == '+')
	n := 0
	if signed {
		n++
	}
	from := n
	for ; n < len(s) && s[n] >= '0' && s[n] <= '9'; n++ {
		if n-from == 9 {
			return 0, nil, false
		}
		year = year*10 + int(s[n]-'0')
	}
	if n-from < 4 || n-from > 4 && !signed {
		return 0, nil, false
	}
	if s[0] == '-' {
		year = -year
	}
	return year, s[n:], true
}

// readTimeOfDay reads HH:MM:SS and a fraction, behind which UTC may stand but no other zone: a time of day has none.
func readTimeOfDay(s []byte) (instant, error) {
	at, s, err := readClock(s)
	if err != nil {
		return at, err
	}
	offset, _, ok := readZone(s)
	switch {
	case !ok:
		return at, errNoTime
	case offset != 0:
		return at, errors.New("a text with an offset does not fit time, which has no zone")
	}
	return at, nil
}

// readClock reads HH:MM, optionally :SS and a fraction.
func readClock(s []byte) (at instant, rest []byte, err error) {
	if len(s) < 5 || s[2] != ':' {
		return at, nil, errNoTime
	}
	hour, okH := twoDigits(s)
	minute, okM := twoDigits(s[3:])
	second, okS := 0, true
	s = s[5:]
	seconds := len(s) > 0 && s[0] == ':'
	if seconds {
		if second, okS = twoDigits(s[1:]); okS {
			s = s[3:]
		}
	}
	if !okH || !okM || !okS || hour > 23 || minute > 59 || second > 59 {
		return at, nil, errNoTime
	}
	at.sec = int64(hour*3600 + minute*60 + second)
	if seconds && len(s) > 0 && s[0] == '.' {
		s, err = at.readFraction(s[1:])
	}
	return at, s, err
}

func (at *instant) readFraction(s []byte) (rest []byte, err error) {
	i, unit := 0, int64(100_000_000)
	for ; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
		at.finer = at.finer || unit == 0 && s[i] != '0'
		at.nano += int64(s[i]-'0') * unit
		unit /= 10
	}
	if i == 0 {
		return nil, errNoTime
	}
	return s[i:], nil
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
	return sign * int64(hour*60+minute) * 60, zoneOffset, okH && okM && hour < 24 && minute < 60
}

func twoDigits(s []byte) (int, bool) {
	if len(s) < 2 || s[0] < '0' || s[0] > '9' || s[1] < '0' || s[1] > '9' {
		return 0, false
	}
	return int(s[0]-'0')*10 + int(s[1]-'0'), true
}
