package tablefile

import (
	"context"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/compute"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// shaper brings arrays of a file to the shape of today's schema: fields by id, at every depth; types that were widened
// since, widened; fields that were added since, filled with their initial default or null. By field id it holds the
// defaults, as arrays of one value.
type shaper map[int]arrow.Array

// field finds a field among those of a file, or of a struct of it, with n rows.
func (s shaper) field(fields []arrow.Field, columns []arrow.Array, want arrow.Field, n int) (arrow.Array, error) {
	id := fieldID(want)
	for i, have := range fields {
		if fieldID(have) == id {
			out, err := s.shape(columns[i], want)
			if err != nil {
				return nil, fmt.Errorf("column %s: %w", want.Name, err)
			}
			return out, nil
		}
	}
	value, ok := s[id]
	if !ok {
		return array.MakeArrayOfNull(memory.DefaultAllocator, want.Type, n), nil
	}
	first := array.NewInt64Builder(memory.DefaultAllocator)
	for range n {
		first.Append(0)
	}
	return compute.TakeArray(context.Background(), value, first.NewArray())
}

func (s shaper) shape(a arrow.Array, want arrow.Field) (arrow.Array, error) {
	switch t := want.Type.(type) {
	case *arrow.StructType:
		return s.structure(a, t)
	case *arrow.MapType:
		return s.entries(a, t, t.Elem().(*arrow.StructType))
	case *arrow.ListType:
		return s.list(a, t)
	}
	if arrow.TypeEqual(a.DataType(), want.Type) {
		return a, nil
	}
	return widen(a, want.Type)
}

func (s shaper) structure(a arrow.Array, t *arrow.StructType) (arrow.Array, error) {
	have, ok := a.(*array.Struct)
	if !ok {
		return nil, fmt.Errorf("%s is no struct", a.DataType())
	}
	from := have.DataType().(*arrow.StructType)
	var columns []arrow.Array
	for i := range from.NumFields() {
		columns = append(columns, have.Field(i))
	}
	children := make([]arrow.ArrayData, t.NumFields())
	for i, want := range t.Fields() {
		c, err := s.field(from.Fields(), columns, want, a.Len())
		if err != nil {
			return nil, err
		}
		children[i] = c.Data()
	}
	return rebuilt(a, t, children...), nil
}

func (s shaper) list(a arrow.Array, t *arrow.ListType) (arrow.Array, error) {
	have, ok := a.(*array.List)
	if !ok {
		return nil, fmt.Errorf("%s is no list", a.DataType())
	}
	elements, err := s.shape(have.ListValues(), t.ElemField())
	if err != nil {
		return nil, err
	}
	return rebuilt(a, t, elements.Data()), nil
}

func (s shaper) entries(a arrow.Array, t *arrow.MapType, pair *arrow.StructType) (arrow.Array, error) {
	have, ok := a.(*array.Map)
	if !ok {
		return nil, fmt.Errorf("%s is no map", a.DataType())
	}
	entries := have.ListValues().(*array.Struct)
	children := make([]arrow.ArrayData, 2)
	for i, want := range pair.Fields() {
		c, err := s.shape(entries.Field(i), want)
		if err != nil {
			return nil, err
		}
		children[i] = c.Data()
	}
	pairs := array.NewData(pair, entries.Len(), entries.Data().Buffers(), children, entries.NullN(), entries.Data().Offset())
	return rebuilt(a, t, pairs), nil
}

// rebuilt is a nested array with other children.
func rebuilt(a arrow.Array, t arrow.DataType, children ...arrow.ArrayData) arrow.Array {
	d := a.Data()
	return array.MakeFromData(array.NewData(t, a.Len(), d.Buffers(), children, a.NullN(), d.Offset()))
}

// widen casts between the types of one column then and now, and between Arrow's forms of one type.
func widen(a arrow.Array, to arrow.DataType) (arrow.Array, error) {
	if d, ok := to.(*arrow.Decimal128Type); ok {
		if have, ok := a.(*array.Decimal128); ok && have.DataType().(*arrow.Decimal128Type).Scale == d.Scale {
			return rebuilt(a, to), nil // the same numbers, of a larger precision
		}
	}
	return compute.CastArray(context.Background(), a, compute.SafeCastOptions(to))
}
