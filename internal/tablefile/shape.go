package tablefile

import (
	"context"
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/compute"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/frazil/frazil/internal/rows"
)

// shaper brings arrays of a file to the shape of today's schema: fields by id, at every depth; types that were widened
// since, widened; fields that were added since, filled with their initial default or null.
type shaper Defaults

// field is n rows of a field, in its shape. The column is that of the one with its id among the fields of a file, or of a struct
// of it.
func (s shaper) field(fields []arrow.Field, column func(i int) (arrow.Array, error), want arrow.Field, n int) (arrow.Array, error) {
	i := find(fields, rows.FieldID(want))
	if i < 0 {
		return s.absent(want, n), nil
	}
	out, err := column(i)
	if err == nil {
		out, err = s.shape(out, fields[i], want)
	}
	if err != nil {
		return nil, fmt.Errorf("column %s: %w", want.Name, err)
	}
	return out, nil
}

// find is where the field of an id is among some fields, -1 where there is none.
func find(fields []arrow.Field, id int) int {
	return slices.IndexFunc(fields, func(f arrow.Field) bool { return rows.FieldID(f) == id })
}

// absent is n rows of a field that a file does not have.
func (s shaper) absent(want arrow.Field, n int) arrow.Array {
	if value, ok := s[rows.FieldID(want)]; ok {
		return rows.Repeat(want.Type, value, n)
	}
	return array.MakeArrayOfNull(memory.DefaultAllocator, want.Type, n)
}

// shape brings an array of the field have to that of the field want.
func (s shaper) shape(a arrow.Array, have, want arrow.Field) (arrow.Array, error) {
	switch to := want.Type.(type) {
	case *arrow.StructType:
		if from, ok := have.Type.(*arrow.StructType); ok {
			return s.structure(a.(*array.Struct), from, to)
		}
	case *arrow.MapType:
		if from, ok := have.Type.(*arrow.MapType); ok {
			return s.entries(a.(*array.Map), from, to)
		}
	case *arrow.ListType:
		if from, ok := have.Type.(*arrow.ListType); ok {
			elements, err := s.shape(a.(*array.List).ListValues(), from.ElemField(), to.ElemField())
			if err != nil {
				return nil, err
			}
			return rebuilt(a, to, elements.Data()), nil
		}
	default:
		if arrow.TypeEqual(a.DataType(), to) {
			return a, nil
		}
		return widen(a, to)
	}
	return nil, fmt.Errorf("a %s is no %s", have.Type, want.Type)
}

func (s shaper) structure(a *array.Struct, from, to *arrow.StructType) (arrow.Array, error) {
	column := func(i int) (arrow.Array, error) { return a.Field(i), nil }
	children := make([]arrow.ArrayData, to.NumFields())
	for i, want := range to.Fields() {
		c, err := s.field(from.Fields(), column, want, a.Len())
		if err != nil {
			return nil, err
		}
		if a.NullN() > c.NullN() { // defaults of a field that the file does not have
			if c, err = inside(a, c); err != nil {
				return nil, err
			}
		}
		children[i] = c.Data()
	}
	return rebuilt(a, to, children...), nil
}

// inside is a field of a struct, null where the struct is: by that its nulls are counted.
func inside(a *array.Struct, field arrow.Array) (arrow.Array, error) {
	index := array.NewInt64Builder(memory.DefaultAllocator)
	for i := range a.Len() {
		if a.IsNull(i) {
			index.AppendNull()
		} else {
			index.Append(int64(i))
		}
	}
	return compute.TakeArray(context.Background(), field, index.NewInt64Array())
}

func (s shaper) entries(a *array.Map, from, to *arrow.MapType) (arrow.Array, error) {
	keys, err := s.shape(a.Keys(), from.KeyField(), to.KeyField())
	if err != nil {
		return nil, err
	}
	items, err := s.shape(a.Items(), from.ItemField(), to.ItemField())
	if err != nil {
		return nil, err
	}
	old := a.ListValues().Data()
	pairs := array.NewData(to.Elem(), old.Len(), old.Buffers(), []arrow.ArrayData{keys.Data(), items.Data()}, old.NullN(), old.Offset())
	return rebuilt(a, to, pairs), nil
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
	if e, ok := to.(arrow.ExtensionType); ok && arrow.TypeEqual(a.DataType(), e.StorageType()) {
		return rebuilt(a, to), nil // a uuid that its writer did not call so
	}
	return compute.CastArray(context.Background(), a, compute.SafeCastOptions(to))
}
