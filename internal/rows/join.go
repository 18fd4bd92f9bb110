package rows

import (
	"iter"
	"math/bits"
	"slices"
)

// Join adds the changes of another batch of the same schema behind those of b. It returns what the other's keys are in b, by key,
// and what its row 0 is. The other batch is not to be used any more.
func (b *Batch) Join(o *Batch) (keys []Key, first int) {
	keys, first = b.Keys.join(o.Keys), b.rows
	b.Entries = slices.Grow(b.Entries, len(o.Entries))
	for _, e := range o.Entries {
		e.Key, e.Over = keys[e.Key], keys[e.Over]
		if !e.Deletes() {
			e.Row += b.rows
		}
		b.Entries = append(b.Entries, e)
	}
	if o.kept != nil {
		b.joinKept(o)
	}
	for i, c := range b.columns {
		c.join(o.columns[i])
		o.columns[i] = nil // as soon as may be: it is there twice
	}
	b.rows += o.rows
	return keys, first
}

func (b *Batch) joinKept(o *Batch) {
	if b.kept == nil {
		b.kept, b.must = make([]set, len(b.Schema.Columns)), map[int]int{}
	}
	for column, rows := range o.kept {
		for row := range rows.all() {
			b.kept[column].add(b.rows + row)
		}
	}
	for row, column := range o.must {
		b.must[b.rows+row] = column
	}
}

// all yields the rows of a set.
func (s set) all() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, word := range s {
			for ; word != 0; word &= word - 1 {
				if !yield(64*i + bits.TrailingZeros64(word)) {
					return
				}
			}
		}
	}
}

// join adds the keys of another set, and returns what they are in this one.
func (k *Keys) join(o *Keys) []Key {
	out := make([]Key, o.Len())
	var p Parts
	for id := range out {
		p.Reset()
		for i := range o.columns {
			p.Bytes(o.Part(Key(id), i))
		}
		out[id] = k.Intern(&p)
	}
	return out
}

// join adds the nulls of o, which is of cells that come behind n.
func (v *validity) join(o *validity, n int) {
	if o.nulls == 0 {
		return
	}
	for i, b := range o.bits {
		for b = ^b; b != 0; b &= b - 1 {
			v.null(n + 8*i + bits.TrailingZeros8(b))
		}
	}
}

func (s *numbers[T]) join(other column) {
	o := other.(*numbers[T])
	s.validity.join(&o.validity, len(s.values))
	s.values = append(s.values, o.values...)
}

func (s *booleans) join(other column) {
	o := other.(*booleans)
	s.validity.join(&o.validity, s.n)
	for i := range o.n {
		if s.n%8 == 0 {
			s.bits = append(s.bits, 0)
		}
		s.bits[s.n/8] |= o.bits[i/8] >> (i % 8) & 1 << (s.n % 8)
		s.n++
	}
}

func (s *texts) join(other column) {
	o := other.(*texts)
	s.validity.join(&o.validity, len(s.ends)-1)
	s.ends = joinEnds(s.ends, o.ends)
	s.bytes = append(s.bytes, o.bytes...)
}

// joinEnds adds the ends of what comes behind. Both begin with a 0.
func joinEnds(ends, more []int32) []int32 {
	last := ends[len(ends)-1]
	ends = slices.Grow(ends, len(more)-1)
	for _, end := range more[1:] {
		ends = append(ends, last+end)
	}
	return ends
}

func (s *blobs) join(other column) {
	o := other.(*blobs)
	s.validity.join(&o.validity, s.n)
	s.bytes = append(s.bytes, o.bytes...)
	s.n += o.n
}

func (s *nothing) join(other column) { s.n += other.(*nothing).n }

func (s *structs) join(other column) {
	o := other.(*structs)
	s.validity.join(&o.validity, s.n)
	for i, f := range s.fields {
		f.join(o.fields[i])
	}
	s.n += o.n
}

func (s *lists) join(other column) {
	o := other.(*lists)
	s.validity.join(&o.validity, len(s.ends)-1)
	s.ends = joinEnds(s.ends, o.ends)
	for i, part := range s.parts {
		part.join(o.parts[i])
	}
}
