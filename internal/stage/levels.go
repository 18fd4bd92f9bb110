package stage

import (
	"cmp"
	"math"
	"slices"
)

// Levels are sizes by which small things are gathered, so that there are few of them and each is written again seldom: of
// a level that would come to have many, all become one, which is of a higher level.
type Levels struct {
	Bounds []int64 // of the levels, ascending; what is not below the last one is left alone
	Many   int
}

// least is how many things of a level have to fit the budget: to write a large one again for a small one does not pay.
const least = 3

// Unbounded is the budget of what has none.
const Unbounded = math.MaxInt64

// Full picks, by their sizes, the things that are to become one with a new thing: those of a level that is full with it,
// the smallest first and as long as the budget lasts. What they become may fill the next level.
func (l Levels) Full(added int64, sizes []int64, budget int64) (picked []int) {
	order := make([]int, len(sizes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(sizes[a], sizes[b]) })
	for _, bound := range l.Bounds {
		n, _ := slices.BinarySearchFunc(order, bound, func(i int, bound int64) int { return cmp.Compare(sizes[i], bound) })
		level, many := order[:n], l.Many
		order = order[n:]
		if added < bound {
			many-- // it counts itself
		}
		if len(level) >= many {
			fit, sum := 0, int64(0)
			for fit < len(level) && sum+sizes[level[fit]] <= budget {
				sum += sizes[level[fit]]
				fit++
			}
			if fit < min(least, l.Many-1) {
				return picked
			}
			picked = append(picked, level[:fit]...)
			budget, added = budget-sum, added+sum
		}
		if added < bound {
			return picked
		}
	}
	return picked
}
