package locate

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestSpreadSortsWhateverTheGuessIsWorth(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{0, 1, 2, 3, 1000} {
		for name, draw := range map[string]func() int{
			"even":   func() int { return r.IntN(10_000) },
			"skewed": func() int { return r.IntN(10) * r.IntN(10) * r.IntN(10) },
			"one":    func() int { return 7 },
			"last":   func() int { return 9_999 },
		} {
			list := make([]int, n)
			for i := range list {
				list[i] = draw()
			}
			want := slices.Sorted(slices.Values(list))
			if got := spread(list, func(v *int) int { return *v * n / 10_000 }, cmp.Compare[int]); !slices.Equal(got, want) {
				t.Errorf("%d numbers, %s: out of order", n, name)
			}
		}
	}
}
