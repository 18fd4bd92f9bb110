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

// fewNames is up to where comparing pairs beats sorting.
const fewNames = 32

// spread is an odd number near 2^64 over the golden ratio: a product's high bits depend on all of the other factor's.
const spread = 0x9E3779B97F4A7C15

// repeats reports whether two members of the object at token obj of the tape have one name.
func (d *Doc) repeats(tape []token, obj uint32) bool {
	refs := d.order[:0]
	for i, end := obj+1, tape[obj].next; i < end; i = tape[i+1].next {
		refs = append(refs, nameRef{print: fingerprint(d.nameOf(&tape[i])), tok: i})
	}
	d.order = refs
	if len(refs) > fewNames {
		return d.sortedRepeats(tape)
	}
	var seen uint64
	for n, a := range refs {
		bit := uint64(1) << (a.print * spread >> 58)
		if seen&bit != 0 && d.among(tape, refs[:n], a) {
			return true
		}
		seen |= bit
	}
	return false
}

func (d *Doc) among(tape []token, refs []nameRef, a nameRef) bool {
	for _, b := range refs {
		if a.print == b.print && bytes.Equal(d.nameOf(&tape[a.tok]), d.nameOf(&tape[b.tok])) {
			return true
		}
	}
	return false
}

// sortedRepeats sorts the names, so that a hostile object of many members costs no more than that.
func (d *Doc) sortedRepeats(tape []token) bool {
	name := func(r nameRef) []byte { return d.nameOf(&tape[r.tok]) }
	slices.SortFunc(d.order, func(a, b nameRef) int { return bytes.Compare(name(a), name(b)) })
	for i := 1; i < len(d.order); i++ {
		if bytes.Equal(name(d.order[i]), name(d.order[i-1])) {
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
