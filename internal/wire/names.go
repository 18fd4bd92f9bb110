package wire

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// nameRef is a member name under comparison: print is equal where names are equal, and nearly never elsewhere.
type nameRef struct {
	print uint64
	tok   uint32
}

// fewNames is up to where comparing every pair beats sorting.
const fewNames = 32

// repeats reports whether two members of the object at token obj have one name.
func (d *Doc) repeats(obj uint32) bool {
	d.order = d.order[:0]
	for i, end := obj+1, d.tape[obj].next; i < end; i = d.tape[i+1].next {
		d.order = append(d.order, nameRef{print: fingerprint(d.name(i)), tok: i})
	}
	if len(d.order) > fewNames {
		return d.sortedRepeats()
	}
	for n, a := range d.order {
		for _, b := range d.order[:n] {
			if a.print == b.print && bytes.Equal(d.name(a.tok), d.name(b.tok)) {
				return true
			}
		}
	}
	return false
}

// sortedRepeats sorts the names, so that a hostile object of many members costs no more than that.
func (d *Doc) sortedRepeats() bool {
	slices.SortFunc(d.order, func(a, b nameRef) int { return bytes.Compare(d.name(a.tok), d.name(b.tok)) })
	for i := 1; i < len(d.order); i++ {
		if bytes.Equal(d.name(d.order[i].tok), d.name(d.order[i-1].tok)) {
			return true
		}
	}
	return false
}

// fingerprint mixes the length and the last eight bytes: columns of one table tend to differ at the end.
func fingerprint(b []byte) uint64 {
	h := uint64(len(b)) << 56
	if len(b) >= 8 {
		return h ^ binary.LittleEndian.Uint64(b[len(b)-8:])
	}
	for _, c := range b {
		h = h<<8 ^ uint64(c)
	}
	return h ^ uint64(len(b))<<56
}
