package lease_test

import (
	"errors"
	"testing"
	"time"

	"github.com/frazil/frazil/internal/lease"
)

func claim(holder string, now time.Time, topics ...string) *lease.Claim {
	return lease.New("main", topics, holder, time.Minute, func() time.Time { return now })
}

func TestALeaseIsRespectedWhileItLasts(t *testing.T) {
	t.Parallel()
	began := time.UnixMilli(1_700_000_000_000)
	first := claim("a", began, "x", "y")
	properties := map[string]string{first.Property: first.Text()}
	for name, test := range map[string]struct {
		other *lease.Claim
		taken bool
	}{
		"at once":                    {claim("b", began, "x", "y"), true},
		"until it ends":              {claim("b", began.Add(time.Minute-time.Millisecond), "y", "x", "x"), true},
		"not when it is over":        {claim("b", began.Add(time.Minute), "x", "y"), false},
		"not by its holder":          {claim("a", began, "x", "y"), false},
		"not for other topics":       {claim("b", began, "x"), false},
		"by a clock that is late":    {claim("b", began.Add(-time.Minute), "x", "y"), true},
		"not by one that is a day":   {claim("b", began.Add(-24*time.Hour), "x", "y"), false},
		"not for topics of one name": {claim("b", began, "x\ny", "z"), false},
	} {
		t.Run(name, func(t *testing.T) {
			err := test.other.Free(properties)
			var taken *lease.Taken
			if errors.As(err, &taken) != test.taken || test.taken && (taken.Holder != "a" || !taken.Until.Equal(began.Add(time.Minute))) {
				t.Errorf("got %v", err)
			}
		})
	}
	if !first.Held(properties) || claim("b", began, "x", "y").Held(properties) || first.Held(nil) {
		t.Error("it is another one's")
	}
}

// It is not to be waited for what nobody can tell the end of.
func TestWhatIsNoLeaseIsIgnored(t *testing.T) {
	t.Parallel()
	c := claim("a", time.UnixMilli(1000), "x")
	for _, text := range []string{"", "x", "{}", "[]", `{"holder":7}`, `{"holder":"b"}`, `{"holder":"b","until":2000}`[:20],
		`{"holder":"b","from":0,"until":9000000000}`, `{"holder":"b","from":2000,"until":1500}`} {
		if err := c.Free(map[string]string{c.Property: text}); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}
