package wire

import (
	"errors"
	"strconv"
)

// Type is the writer's type of a value.
//
// For Connect's JSON it is the field schema that JsonConverter sends. Kind and Name are as sent: Kind is
// boolean, int8, int16, int32, int64, float, double, bytes, string, array, map or struct (CockroachDB's
// look-alike adds others, such as float64), Name that of a semantic type, such as
// io.debezium.time.MicroTimestamp, or "".
type Type struct {
	Kind       string
	Name       string
	Scale      int // parameters.scale of Connect's Decimal, 0 of others
	Optional   bool
	HasDefault bool    // a null may arrive as the column's default (replace.null.with.default)
	Fields     []Field // of a struct
	Elem       *Type   // of an array, or of a map that is sent as one
	Key, Value *Type   // of a map, or of one of its pairs: one whose key is no string is sent as an array of them
}

// pair is the Kind of an element of a map that is sent as an array.
const pair = "pair"

// Field is one field of a struct.
type Field struct {
	Name string
	Type *Type
}

// Field returns the type of a struct's field of that name, nil if there is none, also of a nil Type.
func (t *Type) Field(name []byte) *Type {
	if t == nil {
		return nil
	}
	for i := range t.Fields {
		if t.Fields[i].Name == string(name) {
			return t.Fields[i].Type
		}
	}
	return nil
}

// member is the type of an object's n-th member, of that name. Fields are sent in the order of the schema,
// which makes n nearly always the right one.
func (t *Type) member(n int, name []byte) *Type {
	if t.Kind == "map" {
		return t.Value
	}
	if n < len(t.Fields) && t.Fields[n].Name == string(name) {
		return t.Fields[n].Type
	}
	return t.Field(name)
}

// element is the type of an array's n-th element.
func (t *Type) element(n int) *Type {
	switch {
	case t == nil:
		return nil
	case t.Kind != pair:
		return t.Elem
	case n == 0:
		return t.Key
	}
	return t.Value
}

// Decimal is the Name of Connect's decimals, the only type whose scale the reader must know.
const Decimal = "org.apache.kafka.connect.data.Decimal"

// connectType reads a Connect field schema.
func connectType(v Value) (*Type, error) {
	if v.Kind() != Object || v.Field("type").Kind() != Text {
		return nil, errors.New("a type is no object with a text \"type\"")
	}
	t := &Type{
		Kind:       string(v.Field("type").Text()),
		Name:       string(v.Field("name").Text()),
		Optional:   v.Field("optional").Bool(),
		HasDefault: v.Field("default").Kind() > Null,
	}
	if t.Name == Decimal {
		n, err := strconv.ParseInt(string(v.Field("parameters").Field("scale").Text()), 10, 32)
		if err != nil {
			return nil, errors.New("a Decimal's parameters.scale is no 32-bit integer")
		}
		t.Scale = int(n)
	}
	return t, t.parts(v)
}

// parts reads the types inside a struct, array or map.
func (t *Type) parts(v Value) (err error) {
	switch t.Kind {
	case "struct":
		return t.fields(v.Field("fields"))
	case "array":
		t.Elem, err = connectType(v.Field("items"))
	case "map":
		if t.Key, err = connectType(v.Field("keys")); err != nil {
			return err
		}
		t.Value, err = connectType(v.Field("values"))
		t.Elem = &Type{Kind: pair, Key: t.Key, Value: t.Value}
	}
	return err
}

func (t *Type) fields(list Value) error {
	if list.Kind() != Array {
		return errors.New("a struct has no list \"fields\"")
	}
	t.Fields = make([]Field, 0, list.Len())
	for f := range list.Elems() {
		name := f.Field("field")
		if name.Kind() != Text {
			return errors.New("a struct's field has no text \"field\"")
		}
		typ, err := connectType(f)
		if err != nil {
			return err
		}
		t.Fields = append(t.Fields, Field{Name: string(name.Text()), Type: typ})
	}
	return nil
}
