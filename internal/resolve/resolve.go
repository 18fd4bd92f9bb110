// Package resolve settles a plan against one snapshot: which rows are written and which positions go. It is a
// pure function of the plan and the hits.
package resolve

import (
	"github.com/frazil/frazil/internal/locate"
	"github.com/frazil/frazil/internal/merge"
	"github.com/frazil/frazil/internal/rows"
)

// Outcome is what has to be written, and what it amounts to.
type Outcome struct {
	Batch *rows.Batch
	Write []int        // rows of the batch, each of its own key
	Kill  []locate.Hit // live rows to delete, ordered by file and position

	Inserts, Updates, Deletes int // keys
	Unknown                   int // deletes of keys that the table does not have
}

// Changes reports whether the table would look different.
func (o *Outcome) Changes() bool { return len(o.Write)+len(o.Kill) > 0 }

// Settle resolves a plan with the live rows of its keys. Settling it again against the result writes the same
// rows once more: the table stays equal.
func Settle(p merge.Plan, hits []locate.Hit) *Outcome {
	o := &Outcome{Batch: p.Batch, Kill: hits}
	known := make([]bool, p.Batch.Keys.Len())
	for _, h := range hits {
		known[h.Key] = true
	}
	for _, e := range p.Effects {
		switch {
		case !e.Deletes() && known[e.Key]:
			o.Updates++
		case !e.Deletes():
			o.Inserts++
		case known[e.Key]:
			o.Deletes++
		default:
			o.Unknown++
		}
		if !e.Deletes() {
			o.Write = append(o.Write, e.Row)
		}
	}
	return o
}
