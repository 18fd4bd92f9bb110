package stage_test

import (
	"slices"
	"testing"

	"github.com/frazil/frazil/internal/stage"
)

func TestAFullLevelBecomesOne(t *testing.T) {
	t.Parallel()
	l := stage.Levels{Bounds: []int64{10, 100, 1000}, Many: 4}
	for name, c := range map[string]struct {
		added  int64
		sizes  []int64
		budget int64
		want   []int
	}{
		"nothing there":                          {1, nil, stage.Unbounded, nil},
		"one less than many":                     {1, []int64{5, 5}, stage.Unbounded, nil},
		"many with the new one":                  {1, []int64{7, 5, 6}, stage.Unbounded, []int{1, 2, 0}},
		"other levels do not count":              {1, []int64{5, 5, 50, 500, 5000}, stage.Unbounded, nil},
		"what it becomes fills the next":         {1, []int64{50, 9, 9, 9, 60, 70}, stage.Unbounded, []int{1, 2, 3, 0, 4, 5}},
		"what it becomes is still of its level":  {1, []int64{2, 2, 2, 50, 60, 70}, stage.Unbounded, []int{0, 1, 2}},
		"a large one counts in its own level":    {50, []int64{60, 70, 80}, stage.Unbounded, []int{0, 1, 2}},
		"a large one does not fill a lower":      {50, []int64{5, 5, 5}, stage.Unbounded, nil},
		"a lower one may be full all the same":   {50, []int64{5, 5, 5, 5}, stage.Unbounded, []int{0, 1, 2, 3}},
		"above all levels":                       {5000, []int64{500, 500, 500}, stage.Unbounded, nil},
		"the smallest first within the budget":   {50, []int64{90, 60, 70, 80, 40}, 260, []int{4, 1, 2, 3}},
		"too few fit the budget":                 {50, []int64{60, 70, 80}, 209, nil},
		"the budget is spent level after level":  {1, []int64{9, 9, 9, 60, 70, 80}, 230, []int{0, 1, 2}},
		"what is left of it does for the second": {1, []int64{9, 9, 9, 60, 70, 80}, 237, []int{0, 1, 2, 3, 4, 5}},
	} {
		if got := l.Full(c.added, c.sizes, c.budget); !slices.Equal(got, c.want) {
			t.Errorf("%s: picked %v, want %v", name, got, c.want)
		}
	}
}

// However many things come, few of each level stay, and none is written again often.
func TestLevelsKeepThingsFewAndSeldomWrittenAgain(t *testing.T) {
	t.Parallel()
	l := stage.Levels{Bounds: []int64{8, 64, 512}, Many: 8}
	var sizes []int64
	written := int64(0)
	const things = 4096
	for range things {
		next := int64(1)
		picked := l.Full(1, sizes, stage.Unbounded)
		var left []int64
		for i, s := range sizes {
			if slices.Contains(picked, i) {
				next += s
			} else {
				left = append(left, s)
			}
		}
		sizes = append(left, next)
		written += next
		small := 0
		for _, s := range sizes {
			if s < 512 {
				small++
			}
		}
		if small > 3*7 {
			t.Fatalf("%d small things: %v", small, sizes)
		}
	}
	if written > 4*things {
		t.Errorf("each was written %.1f times", float64(written)/things)
	}
}
