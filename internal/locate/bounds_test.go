package locate

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/iceberg-go"
	"github.com/frazil/frazil/internal/rows"
)

func TestBoundsMeetTheKeysBetweenThem(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 5))
	begins := []string{"", "a", "abcdefgh", "abcdefgi", "m", "mmmmmmmm", "z", "\xff"}
	draw := func(begins []string) []byte { return fmt.Appendf(nil, "%s%c", begins[r.IntN(len(begins))], r.IntN(60)) }
	met := map[bool]int{}
	for range 4000 {
		columns, from := 1+r.IntN(2), r.IntN(4) // some keys leave room at the ends
		keys := rows.NewKeys(columns)
		for range 1 + r.IntN(200) {
			var p rows.Parts
			for range columns {
				p.Cell(iceberg.PrimitiveTypes.String, &rows.Cell{Bytes: draw(begins[from : from+4])})
			}
			keys.Intern(&p)
		}
		lower, upper := make([][]byte, columns), make([][]byte, columns)
		for i := range columns {
			if r.IntN(5) > 0 {
				lower[i] = draw(begins)
				upper[i] = append(bytes.Clone(lower[i]), 1)
			}
			switch r.IntN(6) {
			case 0:
				upper[i] = draw(begins)
			case 1:
				upper[i] = nil
			}
		}
		want := false
		for k := range rows.Key(keys.Len()) {
			inside := true
			for i := range columns {
				part := keys.Part(k, i)
				inside = inside && (lower[i] == nil || bytes.Compare(lower[i], part) <= 0) && (upper[i] == nil || bytes.Compare(part, upper[i]) <= 0)
			}
			want = want || inside
		}
		met[want]++
		if got := newRanges(keys, columns).meets(lower, upper); got != want {
			t.Fatalf("%d keys, %q to %q: %t, want %t", keys.Len(), lower, upper, got, want)
		}
	}
	if met[true] < 500 || met[false] < 500 {
		t.Error("seeds make bounds of one kind", met)
	}
}
