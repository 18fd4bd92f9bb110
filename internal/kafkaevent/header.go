package kafkaevent

import "github.com/frazil/frazil/internal/kafka"

// headerList reads a record's headers: a list of objects, of one member each, in the order of the record.
func (s *scanner) headerList() error {
	if s.peek() == 'n' {
		return s.literal("null")
	}
	start := len(s.headers)
	if err := s.array(func() error { return s.object(s.header) }); err != nil {
		return err
	}
	s.draft.Headers = s.headers[start:len(s.headers):len(s.headers)]
	return nil
}

func (s *scanner) header(name []byte) error {
	h := kafka.Header{Key: s.headerName(name)}
	var err error
	if s.peek() == 'n' {
		err = s.literal("null")
	} else {
		h.Value, err = s.byteList()
	}
	s.headers = append(s.headers, h)
	return err
}

// headerName returns the name as a string. Records of one producer have the same few names.
func (s *scanner) headerName(b []byte) string {
	if name, ok := s.names[string(b)]; ok {
		return name
	}
	if s.names == nil {
		s.names = make(map[string]string)
	}
	name := string(b)
	s.names[name] = name
	return name
}

// byteList reads a list of bytes, in place. Lambda writes them as signed numbers; unsigned ones name the same bytes.
func (s *scanner) byteList() ([]byte, error) {
	s.space()
	start := s.pos
	n := start
	err := s.array(func() error {
		v, err := s.integer(-128, 255)
		s.b[n] = byte(v) // each number takes at least one byte, and a bracket or comma before it
		n++
		return err
	})
	if err != nil {
		return nil, err
	}
	return s.b[start:n:n], nil
}
