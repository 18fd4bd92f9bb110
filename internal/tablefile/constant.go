package tablefile

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/apache/iceberg-go"
	"github.com/frazil/frazil/internal/rows"
	"github.com/google/uuid"
)

// constant is the value that a column has in all rows of a file which does not have the column itself, since it is the file's
// partition that says it: so are files that were Hive's before their table was Iceberg's (Iceberg spec, column projection). It is
// nil where the partition does not say.
func (f File) constant(id int) (*rows.Cell, error) {
	field, ok := f.Identities[id]
	if !ok {
		return nil, nil
	}
	v, ok := f.Partition()[field]
	if !ok {
		return nil, nil
	}
	c, ok := partitionCell(v)
	if !ok {
		return nil, fmt.Errorf("column %d: a partition value of the type %T is not supported", id, v)
	}
	return &c, nil
}

// missing are the values of fields that the file may lack.
func (f File) missing(defaults Defaults) (Defaults, error) {
	if len(f.Identities) == 0 {
		return defaults, nil
	}
	out := maps.Clone(defaults)
	if out == nil {
		out = Defaults{}
	}
	for id := range f.Identities {
		c, err := f.constant(id)
		if err != nil {
			return nil, err
		}
		if c != nil {
			out[id] = c
		}
	}
	return out, nil
}

// partitionCell is a partition value in the forms that manifests give it.
func partitionCell(v any) (c rows.Cell, ok bool) {
	switch v := v.(type) {
	case nil:
		return rows.Cell{Null: true}, true
	case string:
		return rows.Cell{Bytes: []byte(v)}, true
	case []byte:
		return rows.Cell{Bytes: v}, true
	case uuid.UUID:
		return rows.Cell{Bytes: v[:]}, true
	case iceberg.Decimal:
		return rows.Cell{Decimal: v.Val}, true
	case iceberg.DecimalLiteral: // of manifests
		return rows.Cell{Decimal: v.Val}, true
	}
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Bool:
		if r.Bool() {
			c.Int = 1
		}
		return c, true
	case reflect.Int, reflect.Int32, reflect.Int64: // also of dates and times
		return rows.Cell{Int: r.Int()}, true
	case reflect.Float32, reflect.Float64:
		return rows.Cell{Float: r.Float()}, true
	}
	return c, false
}

// fill are fields with the values that the file's partition says of those which the file does not have.
func (f File) fill(fields []Field, leaves []int) ([]Field, error) {
	out := slices.Clone(fields)
	for i, field := range out {
		if leaves[i] != none {
			continue
		}
		c, err := f.constant(field.ID)
		switch {
		case err != nil:
			return nil, err
		case c != nil && c.Null:
			out[i].Missing = nil
		case c != nil:
			out[i].Missing = rows.AppendCell([]byte{}, field.Type, c)
		}
	}
	return out, nil
}
