package wire

// shape is the names of the members of documents before, which those of a topic mostly have in common: a name that
// comes where it is foreseen need not be scanned, nor compared with the others of its object.
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
	from, to    uint32 // in text: the name with its quotes and the colon
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

// add makes a node for a name, quoted, and has node n lead to it.
func (s *shape) add(n uint32, first bool, quoted []byte) uint32 {
	from, added := len(s.text), uint32(len(s.nodes))
	s.text = append(append(s.text, quoted...), ':')
	s.nodes = append(s.nodes, node{from: uint32(from), to: uint32(len(s.text))})
	if first {
		s.nodes[n].inner = added
	} else {
		s.nodes[n].next = added
	}
	return added
}

// foreseen reads the next name of the innermost object if the shape has it. While an object is open, the end of its token
// is the node of its last member, or before the first one of what holds the object.
func (p *parser) foreseen() bool {
	object, s, rest := &p.tape[p.open], &p.doc.shape, p.src[p.pos:]
	if object.end == unforeseen {
		return false
	}
	i := s.after(object.end, p.first())
	name := s.text[s.nodes[i].from:s.nodes[i].to]
	if i == 0 || len(rest) < len(name) || string(rest[:len(name)]) != string(name) {
		return false
	}
	object.end = i
	p.push(p.pos+1, p.pos+len(name)-2, Absent, false)
	p.pos += len(name)
	return true
}

// learn adds a name of the innermost object, of which the names then have to be compared.
func (p *parser) learn(first bool, t token) {
	object, s := &p.tape[p.open], &p.doc.shape
	object.escaped = true
	switch {
	case object.end == unforeseen:
	case t.escaped || len(s.text)+int(t.end-t.start) > maxShape:
		object.end = unforeseen
	default:
		object.end = s.add(object.end, first, p.src[t.start-1:t.end+1])
	}
}

// first reports whether the innermost container is empty yet.
func (p *parser) first() bool { return len(p.tape) == int(p.open)+1 }
