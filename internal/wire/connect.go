package wire

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
)

// Wrapper says whether Connect's {"schema": …, "payload": …} is around a document.
type Wrapper uint8

// Auto takes a document for wrapped if it is an object of exactly the members schema and payload, in either
// order, whose schema is null or an object with a text "type". None never does, SchemaPayload demands it.
const (
	Auto Wrapper = iota
	None
	SchemaPayload
)

// maxSchemas bounds how many schemas a Doc remembers: those of a few topics, or of a table being altered.
const maxSchemas = 16

// schemas are the types read lately, the last used first. JsonConverter repeats the schema in each message, and
// it is many times as long as the payload.
type schemas []schema

type schema struct {
	raw []byte
	typ *Type
}

// Connect reads a document that Kafka Connect's JsonConverter wrote: JSON, and where it is wrapped the payload
// with its Type. nil, Kafka's null, is a Null, and so is the text null under every Wrapper. An error in the JSON
// is a *SyntaxError.
func (d *Doc) Connect(b []byte, w Wrapper) (Value, error) {
	if b == nil {
		return d.single(Null, nil)
	}
	if w != None {
		if v, ok, err := d.repeatedSchema(b); ok || err != nil {
			return v, err
		}
	}
	v, err := d.JSON(b)
	if err != nil || w == None {
		return v, err
	}
	if !wrapped(v) {
		if w == SchemaPayload && v.Kind() != Null {
			return Value{}, errors.New("no {schema, payload} around the document")
		}
		return v, nil
	}
	return d.unwrap(v)
}

// wrapped is the rule of Auto. A row or key whose columns are called schema and payload is why it looks at the
// schema too.
func wrapped(v Value) bool {
	if v.Kind() != Object || v.Len() != 2 || v.Field("payload").Kind() == Absent {
		return false
	}
	s := v.Field("schema")
	return s.Kind() == Null || s.Field("type").Kind() == Text
}

func (d *Doc) unwrap(v Value) (Value, error) {
	payload, s := v.Field("payload"), v.Field("schema")
	if s.Kind() == Null {
		return payload, nil
	}
	raw := s.Raw()
	if i := slices.IndexFunc(d.schemas, func(s schema) bool { return bytes.Equal(s.raw, raw) }); i >= 0 {
		payload.typ = d.schemas.use(i)
		return payload, nil
	}
	t, err := connectType(s)
	if err != nil {
		return Value{}, fmt.Errorf("read schema: %w", err)
	}
	d.schemas.add(schema{raw: bytes.Clone(raw), typ: t})
	payload.typ = t
	return payload, nil
}

// use moves the i-th schema to the front and returns its type.
func (s schemas) use(i int) *Type {
	hit := s[i]
	copy(s[1:i+1], s[:i])
	s[0] = hit
	return hit.typ
}

func (s *schemas) add(n schema) {
	*s = slices.Insert(*s, 0, n)
	if len(*s) > maxSchemas {
		(*s)[maxSchemas] = schema{}
		*s = (*s)[:maxSchemas]
	}
}

// repeatedSchema reads a document that begins with a schema read before, written as JsonConverter does, without
// reading that schema again: an object's text ends where it ends, so equal bytes are the same value. It is not ok
// if the document is anything else, and the whole of it has to be read.
func (d *Doc) repeatedSchema(b []byte) (Value, bool, error) {
	rest, ok := bytes.CutPrefix(b, []byte(`{"schema":`))
	if !ok {
		return Value{}, false, nil
	}
	for i, s := range d.schemas {
		if after, ok := bytes.CutPrefix(rest, s.raw); ok {
			return d.payload(b, len(b)-len(after), i)
		}
	}
	return Value{}, false, nil
}

// payload reads the payload of b, whose i-th known schema ends at pos.
func (d *Doc) payload(b []byte, pos, i int) (Value, bool, error) {
	const member = `,"payload":`
	if !bytes.HasPrefix(b[pos:], []byte(member)) {
		return Value{}, false, nil
	}
	if err := d.reset(b); err != nil {
		return Value{}, false, err
	}
	// The wrapper counts for the depth, so that the limit does not depend on what was read before.
	end, err := d.parse(pos+len(member), 1)
	if err != nil {
		return Value{}, false, err
	}
	if end = skipSpace(b, end); end == len(b) || b[end] != '}' || skipSpace(b, end+1) < len(b) {
		return Value{}, false, nil
	}
	return d.value(0, d.schemas.use(i)), true, nil
}
