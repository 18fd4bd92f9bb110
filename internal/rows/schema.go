// Package rows holds the changes of one delivery for one table: typed columns in Arrow arrays, typed keys,
// and one entry per change.
//
// Everything that reaches this package has its column's type already; coerce does that, and refuses what
// does not fit. The package knows nothing of Kafka's bytes, of envelopes or of snapshots. A Batch is filled
// by one goroutine and read by many once it is complete.
package rows

import (
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/iceberg-go"
)

// Schema is the part of a table's schema that rows are made by.
type Schema struct {
	Columns []Column
	Key     []int // which columns make up the key, in key order
	// Form is the ids and types of the columns: rows of two schemas compare where it is the same. The number of a schema that was removed
	// may be that of another one by then.
	Form string
}

// Column is a column of the table.
type Column struct {
	Name     string
	FieldID  int
	Type     iceberg.Type
	Required bool
	Default  any // the column's write-default in iceberg-go's form; nil: none
}

// NewSchema takes the columns of a table and the names of its key columns; without names the table's
// identifier fields are the key. Types that cannot be written, key columns that do not exist and keys of
// a type without exact equality are errors.
func NewSchema(s *iceberg.Schema, key []string) (*Schema, error) {
	out := &Schema{}
	for _, f := range s.Fields() {
		if t := refused(f.Type, false); t != nil {
			return nil, fmt.Errorf("column %s: the type %s is not supported", f.Name, t)
		}
		out.Columns = append(out.Columns, Column{Name: f.Name, FieldID: f.ID, Type: f.Type, Required: f.Required, Default: f.WriteDefault})
		out.Form += fmt.Sprintf("%d %s, ", f.ID, f.Type)
	}
	var err error
	if len(key) > 0 {
		out.Key, err = out.named(key)
	} else {
		out.Key, err = out.identified(s)
	}
	if err != nil {
		return nil, err
	}
	for _, i := range out.Key {
		if c := out.Columns[i]; !fitsKey(c.Type) {
			return nil, fmt.Errorf("key column %s: a %s cannot be a key", c.Name, c.Type)
		}
	}
	return out, nil
}

// named are the key columns that the route names.
func (s *Schema) named(key []string) (columns []int, err error) {
	for _, name := range key {
		i := slices.IndexFunc(s.Columns, func(c Column) bool { return c.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("key column %s: the table has no such column", name)
		}
		columns = append(columns, i)
	}
	return columns, nil
}

// identified are the columns of the table's identifier fields.
func (s *Schema) identified(table *iceberg.Schema) (columns []int, err error) {
	for _, id := range table.IdentifierFieldIDs {
		i := slices.IndexFunc(s.Columns, func(c Column) bool { return c.FieldID == id })
		if i < 0 {
			name, _ := table.FindColumnName(id)
			return nil, fmt.Errorf("key column %s: an identifier field inside a struct is not supported; the route can name another key", name)
		}
		columns = append(columns, i)
	}
	if len(columns) == 0 {
		return nil, fmt.Errorf("the table has no identifier fields and the route names no key")
	}
	return columns, nil
}

// refused is the first type in t that cannot be written, nil if there is none. Inside a list or map (repeated) that is also
// an unknown: it has no place in files, and a list of what is not there would lose its length.
func refused(t iceberg.Type, repeated bool) iceberg.Type {
	nested, ok := t.(iceberg.NestedType)
	if !ok {
		if _, unknown := t.(iceberg.UnknownType); arrowType(t) == nil || unknown && repeated {
			return t
		}
		return nil
	}
	if _, structure := t.(*iceberg.StructType); !structure {
		repeated = true
	}
	for _, f := range nested.Fields() {
		if t := refused(f.Type, repeated); t != nil {
			return t
		}
	}
	return nil
}

// fitsKey reports whether a type has exact equality: all primitive ones but float, double and unknown (spec, identifier
// field ids).
func fitsKey(t iceberg.Type) bool {
	switch t.(type) {
	case iceberg.Float32Type, iceberg.Float64Type, iceberg.UnknownType, iceberg.NestedType:
		return false
	}
	return true
}

// Arrow is the schema of the batch's arrays, with Iceberg's field ids where Parquet writers look for them: on columns,
// on struct fields, and on the element, key and value of lists and maps. A column of type unknown is of Arrow's type
// null; it does not belong into files (spec, type unknown).
func (s *Schema) Arrow() *arrow.Schema {
	fields := make([]arrow.Field, len(s.Columns))
	for i, c := range s.Columns {
		fields[i] = arrowField(iceberg.NestedField{ID: c.FieldID, Name: c.Name, Type: c.Type, Required: c.Required})
	}
	return arrow.NewSchema(fields, nil)
}
