// Package merge reduces the changes of a delivery to one effect per key. It is a pure function: no clock, no
// store, no table.
//
// The laws (P5), where applying a plan to a table puts and deletes by key, and lays partial rows over what is there:
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
	Effects []Effect // of each key the last
	layers  []layer
}

// Effect is what remains of all changes of one key.
type Effect struct {
	Key rows.Key
	Row int   // the newest row in the batch; negative: the key's row is deleted
	top int32 // the layer of the row; of a deleted one, of what was there before
	// Of a deleted row that goes on under another key: 1 + that key.
	next rows.Key
}

// Deletes reports whether the key's row is deleted.
func (e Effect) Deletes() bool { return e.Row < 0 }

// layer is a row of the batch, and what it was laid over.
type layer struct {
	row   int
	under int32    // a layer by its number, from 1 on, or one of these two
	table rows.Key // under inTable: whose row
}

const (
	nothing = int32(0)
	inTable = int32(-1)
)

// Make plans a batch.
func Make(b *rows.Batch) Plan {
	p := Plan{Batch: b, Effects: make([]Effect, 0, b.Keys.Len())}
	at := make([]int32, b.Keys.Len()) // 1 + index of the key's effect
	for _, e := range b.Entries {
		top := int32(0)
		switch {
		case !b.HasKept():
		case e.Deletes():
			top = p.before(e.Key, at)
		default:
			top = p.lay(e, at)
		}
		if at[e.Key] == 0 {
			p.Effects = append(p.Effects, Effect{})
			at[e.Key] = int32(len(p.Effects))
		}
		now := &p.Effects[at[e.Key]-1]
		next := rows.Key(0)
		if e.Deletes() {
			if next = now.next; e.Half { // a tombstone behind it says no more
				next = e.Over + 1
			}
		}
		*now = Effect{e.Key, e.Row, top, next}
	}
	return p
}

// lay puts a row over what is there of it so far, and returns the number of the layer.
func (p *Plan) lay(e rows.Entry, at []int32) int32 {
	l := layer{row: e.Row, under: nothing}
	if p.Batch.Partial(e.Row) {
		l.table = e.Over
		if p.under(e, at) {
			l.under = p.before(e.Over, at)
		}
	}
	p.layers = append(p.layers, l)
	return int32(len(p.layers))
}

// under reports whether there is a row that a partial one is laid over: the one that is there or, for the second half of a
// change of key, the one that the first half has deleted. That one is sure to be meant: of the same key there may be others.
func (p *Plan) under(e rows.Entry, at []int32) bool {
	n := at[e.Over]
	if e.Half {
		return n > 0 && p.Effects[n-1].next == e.Key+1
	}
	return n == 0 || !p.Effects[n-1].Deletes()
}

// before is what is there of a key so far or, once it is deleted, was there.
func (p *Plan) before(k rows.Key, at []int32) int32 {
	if n := at[k]; n > 0 {
		return p.Effects[n-1].top
	}
	return inTable
}

// Layers are the rows of the batch that a put is made of, the newest first: a cell that one keeps is the next one's. Under
// the last there is the table's row of a key, or (ok is false) nothing.
func (p *Plan) Layers(e Effect) (of []int, table rows.Key, ok bool) {
	if e.top == 0 {
		return []int{e.Row}, 0, false
	}
	for n := e.top; ; {
		l := p.layers[n-1]
		of = append(of, l.row)
		if l.under <= nothing {
			return of, l.table, l.under == inTable
		}
		n = l.under
	}
}
