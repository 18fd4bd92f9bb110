package stage

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// stripped is a column without what is not stored: fields of type unknown, whose values are all null. It is nil when
// nothing is left.
func stripped(f arrow.Field, a arrow.Array) (arrow.Field, arrow.Array) {
	switch t := f.Type.(type) {
	case *arrow.NullType:
		return f, nil
	case *arrow.StructType:
		if !hasUnknown(t) {
			return f, a
		}
		nested := a.(*array.Struct)
		var fields []arrow.Field
		var children []arrow.ArrayData
		for i, child := range t.Fields() {
			if child, column := stripped(child, nested.Field(i)); column != nil {
				fields, children = append(fields, child), append(children, column.Data())
			}
		}
		if len(fields) == 0 {
			return f, nil
		}
		f.Type = arrow.StructOf(fields...)
		return f, array.MakeFromData(array.NewData(f.Type, a.Len(), a.Data().Buffers(), children, a.NullN(), 0))
	}
	return f, a
}

func hasUnknown(t *arrow.StructType) bool {
	for _, f := range t.Fields() {
		if f.Type.ID() == arrow.NULL {
			return true
		}
		if s, ok := f.Type.(*arrow.StructType); ok && hasUnknown(s) {
			return true
		}
	}
	return false
}
