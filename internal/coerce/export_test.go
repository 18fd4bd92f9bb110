package coerce

// DayOf is the calendar.
var DayOf = dayOf

// ReadPlain and ReadAny read a timestamp in two ways; ok is false of what the first does not know, or the second refuses.
func ReadPlain(s []byte) (at, zone any, ok bool) { return readPlain(s) }

// ReadAny is the other way.
func ReadAny(s []byte) (at, zone any, ok bool) {
	at, zone, err := readAny(s)
	return at, zone, err == nil
}
