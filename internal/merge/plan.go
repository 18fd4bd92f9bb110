// Package merge reduces the changes of a delivery to one effect per key. It is a pure function: no clock, no
// store, no table.
//
// The laws (P5), for complete rows, where applying a plan to a table puts and deletes by key:
//
//	apply(plan(A ++ B)) = apply(plan(A)) then apply(plan(B))
//	apply(plan(A)) twice = apply(plan(A)) once
//	for keys that stay in one partition, the way in which a delivery is cut, or partitions interleave, is of no consequence
//
// TestPlanObeysTheAlgebraOfMerge holds them against a plain map.
package merge

import "github.com/frazil/frazil/internal/rows"

// Plan is the effects of one batch for one table, in the order in which their keys first appear.
type Plan struct {
	Batch   *rows.Batch
	Effects []rows.Entry // of each key the last
}

// Make plans a batch.
func Make(b *rows.Batch) Plan {
	p := Plan{Batch: b}
	at := make([]int32, b.Keys.Len()) // 1 + index of the key's effect
	for _, e := range b.Entries {
		if at[e.Key] == 0 {
			p.Effects = append(p.Effects, e)
			at[e.Key] = int32(len(p.Effects))
		}
		p.Effects[at[e.Key]-1] = e
	}
	return p
}
