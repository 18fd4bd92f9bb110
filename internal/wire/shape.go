package wire

import (
	"bytes"
	"slices"
)

// shape is the names of the members of documents before, which those of a topic mostly have in common: a name that
// comes where it is foreseen, with the same separators around it, need not be scanned, nor compared with the others of its
// object.
//
// Each node is a member. It leads to the one that came behind it, and to the first one of the object that was its value,
// or that was in the array. Only one node leads to a node, so there is one path from the first member of an object to
// any other, and nodes are added to its end only: the object that did was compared, and has just the names of the path. An
// object whose members are the beginning of a path has no name twice, therefore. Until the comparison, at the end of
// the object, that is not known: an error forgets the shape.
type shape struct {
	nodes []node // the first stands for the document
	text  []byte
}

type node struct {
	from, to    uint32 // in text: all from the end of the value before to the begin of the member's own
	name, end   uint32 // in that: the name
	next, inner uint32 // 0: none
}

const (
	unforeseen = ^uint32(0) // where an object's members have left the shape
	maxShape   = 128 << 10  // bytes of text
)

// begin makes the shape ready for a document. One of other names than those before has half of the room.
func (s *shape) begin() {
	if len(s.nodes) == 0 || len(s.text) > maxShape/2 {
		s.nodes, s.text = append(s.nodes[:0], node{}), s.text[:0]
	}
}

func (s *shape) forget() { s.nodes = s.nodes[:0] }

// after is the node of the member that came behind that of node n, or of the first one inside it; 0 if there was none.
func (s *shape) after(n uint32, first bool) uint32 {
	if first {
		return s.nodes[n].inner
	}
	return s.nodes[n].next
}

// add makes a node for a name in what stands around it, and has node n lead to it.
func (s *shape) add(n uint32, first bool, around []byte, name, end int) uint32 {
	from, added := len(s.text), uint32(len(s.nodes))
	s.text = append(s.text, around...)
	s.nodes = append(s.nodes, node{from: uint32(from), to: uint32(len(s.text)), name: uint32(name), end: uint32(end)})
	if first {
		s.nodes[n].inner = added
	} else {
		s.nodes[n].next = added
	}
	return added
}

// foreseen reads members of the innermost object as long as they come as the shape has them and their values are plain. It
// reports whether it ends before a value, one that is not. While an object is open, the end of its token is the node of its
// last member, or before the first one of what holds the object.
func (p *parser) foreseen() (value bool) {
	s, first := &p.doc.shape, p.first()
	src, pos, tape, node := p.src, p.pos, p.tape, p.tape[p.open].end
	for node != unforeseen {
		next := s.after(node, first)
		n := &s.nodes[next]
		text := s.text[n.from:n.to]
		if next == 0 || len(src)-pos <= len(text) || string(src[pos:pos+len(text)]) != string(text) {
			break
		}
		node, first = next, false
		at := len(tape)
		tape = slices.Grow(tape, 2)[:at+2] // tokens are set in place, as in push
		tape[at].set(pos+int(n.name), pos+int(n.end), at, Absent)
		pos += len(text)
		end, kind := plain(src, pos)
		if value = kind == Absent; value {
			tape = tape[:at+1]
			break
		}
		quote := 0
		if kind == Text {
			quote = 1
		}
		tape[at+1].set(pos+quote, end-quote, at+1, kind)
		pos = end
	}
	p.pos, p.tape = pos, tape
	p.tape[p.open].end = node
	return value
}

// plain returns the end of a text of ASCII without escapes, of digits that neither a fraction nor an exponent follows, or of a
// literal. Any other value is Absent.
func plain(src []byte, pos int) (end int, k Kind) {
	switch c := src[pos]; {
	case c == '"':
		if end = plainEnd(src, pos+1); end < len(src) && src[end] == '"' {
			return end + 1, Text
		}
	case c-'1' < 9:
		for end = pos + 1; end < len(src) && src[end]-'0' < 10; end++ {
		}
		if end < len(src) && (src[end] == ',' || src[end] == '}') {
			return end, Number
		}
	case c == 'n' && bytes.HasPrefix(src[pos:], []byte("null")):
		return pos + len("null"), Null
	case c == 't' && bytes.HasPrefix(src[pos:], []byte("true")):
		return pos + len("true"), Bool
	case c == 'f' && bytes.HasPrefix(src[pos:], []byte("false")):
		return pos + len("false"), Bool
	}
	return pos, Absent
}

// learn adds a name of the innermost object, of which the names then have to be compared. It stands between from, the end of
// the value before, and its own value.
func (p *parser) learn(first bool, from int, t token) {
	object, s := &p.tape[p.open], &p.doc.shape
	object.escaped = true
	switch {
	case object.end == unforeseen:
	case t.escaped || len(s.text)+p.pos-from > maxShape:
		object.end = unforeseen
	default:
		object.end = s.add(object.end, first, p.src[from:p.pos], int(t.start)-from, int(t.end)-from)
	}
}

// first reports whether the innermost container is empty yet.
func (p *parser) first() bool { return len(p.tape) == int(p.open)+1 }
