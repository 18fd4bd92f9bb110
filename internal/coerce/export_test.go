package coerce

// DayOf is the calendar.
var DayOf = dayOf
