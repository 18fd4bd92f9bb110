package rows

import (
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/iceberg-go"
)

func arrowField(f iceberg.NestedField) arrow.Field {
	return arrow.Field{
		Name: f.Name, Type: arrowType(f.Type), Nullable: !f.Required,
		Metadata: IDMetadata(f.ID),
	}
}

const fieldIDKey = "PARQUET:field_id"

// IDMetadata is where Parquet writers look for an Arrow field's Iceberg field id.
func IDMetadata(id int) arrow.Metadata {
	return arrow.NewMetadata([]string{fieldIDKey}, []string{strconv.Itoa(id)})
}

// FieldID is the Iceberg field id of an Arrow field that came from Parquet, or is on its way there; -1 without one.
func FieldID(f arrow.Field) int {
	if text, ok := f.Metadata.GetValue(fieldIDKey); ok {
		if id, err := strconv.Atoi(text); err == nil {
			return id
		}
	}
	return -1
}

// arrowType is the Arrow type of a column's values, nil if there is none.
func arrowType(t iceberg.Type) arrow.DataType {
	switch t := t.(type) {
	case *iceberg.StructType:
		fields := make([]arrow.Field, len(t.FieldList))
		for i, f := range t.FieldList {
			fields[i] = arrowField(f)
		}
		return arrow.StructOf(fields...)
	case *iceberg.ListType:
		return arrow.ListOfField(arrowField(t.ElementField()))
	case *iceberg.MapType:
		return arrow.MapOfFields(arrowField(t.KeyField()), arrowField(t.ValueField()))
	case iceberg.DecimalType:
		return &arrow.Decimal128Type{Precision: int32(t.Precision()), Scale: int32(t.Scale())}
	case iceberg.FixedType:
		return &arrow.FixedSizeBinaryType{ByteWidth: t.Len()}
	}
	return arrowTypes[t]
}

// arrowTypes are the types without parameters. A uuid is Arrow's own extension type, which pqarrow writes with Parquet's
// logical type UUID.
var arrowTypes = map[iceberg.Type]arrow.DataType{
	iceberg.BooleanType{}:       arrow.FixedWidthTypes.Boolean,
	iceberg.Int32Type{}:         arrow.PrimitiveTypes.Int32,
	iceberg.Int64Type{}:         arrow.PrimitiveTypes.Int64,
	iceberg.Float32Type{}:       arrow.PrimitiveTypes.Float32,
	iceberg.Float64Type{}:       arrow.PrimitiveTypes.Float64,
	iceberg.DateType{}:          arrow.FixedWidthTypes.Date32,
	iceberg.TimeType{}:          arrow.FixedWidthTypes.Time64us,
	iceberg.TimestampType{}:     &arrow.TimestampType{Unit: arrow.Microsecond},
	iceberg.TimestampTzType{}:   arrow.FixedWidthTypes.Timestamp_us,
	iceberg.TimestampNsType{}:   &arrow.TimestampType{Unit: arrow.Nanosecond},
	iceberg.TimestampTzNsType{}: arrow.FixedWidthTypes.Timestamp_ns,
	iceberg.StringType{}:        arrow.BinaryTypes.String,
	iceberg.UUIDType{}:          extensions.NewUUIDType(),
	iceberg.BinaryType{}:        arrow.BinaryTypes.Binary,
	iceberg.UnknownType{}:       arrow.Null,
}
