// Package rows holds the changes of one delivery for one table: typed columns in Arrow arrays, typed keys,
// and one entry per change.
//
// Everything that reaches this package has its column's type already; coerce does that, and refuses what
// does not fit. The package knows nothing of Kafka's bytes, of envelopes or of snapshots. A Batch is filled
// by one goroutine and read by many once it is complete.
package rows

import (
	"fmt"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/iceberg-go"
)

// Schema is the part of a table's schema that rows are made by.
type Schema struct {
	ID      int
	Columns []Column
	Key     []int // which columns make up the key, in key order
}

// Column is a column of the table.
type Column struct {
	Name     string
	FieldID  int
	Type     iceberg.Type
	Required bool
}

// NewSchema takes the columns of a table and the names of its key columns; without names the table's
// identifier fields are the key. Types that cannot be written yet, key columns that do not exist and keys of
// a type without exact equality are errors.
func NewSchema(s *iceberg.Schema, key []string) (*Schema, error) {
	out := &Schema{ID: s.ID}
	at := map[string]int{}
	for i, f := range s.Fields() {
		if !supported(f.Type) {
			return nil, fmt.Errorf("column %s: the type %s is not supported", f.Name, f.Type)
		}
		at[f.Name] = i
		out.Columns = append(out.Columns, Column{Name: f.Name, FieldID: f.ID, Type: f.Type, Required: f.Required})
	}
	if len(key) == 0 {
		for _, id := range s.IdentifierFieldIDs {
			name, _ := s.FindColumnName(id)
			key = append(key, name)
		}
	}
	if len(key) == 0 {
		return nil, fmt.Errorf("the table has no identifier fields and the route names no key")
	}
	for _, name := range key {
		i, ok := at[name]
		if !ok {
			return nil, fmt.Errorf("key column %s: the table has no such column", name)
		}
		if _, float := out.Columns[i].Type.(iceberg.Float64Type); float {
			return nil, fmt.Errorf("key column %s: a %s cannot be a key", name, out.Columns[i].Type)
		}
		out.Key = append(out.Key, i)
	}
	return out, nil
}

// Arrow is the schema of the batch's arrays, with Iceberg's field ids where Parquet writers look for them.
func (s *Schema) Arrow() *arrow.Schema {
	fields := make([]arrow.Field, len(s.Columns))
	for i, c := range s.Columns {
		fields[i] = arrow.Field{
			Name: c.Name, Type: arrowType(c.Type), Nullable: !c.Required,
			Metadata: arrow.NewMetadata([]string{"PARQUET:field_id"}, []string{strconv.Itoa(c.FieldID)}),
		}
	}
	return arrow.NewSchema(fields, nil)
}

func supported(t iceberg.Type) bool { return arrowType(t) != nil }

func arrowType(t iceberg.Type) arrow.DataType {
	switch t := t.(type) {
	case iceberg.BooleanType:
		return arrow.FixedWidthTypes.Boolean
	case iceberg.Int32Type:
		return arrow.PrimitiveTypes.Int32
	case iceberg.Int64Type:
		return arrow.PrimitiveTypes.Int64
	case iceberg.Float64Type:
		return arrow.PrimitiveTypes.Float64
	case iceberg.DecimalType:
		return &arrow.Decimal128Type{Precision: int32(t.Precision()), Scale: int32(t.Scale())}
	case iceberg.DateType:
		return arrow.FixedWidthTypes.Date32
	case iceberg.TimestampType:
		return &arrow.TimestampType{Unit: arrow.Microsecond}
	case iceberg.TimestampTzType:
		return &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}
	case iceberg.StringType:
		return arrow.BinaryTypes.String
	}
	return nil
}
