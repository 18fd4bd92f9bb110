package tablefile

import "github.com/frazil/frazil/internal/rows"

// sink takes the values of a column, row by row, for one step after the other.
type sink interface {
	begin()
	int(v int64)
	part(b []byte) // borrowed
	null()
}

// parts keeps a column's values as parts.
type parts struct {
	text []byte
	ends []int // end of each row's part in text; negative: null
}

func (p *parts) begin() {
	if p.text == nil {
		p.text = make([]byte, 0, perStep) // the part of an empty text must not be nil
	}
	p.text, p.ends = p.text[:0], p.ends[:0]
}

func (p *parts) int(v int64) {
	p.text = rows.AppendInt(p.text, v)
	p.ends = append(p.ends, len(p.text))
}

func (p *parts) part(b []byte) {
	p.text = append(p.text, b...)
	p.ends = append(p.ends, len(p.text))
}

func (p *parts) null() { p.ends = append(p.ends, -len(p.text)-1) }

func (p *parts) at(i int) Part {
	if p.ends[i] < 0 {
		return nil
	}
	from := 0
	if i > 0 {
		from = max(p.ends[i-1], -p.ends[i-1]-1)
	}
	return p.text[from:p.ends[i]:p.ends[i]]
}

// keyRun is the keys of a step, which columns add to one after the other.
type keyRun struct {
	ids   []rows.ID
	nulls []bool
	some  bool // of nulls
}

func (r *keyRun) reset() {
	clear(r.ids)
	clear(r.nulls)
	r.some = false
}

// keySink adds one column to the keys of a run.
type keySink struct {
	run    *keyRun
	ids    *rows.IDs
	column int
	row    int
}

func (s *keySink) begin() { s.row = 0 }

func (s *keySink) int(v int64) {
	s.ids.AddInt(&s.run.ids[s.row], s.column, v)
	s.row++
}

func (s *keySink) part(b []byte) {
	s.ids.Add(&s.run.ids[s.row], s.column, b)
	s.row++
}

func (s *keySink) null() {
	if s.run.nulls == nil {
		s.run.nulls = make([]bool, perStep)
	}
	s.run.nulls[s.row], s.run.some = true, true
	s.row++
}

// rowIDs keeps the ids of rows.
type rowIDs struct {
	values []int64
	some   bool
}

func (r *rowIDs) begin() { r.values, r.some = r.values[:0], false }

func (r *rowIDs) int(v int64) {
	r.values = append(r.values, v)
	r.some = true
}

func (r *rowIDs) part([]byte) {} // it is a long

func (r *rowIDs) null() { r.values = append(r.values, NoRowID) }
