package lake

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"
)

// Column is a column of a table to make. Type is an Iceberg type's text: decimal(10,2), list<T>, map<K, V>,
// struct<name: T, …>. What is nested is optional.
type Column struct {
	Name     string
	Type     string
	Required bool
	// Default is the column's initial-default and write-default, a literal; nil: none. Only format version 3 has them.
	Default *string
}

func (c Column) field(id int, next *int) (f iceberg.NestedField, err error) {
	f = iceberg.NestedField{ID: id, Name: c.Name, Required: c.Required}
	if f.Type, err = parseType(c.Type, next); err != nil || c.Default == nil {
		return f, err
	}
	a, err := arrayOf(f.Type, *c.Default)
	if err != nil {
		return f, fmt.Errorf("default: %w", err)
	}
	if n, err := strconv.ParseInt(text(a, 0), 10, 64); err == nil && (n > maxExact || n < -maxExact) {
		return f, fmt.Errorf("default: iceberg-go, in the catalog, rounds %d", n)
	}
	f.InitialDefault, err = decode(string(appendJSON(nil, a, 0)))
	f.WriteDefault = f.InitialDefault
	return f, err
}

// maxExact is the last of the integers that a float holds without gaps.
const maxExact = 1 << 53

// spelled is a default that is written into the schema as Iceberg's JSON has it, where iceberg-go writes the numbers
// behind dates and times.
type spelled struct {
	iceberg.Literal
	typ  iceberg.Type
	text any
}

func (s spelled) Type() iceberg.Type { return s.typ }
func (s spelled) Any() any           { return s.text }

// evolve makes the fields under path the wanted ones: those that are missing are added, those too many dropped, and
// types widened.
func evolve(u *table.UpdateSchema, path []string, have, want []iceberg.NestedField) {
	for _, w := range want {
		at := append(slices.Clone(path), w.Name)
		i := slices.IndexFunc(have, func(h iceberg.NestedField) bool { return h.Name == w.Name })
		switch {
		case i < 0:
			var def iceberg.Literal
			if w.WriteDefault != nil {
				def = spelled{typ: w.Type, text: w.WriteDefault}
			}
			u.AddColumn(at, w.Type, "", w.Required && def != nil, def)
		case typeText(have[i].Type) == typeText(w.Type):
		case have[i].Type.Type() == w.Type.Type() && nested(w.Type):
			evolve(u, at, have[i].Type.(iceberg.NestedType).Fields(), w.Type.(iceberg.NestedType).Fields())
		default:
			u.UpdateColumn(at, table.ColumnUpdate{FieldType: iceberg.Optional[iceberg.Type]{Valid: true, Val: w.Type}})
		}
	}
	for _, h := range have {
		if !slices.ContainsFunc(want, func(w iceberg.NestedField) bool { return w.Name == h.Name }) {
			u.DeleteColumn(append(slices.Clone(path), h.Name))
		}
	}
}

func nested(t iceberg.Type) bool {
	_, ok := t.(iceberg.NestedType)
	return ok
}
