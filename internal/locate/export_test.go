package locate

import "github.com/frazil/frazil/internal/tablefile"

// With is the snapshot with a memory.
func (s *Snapshot) With(m *tablefile.Memory) *Snapshot {
	c := *s
	c.memory = m
	return &c
}
