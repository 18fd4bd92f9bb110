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
	halves  map[move]halves
}

// Effect is what remains of all changes of one key.
type Effect struct {
	Key rows.Key
	Row int   // the newest row in the batch; negative: the key's row is deleted
	top int32 // the layer of the row; of a deleted one, of what was there before
}

// Deletes reports whether the key's row is deleted.
func (e Effect) Deletes() bool { return e.Row < 0 }

// layer is a row of the batch, and what it was laid over.
type layer struct {
	row   int
	under int32    // a layer by its number, from 1 on, or one of these two
	table rows.Key // under inTable: whose row
}

// move is a change of key.
type move struct {
	from, to rows.Key
	at       int64
}

// halves are those of a move whose other half is further on, in another partition: what was there of the row that departed, and
// the layer of the one that arrived. Where there are several, the first belongs to the first.
type halves struct{ departed, arrived []int32 }

const (
	nothing = int32(0)
	inTable = int32(-1)
)

// Make plans a batch.
func Make(b *rows.Batch) Plan {
	p := Plan{Batch: b, Effects: make([]Effect, 0, b.Keys.Len()), halves: map[move]halves{}}
	at := make([]int32, b.Keys.Len()) // 1 + index of the key's effect
	for _, e := range b.Entries {
		top := int32(0)
		switch {
		case !b.HasKept():
		case e.Deletes():
			if top = p.before(e.Key, at); e.Half {
				p.depart(move{e.Key, e.Over, e.At}, top)
			}
		default:
			top = p.lay(e, at)
		}
		if at[e.Key] == 0 {
			p.Effects = append(p.Effects, Effect{})
			at[e.Key] = int32(len(p.Effects))
		}
		p.Effects[at[e.Key]-1] = Effect{e.Key, e.Row, top}
	}
	return p
}

// lay puts a row over what is there of it so far, and returns the number of the layer.
func (p *Plan) lay(e rows.Entry, at []int32) int32 {
	p.layers = append(p.layers, layer{row: e.Row, under: nothing, table: e.Over})
	n := int32(len(p.layers))
	switch {
	case e.Half:
		p.arrive(move{e.Over, e.Key, e.At}, n)
	case !p.Batch.Partial(e.Row):
	case at[e.Over] == 0 || !p.Effects[at[e.Over]-1].Deletes():
		p.layers[n-1].under = p.before(e.Over, at)
	}
	return n
}

// arrive puts the layer of a row that arrives over the one that departed, once that is known: it alone is sure to be meant, since
// of its key there may be others.
func (p *Plan) arrive(m move, n int32) {
	h := p.halves[m]
	if len(h.departed) == 0 {
		h.arrived = append(h.arrived, n)
	} else {
		p.put(n, h.departed[0])
		h.departed = h.departed[1:]
	}
	p.halves[m] = h
}

// depart is the other half of arrive, and knows what was there.
func (p *Plan) depart(m move, top int32) {
	h := p.halves[m]
	if len(h.arrived) == 0 {
		h.departed = append(h.departed, top)
	} else {
		p.put(h.arrived[0], top)
		h.arrived = h.arrived[1:]
	}
	p.halves[m] = h
}

// put has layer n be over another one, if it keeps anything. Unless that is over n: of moves in a circle, one is of another delivery.
func (p *Plan) put(n, under int32) {
	if !p.Batch.Partial(p.layers[n-1].row) {
		return
	}
	for l := under; l > nothing; l = p.layers[l-1].under {
		if l == n {
			return
		}
	}
	p.layers[n-1].under = under
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
