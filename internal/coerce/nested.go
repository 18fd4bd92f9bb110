package coerce

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"github.com/apache/iceberg-go"
	"github.com/frazil/frazil/internal/rows"
	"github.com/frazil/frazil/internal/wire"
)

// inside says where in a column, or in a nested value, a problem is.
type inside struct {
	path string
	err  error
}

func (e *inside) Error() string { return e.path + ": " + e.err.Error() }

// within puts a name before the path of a problem.
func within(name string, err error) error {
	if in, ok := err.(*inside); ok {
		return &inside{name + "." + in.path, in.err}
	}
	return &inside{name, err}
}

// slot is a place inside a nested value.
type slot struct {
	name     string
	required bool
	parse    parser
}

func newSlot(f iceberg.NestedField, o options) (slot, error) {
	parse, err := parserOf(f.Type, o)
	if err != nil {
		return slot{}, within(f.Name, err)
	}
	return slot{name: f.Name, required: f.Required, parse: parse}, nil
}

// read reads a value into an empty cell.
func (s *slot) read(v wire.Value, c *rows.Cell) error {
	if v.Kind() <= wire.Null {
		c.Null = true
	} else if err := s.parse(v, c); err != nil {
		return within(s.name, err)
	}
	if c.Null && s.required {
		return within(s.name, errRequired)
	}
	return nil
}

var errRequired = errors.New("is required and has no value")

const jsonText = "io.debezium.data.Json"

// opened is v, or what stands in a text that its writer calls JSON: a value of one of the kinds that fit the nested type
// named, or a null, for which it makes the cell null. Other texts stay texts: that they look like JSON does not say that
// they are.
func (s *scratch) opened(v wire.Value, c *rows.Cell, name string, kinds ...wire.Kind) (wire.Value, error) {
	if v.Kind() == wire.Text && v.Type() != nil && v.Type().Name == jsonText {
		var err error
		if v, err = s.doc().JSON(v.Text()); err != nil {
			return v, errors.New("is no JSON, which its writer calls it")
		}
	}
	c.Null = v.Kind() == wire.Null
	switch {
	case c.Null || slices.Contains(kinds, v.Kind()):
		return v, nil
	case v.Kind() == wire.Text:
		return v, errors.New("a text does not fit " + name + ", unless the writer's type says that it is " + jsonText)
	}
	return v, wrongKind(v, name)
}

// list parses arrays.
type list struct {
	element slot
	scratch *scratch
}

func newList(t *iceberg.ListType, o options) (parser, error) {
	element, err := newSlot(t.ElementField(), o)
	return (&list{element, o.scratch}).parse, err
}

func (t *list) parse(v wire.Value, c *rows.Cell) error {
	v, err := t.scratch.opened(v, c, "list", wire.Array)
	if err != nil || c.Null {
		return err
	}
	for e := range v.Elems() {
		if err := t.element.read(e, c.Add()); err != nil {
			return err
		}
	}
	return nil
}

// structure parses objects into structs. Members that are not there are NULL, or the field's default.
type structure struct {
	fields   []slot
	defaults []*rows.Cell
	names    *names
	seen     []bool
	ignore   bool
	scratch  *scratch
}

func newStructure(t *iceberg.StructType, o options) (parser, error) {
	s := &structure{seen: make([]bool, len(t.FieldList)), ignore: o.ignore, scratch: o.scratch}
	var list []string
	for _, f := range t.FieldList {
		field, err := newSlot(f, o)
		if err != nil {
			return nil, err
		}
		value, err := defaultCell(f.Type, f.WriteDefault)
		if err != nil {
			return nil, within(f.Name, err)
		}
		s.fields, s.defaults, list = append(s.fields, field), append(s.defaults, value), append(list, f.Name)
	}
	var err error
	s.names, err = newNames(list, o.fold)
	return s.parse, err
}

func (t *structure) parse(v wire.Value, c *rows.Cell) error {
	v, err := t.scratch.opened(v, c, "struct", wire.Object)
	if err != nil || c.Null {
		return err
	}
	for range t.fields {
		c.Add()
	}
	if err := t.members(v, c.Children); err != nil {
		return err
	}
	for i, seen := range t.seen {
		if !seen {
			if err := t.missing(i, &c.Children[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *structure) members(v wire.Value, cells []rows.Cell) error {
	clear(t.seen)
	n := 0
	for name, m := range v.Members() {
		i := t.names.find(n, name)
		n++
		switch {
		case i < 0 && t.ignore:
			continue
		case i < 0:
			return within(printable(name), errors.New("the struct has no such field (add it there, or unknown_columns: ignore leaves its values out)"))
		case t.seen[i]:
			return within(t.fields[i].name, errTwice)
		}
		t.seen[i] = true
		if err := t.fields[i].read(m, &cells[i]); err != nil {
			return err
		}
	}
	return nil
}

var errTwice = errors.New("the record has it twice, in names that are alike without case")

func (t *structure) missing(i int, c *rows.Cell) error {
	switch {
	case t.defaults[i] != nil:
		set(c, t.defaults[i])
	case t.fields[i].required:
		return within(t.fields[i].name, errors.New("is required and the record does not have it"))
	default:
		c.Null = true
	}
	return nil
}

// dictionary parses maps: objects, whose names are the keys as text, and arrays of pairs.
type dictionary struct {
	key, value slot
	named      parser // of a key that is a member's name
	floats     bool   // such a key is a number's text
	scratch    *scratch
	keys       map[string]bool
	text       []byte
}

func newDictionary(t *iceberg.MapType, o options) (parser, error) {
	key, err := newSlot(t.KeyField(), o)
	if err != nil {
		return nil, err
	}
	value, err := newSlot(t.ValueField(), o)
	if err != nil {
		return nil, err
	}
	plain := o
	plain.decimals = "text"
	named, err := parserOf(t.KeyType, plain)
	m := &dictionary{key: key, value: value, named: named, scratch: o.scratch, keys: map[string]bool{}}
	switch t.KeyType.(type) {
	case iceberg.Float32Type, iceberg.Float64Type:
		m.floats = true
	}
	return m.parse, err
}

func (t *dictionary) parse(v wire.Value, c *rows.Cell) error {
	v, err := t.scratch.opened(v, c, "map", wire.Object, wire.Array)
	switch {
	case err != nil || c.Null:
		return err
	case v.Kind() == wire.Object:
		err = t.object(v, c)
	default:
		err = t.pairs(v, c)
	}
	if err != nil {
		return err
	}
	return t.unique(c.Children)
}

func (t *dictionary) object(v wire.Value, c *rows.Cell) error {
	for name, m := range v.Members() {
		if err := t.name(name, c.Add()); err != nil {
			return within("key", err)
		}
		if err := t.value.read(m, c.Add()); err != nil {
			return err
		}
	}
	return nil
}

// name reads a member's name, which is a text also where the key is none.
func (t *dictionary) name(name []byte, c *rows.Cell) error {
	if t.floats {
		if v, err := t.scratch.bare.JSON(name); err == nil {
			return t.named(v, c)
		}
	}
	v, err := t.scratch.bare.Bare(name)
	if err != nil {
		return err
	}
	return t.named(v, c)
}

func (t *dictionary) pairs(v wire.Value, c *rows.Cell) error {
	for pair := range v.Elems() {
		if pair.Kind() != wire.Array || pair.Len() != 2 {
			return errors.New("an array whose elements are not all pairs does not fit map")
		}
		slots := [2]*slot{&t.key, &t.value}
		i := 0
		for e := range pair.Elems() {
			if err := slots[i].read(e, c.Add()); err != nil {
				return err
			}
			i++
		}
	}
	return nil
}

// unique refuses keys that are equal once they have their type.
func (t *dictionary) unique(pairs []rows.Cell) error {
	clear(t.keys)
	for i := 0; len(pairs) > 2 && i < len(pairs); i += 2 {
		t.text = appendCell(t.text[:0], &pairs[i])
		if t.keys[string(t.text)] {
			return within("key", errors.New("two keys are equal"))
		}
		t.keys[string(t.text)] = true
	}
	return nil
}

// appendCell appends a form of a cell that is equal for equal values of a type only.
func appendCell(b []byte, c *rows.Cell) []byte {
	if c.Null {
		return append(b, 0)
	}
	b = append(b, 1)
	b = binary.LittleEndian.AppendUint64(b, uint64(c.Int))
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(c.Float))
	b = binary.LittleEndian.AppendUint64(b, uint64(c.Decimal.HighBits()))
	b = binary.LittleEndian.AppendUint64(b, c.Decimal.LowBits())
	b = binary.LittleEndian.AppendUint32(b, uint32(len(c.Bytes)))
	b = append(b, c.Bytes...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(c.Children)))
	for i := range c.Children {
		b = appendCell(b, &c.Children[i])
	}
	return b
}
