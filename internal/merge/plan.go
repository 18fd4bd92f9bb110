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
	top int32 // the layer of the row, if any row of the batch is partial
}

// Deletes reports whether the key's row is deleted.
func (e Effect) Deletes() bool { return e.Row < 0 }

// layer is a row of the batch, and what it was laid over.
type layer struct {
	row   int
	under int32    // a layer by its number, from 1 on, or one of these two
	table rows.Key // under inTable: whose row
	// A source moves no row to a key that is taken: if the table has a row of the key (own), the change is one that was made before,
	// and is made again over that row.
	own bool
	key rows.Key
}

const (
	nothing = int32(0)
	inTable = int32(-1)
)

// Make plans a batch.
func Make(b *rows.Batch) Plan {
	p := planner{Plan: Plan{Batch: b, Effects: make([]Effect, 0, b.Keys.Len())}, at: make([]int32, b.Keys.Len()), moves: map[move]*halves{}}
	for _, e := range b.Entries {
		top := nothing
		switch {
		case !b.HasKept():
		case !e.Deletes():
			top = p.lay(e)
		case e.Half:
			p.depart(e)
		}
		if p.at[e.Key] == 0 {
			p.Effects = append(p.Effects, Effect{})
			p.at[e.Key] = int32(len(p.Effects))
		}
		p.Effects[p.at[e.Key]-1] = Effect{e.Key, e.Row, top}
	}
	for _, h := range p.order {
		p.join(h)
	}
	return p.Plan
}

// planner makes a plan.
type planner struct {
	Plan
	at    []int32 // by key: 1 + index of its effect
	moves map[move]*halves
	order []*halves
}

// lay puts a row over what is there of it so far, and returns the number of the layer.
func (p *planner) lay(e rows.Entry) int32 {
	l := layer{row: e.Row, under: nothing, table: e.Over, key: e.Key}
	n := int32(len(p.layers)) + 1
	switch {
	case e.Half:
		h := p.halves(move{e.Over, e.Key, e.Mark})
		h.arrived = append(h.arrived, arrival{n, p.there(e.Key)})
	case p.Batch.Partial(e.Row):
		if l.under = p.there(e.Key); e.Over != e.Key && l.under <= nothing {
			l.under, l.own = p.there(e.Over), l.under == inTable
		}
	}
	p.layers = append(p.layers, l)
	return n
}

// there is what is there of a key so far.
func (p *planner) there(k rows.Key) int32 {
	switch n := p.at[k]; {
	case n == 0:
		return inTable
	case p.Effects[n-1].Deletes():
		return nothing
	default:
		return p.Effects[n-1].top
	}
}

// Layers are the rows of the batch that a put is made of, the newest first: a cell that one keeps is the next one's. Under
// the last there is the table's row of a key, or (ok is false) nothing. Has tells which keys the table has a row of.
func (p *Plan) Layers(e Effect, has func(rows.Key) bool) (of []int, table rows.Key, ok bool) {
	if e.top == nothing {
		return []int{e.Row}, 0, false
	}
	for n := e.top; ; {
		l := p.layers[n-1]
		of = append(of, l.row)
		switch {
		case l.own && has(l.key):
			return of, l.key, true
		case l.under <= nothing:
			return of, l.table, l.under == inTable
		}
		n = l.under
	}
}
