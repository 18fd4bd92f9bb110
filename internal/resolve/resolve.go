// Package resolve settles a plan against one snapshot: which rows are written and which go. It is a pure function of
// the plan and the hits.
package resolve

import (
	"github.com/frazil/frazil/internal/locate"
	"github.com/frazil/frazil/internal/merge"
	"github.com/frazil/frazil/internal/rows"
)

// Outcome is what has to be written, and what it amounts to.
type Outcome struct {
	Batch *rows.Batch
	Write []Row      // of different keys
	Keys  []rows.Key // all keys of the plan
	// Found is the rows that go. It is nil when the keys were not looked up.
	Found *locate.Found

	Inserts, Updates, Deletes int // keys
	Unknown                   int // deletes of keys that the table does not have
}

// Row is a row of the batch to write. An updated row keeps its row id (P6); a new one has none yet: locate.NoID.
type Row struct {
	Index int
	ID    int64
}

// Changes reports whether the table would look different, as far as is known.
func (o *Outcome) Changes() bool {
	return len(o.Write) > 0 || o.Found == nil && len(o.Keys) > 0 || o.Found != nil && len(o.Found.Hits) > 0
}

// Settle resolves a plan with the live rows of its keys. Settling it again against the result writes the same
// rows once more: the table stays equal.
func Settle(p merge.Plan, found *locate.Found) *Outcome {
	o := &Outcome{Batch: p.Batch, Found: found}
	ids := make([]int64, p.Batch.Keys.Len())
	known := make([]bool, len(ids))
	for i := range ids {
		ids[i] = locate.NoID
	}
	for _, h := range found.Hits {
		if !known[h.Key] {
			known[h.Key], ids[h.Key] = true, h.ID
		}
	}
	for _, e := range p.Effects {
		o.Keys = append(o.Keys, e.Key)
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
			o.Write = append(o.Write, Row{e.Row, ids[e.Key]})
		}
	}
	return o
}

// Blind resolves a plan without a look at the table, for equality deletes: whatever row of the keys is there goes. It
// cannot tell inserts from updates, and counts both as updates.
func Blind(p merge.Plan) *Outcome {
	o := &Outcome{Batch: p.Batch}
	for _, e := range p.Effects {
		o.Keys = append(o.Keys, e.Key)
		if e.Deletes() {
			o.Deletes++
			continue
		}
		o.Updates++
		o.Write = append(o.Write, Row{e.Row, locate.NoID})
	}
	return o
}
