package stage

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// storedField is what is stored of a column: all but fields of type unknown, whose values are all null (Iceberg spec, Parquet). It is
// false where nothing is left.
func storedField(f arrow.Field) (arrow.Field, bool) {
	switch t := f.Type.(type) {
	case *arrow.NullType:
		return f, false
	case *arrow.StructType:
		var fields []arrow.Field
		for _, child := range t.Fields() {
			if child, ok := storedField(child); ok {
				fields = append(fields, child)
			}
		}
		f.Type = arrow.StructOf(fields...)
		return f, len(fields) > 0
	}
	return f, true
}

// stripped is what is stored of a column, which is of type to.
func stripped(a arrow.Array, to arrow.DataType) arrow.Array {
	t, ok := to.(*arrow.StructType)
	if !ok || arrow.TypeEqual(a.DataType(), to) {
		return a
	}
	nested := a.(*array.Struct)
	var children []arrow.ArrayData
	for i, have := range nested.DataType().(*arrow.StructType).Fields() {
		if n := slices.IndexFunc(t.Fields(), func(f arrow.Field) bool { return f.Name == have.Name }); n >= 0 {
			children = append(children, stripped(nested.Field(i), t.Field(n).Type).Data())
		}
	}
	return array.MakeFromData(array.NewData(t, a.Len(), a.Data().Buffers(), children, a.NullN(), 0))
}
