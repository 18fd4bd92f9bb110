package coerce

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/apache/iceberg-go"
	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/rows"
	"github.com/frazil/frazil/internal/wire"
)

// defaultCell is a field's default as a cell, nil if it has none. Values are in Iceberg's JSON form (spec, appendix
// D), or in the Go types that iceberg-go has for them.
func defaultCell(t iceberg.Type, value any) (*rows.Cell, error) {
	if value == nil {
		return nil, nil
	}
	text, err := defaultText(t, value)
	if err != nil {
		return nil, fmt.Errorf("its default: %w", err)
	}
	var doc wire.Doc
	v, err := doc.JSON(text)
	if err != nil {
		return nil, fmt.Errorf("its default: %w", err)
	}
	if s, ok := t.(*iceberg.StructType); ok {
		return structDefault(s, v)
	}
	o := options{unit: ownUnit(t), decimals: "text", binary: "hex", special: config.Error, scratch: &scratch{}}
	parse, err := parserOf(t, o)
	if err != nil {
		return nil, err
	}
	var c rows.Cell
	if err := parse(v, &c); err != nil {
		return nil, fmt.Errorf("its default %w", err)
	}
	return &c, nil
}

// defaultText is a default as JSON.
func defaultText(t iceberg.Type, value any) ([]byte, error) {
	switch t.(type) {
	case *iceberg.ListType, *iceberg.MapType:
		return nil, errors.New("one of a list or map is not supported")
	}
	// iceberg-go reads all numbers as float64, which holds whole ones up to here.
	if f, ok := value.(float64); ok && isExact(t) && math.Abs(f) >= 1<<53 {
		return nil, errors.New("a whole number of 2^53 or more cannot be read exactly")
	}
	if d, ok := value.(fmt.Stringer); ok && isDecimal(t) {
		value = d.String()
	}
	field, err := json.Marshal(iceberg.NestedField{Type: t, WriteDefault: value})
	if err != nil {
		return nil, err
	}
	var written struct {
		Default json.RawMessage `json:"write-default"`
	}
	err = json.Unmarshal(field, &written)
	return written.Default, err
}

// structDefault is the empty struct, whose fields have their own defaults: the only one that there is.
func structDefault(t *iceberg.StructType, v wire.Value) (*rows.Cell, error) {
	if v.Kind() != wire.Object || v.Len() > 0 {
		return nil, errors.New("its default: one of a struct has to be {}")
	}
	var c rows.Cell
	for _, f := range t.FieldList {
		value, err := defaultCell(f.Type, f.WriteDefault)
		child := c.Add()
		switch {
		case err != nil:
			return nil, within(f.Name, err)
		case value != nil:
			*child = *value
		case f.Required:
			return nil, within(f.Name, errRequired)
		default:
			child.Null = true
		}
	}
	return &c, nil
}

// ownUnit is the unit in which a type counts.
func ownUnit(t iceberg.Type) string {
	switch t.(type) {
	case iceberg.TimestampNsType, iceberg.TimestampTzNsType:
		return "ns"
	}
	return "us"
}

// set makes c equal to a cell that stays as it is.
func set(c, to *rows.Cell) {
	children := c.Children[:0]
	*c = *to
	c.Children = children
	for i := range to.Children {
		set(c.Add(), &to.Children[i])
	}
}
