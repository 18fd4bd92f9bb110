// Package envelope takes off a producer's message format: records become changes.
//
// There is one file per producer; what they share is in this one: the forms of null, keys, and what a change must
// have. Decoding is pure, it looks at one record at a time and keeps nothing of it. What cannot be understood is an
// error, never a guess: an unknown op does not become an insert (P2).
//
// The package does not know the table. Whether a row fits it, which columns the key has, and what becomes of
// placeholders for values not sent, is settled when the change is coerced. It does not find out the format either.
package envelope

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/frazil/frazil/internal/change"
	"github.com/frazil/frazil/internal/kafka"
	"github.com/frazil/frazil/internal/wire"
)

// NullRule says what a null value means (rule 1).
type NullRule uint8

// NullDelete takes a null value for the deletion of the record's key, NullIgnore for nothing, NullError for an error.
const (
	NullDelete NullRule = iota
	NullIgnore
	NullError
)

// Options are a route's choices about its messages.
type Options struct {
	Wrapper   wire.Wrapper // of the value; the key has a converter of its own, and under SchemaPayload may be wrapped or not
	NullValue NullRule
}

// Control is the class of a record that changes no row (rules 3 and 19); "" is none.
type Control string

// The classes, as they are counted.
const (
	Heartbeat           Control = "heartbeat"
	Message             Control = "message" // pg_logical_emit_message
	Notification        Control = "notification"
	NullIgnored         Control = "null_ignored"
	Resolved            Control = "resolved"
	SchemaChange        Control = "schema_change"
	Signal              Control = "signal"
	TombstoneWithoutKey Control = "tombstone_without_key"
	Transaction         Control = "transaction"
)

// format is one producer's: a new one is a file of its own and a line here.
type format struct {
	name     string
	bareKeys bool // the key may be text that no encoding was applied to
	decode   func(message) (change.Change, Control, error)
}

var formats = []format{ // by name
	{name: "cockroachdb", decode: cockroachdb},
	{name: "debezium", decode: debezium},
	{name: "debezium_unwrapped", decode: unwrapped},
	{name: "flat", decode: flat, bareKeys: true},
}

// Formats returns the names that New knows, sorted.
func Formats() []string {
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = f.name
	}
	return names
}

// Decoder decodes the records of one route. It is not for concurrent use.
type Decoder struct {
	format  format
	options Options
	key     wire.Doc
	value   wire.Doc
	header  wire.Doc
}

// message is a record whose value is not null, on its way to its format.
type message struct {
	record *kafka.Record
	key    wire.Value // absent if the record has none
	value  wire.Value
	header *wire.Doc // for a header that needs reading
}

// New returns the decoder of a format. An unknown one is an error that lists those known.
func New(name string, o Options) (*Decoder, error) {
	for _, f := range formats {
		if f.name == name {
			return &Decoder{format: f, options: o}, nil
		}
	}
	return nil, fmt.Errorf("unknown format %q, known are %s", name, strings.Join(Formats(), ", "))
}

// Decode decodes one record to the change that it is, or else to the class of what changes no row. The change
// borrows from the record and from the decoder: it is valid until the next call.
//
// An error is about this record alone and shows nothing of its content. It does not say which record it is.
func (d *Decoder) Decode(rec *kafka.Record) (change.Change, Control, error) {
	m := message{record: rec, header: &d.header}
	var err error
	if m.key, err = d.readKey(rec.Key); err != nil {
		return change.Change{}, "", fmt.Errorf("read key: %w", err)
	}
	if m.value, err = read(&d.value, rec.Value, d.options.Wrapper); err != nil {
		return change.Change{}, "", fmt.Errorf("read value: %w", err)
	}
	if m.value.Kind() == wire.Null {
		return d.null(m)
	}
	c, control, err := d.format.decode(m)
	if err == nil && c.Op() == change.OpDelete && c.Key().Kind() == wire.Absent && c.Before().Kind() == wire.Absent {
		err = errors.New("a delete of no row: it has neither a key nor an image before")
	}
	if err != nil {
		return change.Change{}, "", err
	}
	return c, control, nil
}

// null is the change of a record whose value is one of the forms of null: Kafka's, the text null, or a wrapped one.
// Without a key it names no row: a producer whose table has no key sends it after each delete.
func (d *Decoder) null(m message) (change.Change, Control, error) {
	switch {
	case m.key.Kind() == wire.Absent:
		return change.Change{}, TombstoneWithoutKey, nil
	case d.options.NullValue == NullIgnore:
		return change.Change{}, NullIgnored, nil
	case d.options.NullValue == NullError:
		return change.Change{}, "", errors.New("the value is null")
	}
	c, err := withOtherKey(change.Delete().WithKey(m.key), m, wire.Value{})
	return c, "", err
}

// readKey returns the record's key, absent if it is null in any form.
func (d *Decoder) readKey(b []byte) (wire.Value, error) {
	w := d.options.Wrapper
	if w == wire.SchemaPayload {
		w = wire.Auto
	}
	key, err := read(&d.key, b, w)
	if d.format.bareKeys && bare(b) && (err != nil || len(key.Raw()) < len(b)) { // white space around JSON is part of a bare key
		key, err = d.key.Bare(b)
	}
	if key.Kind() == wire.Null {
		return wire.Value{}, err
	}
	return key, err
}

// bare reports whether b is a text that nobody meant to be JSON.
func bare(b []byte) bool {
	return len(b) > 0 && strings.IndexByte(`{["`, b[0]) < 0 && utf8.Valid(b)
}

func read(d *wire.Doc, b []byte, w wire.Wrapper) (wire.Value, error) {
	if b != nil && len(b) == 0 {
		return wire.Value{}, errors.New("it has zero bytes, which is not Kafka's null")
	}
	return d.Connect(b, w)
}

// opLetter returns the letter of an op in lower case, 0 if v is absent or null.
func opLetter(v wire.Value) (byte, error) {
	switch v.Kind() {
	case wire.Absent, wire.Null:
		return 0, nil
	case wire.Text:
	default:
		return 0, fmt.Errorf("the op is no text but of kind %v", v.Kind())
	}
	op := v.Text()
	if len(op) != 1 || !letter(op[0]) {
		return 0, unknownOp(op)
	}
	return op[0] | 0x20, nil
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// unknownOp names an op that may be a producer's code; anything longer may be a value of somebody's row.
func unknownOp(op []byte) error {
	if len(op) == 1 && letter(op[0]) || len(op) == 2 && letter(op[0]) && letter(op[1]) {
		return fmt.Errorf("unknown op %q", op)
	}
	return fmt.Errorf("unknown op of %d bytes", len(op))
}

// integer reads the digits of a time that is only reported; 0 if it is none.
func integer(text []byte) int64 {
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		return 0
	}
	return n
}
