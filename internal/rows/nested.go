package rows

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

func newNested(t arrow.DataType) column {
	switch t := t.(type) {
	case *arrow.StructType:
		s := &structs{t: t, nothing: Cell{Null: true}}
		for _, f := range t.Fields() {
			s.fields = append(s.fields, newColumn(f.Type))
		}
		return s
	case *arrow.ListType:
		return &lists{t: t, ends: make([]int32, 1), parts: []column{newColumn(t.Elem())}}
	case *arrow.MapType:
		return &lists{t: t, ends: make([]int32, 1), parts: []column{newColumn(t.KeyType()), newColumn(t.ItemType())}}
	}
	panic("rows: no column of " + t.String()) // NewSchema lets no other type in
}

// structs are columns of fields. Where a struct is a null they all are.
type structs struct {
	validity
	t       arrow.DataType
	n       int
	fields  []column
	nothing Cell // a null
}

func (s *structs) reserve(n int) {
	for _, f := range s.fields {
		f.reserve(n)
	}
}

func (s *structs) append(c *Cell) {
	if c.Null {
		s.null(s.n)
	}
	for i, f := range s.fields {
		field := &s.nothing
		if !c.Null {
			field = &c.Children[i]
		}
		f.append(field)
	}
	s.n++
}

func (s *structs) data() arrow.ArrayData { return s.made(s.t, s.n, dataOf(s.fields)) }

func dataOf(columns []column) []arrow.ArrayData {
	var list []arrow.ArrayData
	for _, c := range columns {
		list = append(list, c.data())
	}
	return list
}

// lists are columns of elements, or of the keys and values of maps.
type lists struct {
	validity
	t     arrow.DataType
	ends  []int32 // behind a 0, in elements
	parts []column
}

func (s *lists) reserve(n int) { s.ends = slices.Grow(s.ends, n) }

func (s *lists) append(c *Cell) {
	end := s.ends[len(s.ends)-1]
	if c.Null {
		s.null(len(s.ends) - 1)
	} else {
		for i := range c.Children {
			s.parts[i%len(s.parts)].append(&c.Children[i])
		}
		end += int32(len(c.Children) / len(s.parts))
	}
	s.ends = append(s.ends, end)
}

func (s *lists) data() arrow.ArrayData {
	elements := dataOf(s.parts)
	if m, ok := s.t.(*arrow.MapType); ok {
		pairs := array.NewData(m.Elem(), elements[0].Len(), []*memory.Buffer{nil}, elements, 0, 0)
		elements = []arrow.ArrayData{pairs}
	}
	return s.made(s.t, len(s.ends)-1, elements, arrow.GetBytes(s.ends))
}
