package coerce_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/frazil/frazil/internal/coerce"
)

// The days of four centuries, which then begin anew, and of the ends of what is read.
func TestDaysAreThoseOfTheCalendar(t *testing.T) {
	t.Parallel()
	for _, years := range [][2]int{{1799, 2204}, {-801, 5}, {9998, 10_001}, {-999_999_999, -999_999_997}, {999_999_997, 999_999_999}} {
		for year := years[0]; year <= years[1]; year++ {
			for month := range 14 {
				for dom := range 33 {
					at := time.Date(year, time.Month(month), dom, 0, 0, 0, 0, time.UTC)
					exists := at.Year() == year && int(at.Month()) == month && at.Day() == dom
					days, ok := coerce.DayOf(year, month, dom)
					if ok != exists || ok && days*24*60*60 != at.Unix() {
						t.Fatalf("%d-%d-%d: got day %d, %t", year, month, dom, days, ok)
					}
				}
			}
		}
	}
}

// A plain timestamp is what it is to the reader of all forms, and timestamps that are nearly plain are not taken for such.
func TestPlainTimestampsAreReadAsAnyOther(t *testing.T) {
	t.Parallel()
	plain := []string{
		"2025-03-28T10:59:00.000001Z", "2025-03-28 10:59:00", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999999", "2024-02-29T00:00:00.1Z", "1969-12-31T23:59:59.123456789Z",
		"0000-12-31T23:59:59Z", "2025-02-29T00:00:00Z", "2025-03-28T10:59:00.0000000001Z", "2025-03-28T24:00:00Z",
	}
	const others = "0123456789-:.TZ +/;@\x00"
	random := rand.New(rand.NewPCG(1, 2))
	read := 0
	for i := range 200_000 {
		s := []byte(plain[i%len(plain)])
		for range i % 4 {
			s[random.IntN(len(s))] = others[random.IntN(len(others))]
		}
		s = s[:len(s)-random.IntN(3)*random.IntN(8)]
		at, zone, ok := coerce.ReadPlain(s)
		if !ok {
			continue
		}
		read++
		if wantAt, wantZone, wantOK := coerce.ReadAny(s); !wantOK || at != wantAt || zone != wantZone {
			t.Fatalf("%q: got %v, %v, want %v, %v, %t", s, at, zone, wantAt, wantZone, wantOK)
		}
	}
	if read < 20_000 {
		t.Errorf("only %d were plain", read)
	}
}
