package stage

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/iceberg-go"
	"github.com/frazil/frazil/internal/rows"
	"github.com/google/uuid"
)

// source is a column that partitions or sort orders are made of; it may lie inside structs.
type source struct {
	typ   iceberg.Type
	array arrow.Array // nil: nothing is stored for the column, all is null
}

// sourceOf finds a column by its field id among those of the schema's fields. It has no type where there is none.
func sourceOf(fields []iceberg.NestedField, column func(i int) (arrow.Array, error), id int) (source, error) {
	for i, f := range fields {
		t, nested := f.Type.(*iceberg.StructType)
		if f.ID != id && !(nested && holds(t, id)) {
			continue
		}
		a, err := column(i)
		if err != nil || f.ID == id {
			return source{f.Type, a}, err
		}
		return sourceOf(t.FieldList, func(i int) (arrow.Array, error) { return a.(*array.Struct).Field(i), nil }, id)
	}
	return source{}, nil
}

// holds reports whether a field of the id lies inside a struct, and structs only.
func holds(t *iceberg.StructType, id int) bool {
	return slices.ContainsFunc(t.FieldList, func(f iceberg.NestedField) bool {
		inner, ok := f.Type.(*iceberg.StructType)
		return f.ID == id || ok && holds(inner, id)
	})
}

// value is the column's value in a row; a null, also of a struct around it, is not valid.
func (s source) value(row int64) (v iceberg.Optional[iceberg.Literal]) {
	if s.array == nil || s.array.IsNull(int(row)) {
		return v
	}
	v.Val = literal(s.typ, s.array, int(row))
	v.Valid = v.Val != nil
	return v
}

// literal is a value of a primitive column; nil of an unknown one.
func literal(t iceberg.Type, a arrow.Array, i int) iceberg.Literal {
	switch a := a.(type) {
	case *array.Boolean:
		return iceberg.BoolLiteral(a.Value(i))
	case *array.Int32:
		return iceberg.Int32Literal(a.Value(i))
	case *array.Int64:
		return iceberg.Int64Literal(a.Value(i))
	case *array.Float32:
		return iceberg.Float32Literal(a.Value(i))
	case *array.Float64:
		return iceberg.Float64Literal(a.Value(i))
	case *array.Date32:
		return iceberg.DateLiteral(a.Value(i))
	case *array.Time64:
		return iceberg.TimeLiteral(a.Value(i))
	case *array.Timestamp:
		if a.DataType().(*arrow.TimestampType).Unit == arrow.Nanosecond {
			return iceberg.TimestampNsLiteral(a.Value(i))
		}
		return iceberg.TimestampLiteral(a.Value(i))
	case *array.Decimal128:
		return iceberg.DecimalLiteral{Val: a.Value(i), Scale: t.(iceberg.DecimalType).Scale()}
	case *array.String:
		return iceberg.StringLiteral(a.Value(i))
	case *array.Binary:
		return iceberg.BinaryLiteral(a.Value(i))
	case *array.FixedSizeBinary:
		return iceberg.FixedLiteral(a.Value(i))
	case array.ExtensionArray:
		return iceberg.UUIDLiteral(uuid.UUID(a.Storage().(*array.FixedSizeBinary).Value(i)))
	}
	return nil
}

// appendLiteral appends a value so that the order of bytes is the order of values.
func appendLiteral(b []byte, l iceberg.Literal) []byte {
	switch v := l.(type) {
	case iceberg.BoolLiteral:
		if v {
			return append(b, 1)
		}
		return append(b, 0)
	case iceberg.Int32Literal:
		return rows.AppendInt(b, int64(v))
	case iceberg.Int64Literal:
		return rows.AppendInt(b, int64(v))
	case iceberg.DateLiteral:
		return rows.AppendInt(b, int64(v))
	case iceberg.TimeLiteral:
		return rows.AppendInt(b, int64(v))
	case iceberg.TimestampLiteral:
		return rows.AppendInt(b, int64(v))
	case iceberg.TimestampNsLiteral:
		return rows.AppendInt(b, int64(v))
	case iceberg.Float32Literal:
		return rows.AppendFloat(b, float64(v))
	case iceberg.Float64Literal:
		return rows.AppendFloat(b, float64(v))
	case iceberg.DecimalLiteral:
		return rows.AppendDecimal(b, v.Val)
	case iceberg.StringLiteral:
		return append(b, v...)
	case iceberg.BinaryLiteral:
		return append(b, v...)
	case iceberg.FixedLiteral:
		return append(b, v...)
	case iceberg.UUIDLiteral:
		return append(b, v[:]...)
	}
	panic("stage: no order for " + l.Type().String()) // transforms have no other results
}
