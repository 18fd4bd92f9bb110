// Package wire turns the bytes of a record's key or value into a tree of values, with the writer's types where
// the bytes carry them.
//
// Nothing is converted on the way: a number stays the digits that were sent (no value passes through a
// float64), a text its bytes. Null and absent are two kinds. What is accepted is strict, see Doc.JSON; errors
// name the byte and the problem, never the content.
//
// A tree is a flat tape of tokens in a reusable Doc, and a Value a handle into it: no maps, no allocation per
// value. Values, and the bytes that they hand out, borrow from the Doc and from the input, and are valid until
// the Doc reads its next document. A Doc and its values are not for concurrent use.
//
// The package knows no envelopes, columns or target types.
package wire

import "iter"

// Kind is the kind of a Value.
type Kind uint8

// The kinds. Absent is that of the zero Value and of what is not there; Null is an explicit null.
const (
	Absent Kind = iota
	Null
	Bool
	Number
	Text
	Object
	Array
)

// String returns the kind's name, for messages.
func (k Kind) String() string {
	return [...]string{"absent", "null", "boolean", "number", "text", "object", "array"}[min(k, Array)]
}

// Value is one value of a Doc. The zero Value is absent.
type Value struct {
	doc  *Doc
	typ  *Type
	tok  uint32
	kind Kind
}

// value is the one of token i.
func (d *Doc) value(i uint32, t *Type) Value {
	return Value{doc: d, typ: t, tok: i, kind: d.tape[i].kind}
}

// Kind returns the value's kind.
func (v Value) Kind() Kind { return v.kind }

// Type returns the writer's type, nil if it sent none.
func (v Value) Type() *Type { return v.typ }

// Field returns the member of that name, absent if v is no object or has none.
func (v Value) Field(name string) Value {
	if v.Kind() != Object {
		return Value{}
	}
	n := 0
	for i, end := v.tok+1, v.doc.tape[v.tok].next; i < end; i = v.doc.tape[i+1].next {
		if string(v.doc.name(i)) == name {
			return v.member(n, i)
		}
		n++
	}
	return Value{}
}

// Members yields an object's names, unescaped, and values, in the order sent; of another kind nothing.
func (v Value) Members() iter.Seq2[[]byte, Value] {
	return func(yield func([]byte, Value) bool) {
		if v.Kind() != Object {
			return
		}
		n := 0
		for i, end := v.tok+1, v.doc.tape[v.tok].next; i < end; i = v.doc.tape[i+1].next {
			if !yield(v.doc.name(i), v.member(n, i)) {
				return
			}
			n++
		}
	}
}

// member is the value whose name is token i, the n-th of the object v.
func (v Value) member(n int, i uint32) Value {
	m := v.doc.value(i+1, nil)
	if v.typ != nil {
		m.typ = v.typ.member(n, v.doc.name(i))
	}
	return m
}

// Elems yields an array's values in order; of another kind nothing.
func (v Value) Elems() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		if v.Kind() != Array {
			return
		}
		n := 0
		for i, end := v.tok+1, v.doc.tape[v.tok].next; i < end; i = v.doc.tape[i].next {
			if !yield(v.doc.value(i, v.typ.element(n))) {
				return
			}
			n++
		}
	}
}

// Len returns the number of an object's members or an array's elements, otherwise 0. It counts them.
func (v Value) Len() int {
	n, step := 0, uint32(0)
	switch v.Kind() {
	case Object:
		step = 1
	case Array:
	default:
		return 0
	}
	for i, end := v.tok+1, v.doc.tape[v.tok].next; i < end; i = v.doc.tape[i+step].next {
		n++
	}
	return n
}

// Bool returns a boolean's value, false of any other kind.
func (v Value) Bool() bool {
	return v.Kind() == Bool && v.doc.src[v.doc.tape[v.tok].start] == 't'
}

// Text returns the unescaped bytes of a text, or a number's digits as written; nil of any other kind.
func (v Value) Text() []byte {
	switch v.Kind() {
	case Text:
		t := &v.doc.tape[v.tok]
		s := v.doc.src[t.start:t.end:t.end]
		if t.escaped {
			return v.doc.unescape(s)
		}
		return s
	case Number:
		return v.Raw()
	default:
		return nil
	}
}

// Raw returns the value as sent: its JSON text without the white space around it, or the bytes given to
// Doc.Bare. It is nil of an absent value, and of a Null that stands for Kafka's.
func (v Value) Raw() []byte {
	if v.doc == nil {
		return nil
	}
	t := &v.doc.tape[v.tok]
	if t.kind == Text && t.start > 0 {
		return v.doc.src[t.start-1 : t.end+1 : t.end+1]
	}
	return v.doc.src[t.start:t.end:t.end]
}
