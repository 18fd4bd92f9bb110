// Package resolve settles a plan against one snapshot: which rows are written and which go. It is a pure function of
// the plan and the hits.
package resolve

import (
	"slices"

	"github.com/frazil/frazil/internal/locate"
	"github.com/frazil/frazil/internal/merge"
	"github.com/frazil/frazil/internal/rows"
)

// Outcome is what has to be written, and what it amounts to.
type Outcome struct {
	Batch *rows.Batch
	Write []Row // of different keys
	// Patches are what partial rows come to, and Rejected partial rows that would need one of the table that is not there:
	// without those records the batch has to be resolved again (rule 13).
	Patches  []Patch
	Rejected []int      // rows of the batch
	Keys     []rows.Key // all keys of the plan
	// Found is the rows that go: those of the plan's keys, not those of keys that a change of key only names. It is nil when the
	// keys were not looked up.
	Found *locate.Found

	Inserts, Updates, Deletes int // keys
	Unknown                   int // deletes of keys that the table does not have
	Unchanged                 int // rows that the table has as they are
}

// Row is a row to write. An updated row keeps its row id (P6); a new one has none yet: locate.NoID.
type Row struct {
	Key   rows.Key
	Index int // of the batch
	Patch int // from 1 on: the row is partial, and becomes this one of the patches
	ID    int64
}

// Patch is a row whose cells come from several.
type Patch struct {
	Layers []int       // rows of the batch, the newest first: a cell that one keeps is the next one's
	Old    *locate.Hit // the table's row under them; nil: there is none, and the last layer's own cells count
}

// Cell is the row of the batch that a column's cell comes from. All of them keep it where it is the old row's, if there is one.
func (p Patch) Cell(b *rows.Batch, column int) (row int, kept bool) {
	for _, row = range p.Layers {
		if !b.Kept(column, row) {
			return row, false
		}
	}
	return row, true
}

// Changes reports whether the table would look different, as far as is known.
func (o *Outcome) Changes() bool {
	return len(o.Write) > 0 || o.Found == nil && len(o.Keys) > 0 || o.Found != nil && len(o.Found.Hits) > 0
}

// Settle resolves a plan with the live rows of its keys. Settling it again against the result writes the same
// rows once more: the table stays equal.
func Settle(p merge.Plan, found *locate.Found) *Outcome {
	o := &Outcome{Batch: p.Batch, Found: going(p, found), Keys: make([]rows.Key, 0, len(p.Effects)), Write: make([]Row, 0, len(p.Effects))}
	old := make([]*locate.Hit, p.Batch.Keys.Len())
	for i, h := range found.Hits {
		if old[h.Key] == nil {
			old[h.Key] = &found.Hits[i]
		}
	}
	for _, e := range p.Effects {
		o.Keys = append(o.Keys, e.Key)
		known := old[e.Key] != nil
		switch {
		case !e.Deletes() && known:
			o.Updates++
		case !e.Deletes():
			o.Inserts++
		case known:
			o.Deletes++
		default:
			o.Unknown++
		}
		if e.Deletes() {
			continue
		}
		row := Row{Key: e.Key, Index: e.Row, ID: locate.NoID}
		if known {
			row.ID = old[e.Key].ID
		}
		if p.Batch.Partial(e.Row) {
			row.Patch = o.patch(p, e, old)
		}
		o.Write = append(o.Write, row)
	}
	return o
}

// going is what is found of the plan's keys. Those of a batch are more where a half of a change of key names the other's key.
func going(p merge.Plan, found *locate.Found) *locate.Found {
	if len(p.Effects) == p.Batch.Keys.Len() {
		return found
	}
	goes := make([]bool, p.Batch.Keys.Len())
	for _, e := range p.Effects {
		goes[e.Key] = true
	}
	out := *found
	out.Hits = slices.DeleteFunc(slices.Clone(found.Hits), func(h locate.Hit) bool { return !goes[h.Key] })
	return &out
}

// patch adds what a partial row comes to, and returns its number.
func (o *Outcome) patch(p merge.Plan, e merge.Effect, old []*locate.Hit) int {
	layers, table, ok := p.Layers(e, func(k rows.Key) bool { return old[k] != nil })
	patch := Patch{Layers: layers}
	if ok {
		patch.Old = old[table]
	}
	last := layers[len(layers)-1]
	if _, must := p.Batch.MustKeep(last); must && patch.Old == nil {
		o.Rejected = append(o.Rejected, last)
	}
	o.Patches = append(o.Patches, patch)
	return len(o.Patches)
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
		o.Write = append(o.Write, Row{Key: e.Key, Index: e.Row, ID: locate.NoID})
	}
	return o
}
