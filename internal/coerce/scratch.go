package coerce

import "github.com/frazil/frazil/internal/wire"

// scratch is the memory that the cells of one change borrow from. It is used again for the next change.
type scratch struct {
	arena []byte
	docs  []*wire.Doc
	used  int // of docs
	bare  wire.Doc
}

func (s *scratch) reset() { s.arena, s.used = s.arena[:0], 0 }

// bytes is room for n bytes. What was handed out before stays where it is. A nil scratch makes room for them alone.
func (s *scratch) bytes(n int) []byte {
	if s == nil {
		return make([]byte, n)
	}
	const chunk = 4 << 10
	if cap(s.arena)-len(s.arena) < n {
		s.arena = make([]byte, 0, max(n, chunk))
	}
	from := len(s.arena)
	s.arena = s.arena[:from+n]
	return s.arena[from : from+n : from+n]
}

// doc is a document that stays until the next change.
func (s *scratch) doc() *wire.Doc {
	if s.used == len(s.docs) {
		s.docs = append(s.docs, new(wire.Doc))
	}
	s.used++
	return s.docs[s.used-1]
}
