package demo

import "testing"

func TestASnapshotIsToldByWhatItDidToRows(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		summary map[string]string
		want    string
	}{
		{map[string]string{"added-records": "5"}, "5 rows added"},
		{map[string]string{"added-records": "3", "added-position-deletes": "2"}, "3 rows added, 2 deleted by position"},
		{map[string]string{"added-records": "3", "added-equality-deletes": "2"}, "3 rows added, 2 keys deleted by equality"},
		{map[string]string{"added-records": "3", "deleted-records": "4"}, "3 rows added, 4 gone with their files"},
		{map[string]string{"added-records": "0", "total-records": "3"}, "no row touched"},
	} {
		if got := moved(c.summary); got != c.want {
			t.Errorf("%v: %q, want %q", c.summary, got, c.want)
		}
	}
}
