package coerce_test

import (
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
