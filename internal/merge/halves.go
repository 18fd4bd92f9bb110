package merge

import "github.com/frazil/frazil/internal/rows"

// move is a change of key that came in halves.
type move struct {
	from, to rows.Key
	mark     uint64 // 0: nothing tells moves of these keys apart
}

// halves are those of a move in the order of the batch, each kind for itself: one partition has the ones, another the others. A
// producer that was killed sends both again.
type halves struct {
	move
	departed []int32 // what was there of the row that departed
	arrived  []arrival
}

// arrival is the layer of a row that arrived, and what was there of its key by then. A source has no row there: where there is one,
// it arrived before, and this is the same change once more.
type arrival struct{ layer, there int32 }

func (p *planner) halves(m move) *halves {
	h := p.moves[m]
	if h == nil {
		h = &halves{move: m}
		p.moves[m], p.order = h, append(p.order, h)
	}
	return h
}

// depart notes what was there of a row that departs. A tombstone behind its delete says no more.
func (p *planner) depart(e rows.Entry) {
	if there := p.there(e.Key); there != nothing {
		h := p.halves(move{e.Key, e.Over, e.Mark})
		h.departed = append(h.departed, there)
	}
}

// join lays the rows that arrived over the one that departed. Without that half nothing is sure to be meant.
func (p *planner) join(h *halves) {
	if len(h.departed) == 0 {
		return
	}
	var first []arrival
	for _, a := range h.arrived {
		if a.there > nothing {
			p.put(a, a.there)
		} else {
			first = append(first, a)
		}
	}
	if h.mark == 0 && (len(first) > 1 || len(h.departed) > 1) { // nobody knows which belong together
		return
	}
	for _, a := range first { // what departs again is another row, if any
		p.put(a, h.departed[0])
	}
}

// put lays a row that arrived, if it keeps anything, over another one. Unless that lies over it: of moves in a circle, one is of
// another delivery.
func (p *planner) put(a arrival, under int32) {
	l := &p.layers[a.layer-1]
	if !p.Batch.Partial(l.row) {
		return
	}
	l.own = a.there == inTable
	for n := under; n > nothing; n = p.layers[n-1].under {
		if n == a.layer {
			return
		}
	}
	l.under = under
}
