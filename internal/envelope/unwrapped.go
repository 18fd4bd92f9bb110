package envelope

import (
	"errors"
	"fmt"

	"github.com/frazil/frazil/internal/change"
	"github.com/frazil/frazil/internal/wire"
)

// metaPrefix begins the names of what ExtractNewRecordState adds to a row and its headers (add.fields.prefix).
const metaPrefix = "__"

// unwrapped decodes what Debezium's ExtractNewRecordState leaves of an envelope: the row itself, with members and
// headers whose names begin with "__".
//
// Of a key change there remain a delete of the old key and an insert of the new one, joined by headers for values that
// were not sent again. The header of the insert deletes nothing: where deletes are kept, rewritten or as
// null, the old key's own record does the work in its own partition, and under delete.tombstone.handling.mode=drop the
// producer has chosen to send no deletes.
func unwrapped(m message) (change.Change, Control, error) {
	if m.value.Kind() != wire.Object {
		return change.Change{}, "", fmt.Errorf("the value is no row but of kind %v", m.value.Kind())
	}
	op, err := unwrappedOp(m)
	if err != nil {
		return change.Change{}, "", err
	}
	var c change.Change
	switch op {
	case 'c', 'r':
		c = change.Insert(m.value)
	case 'u', 0:
		c = change.Upsert(m.value)
	case 'd':
		c = change.Delete().WithBefore(m.value) // where the record has no key the row has it
	case 't':
		return change.Truncate(), "", nil
	default:
		return change.Change{}, "", unknownOp([]byte{op})
	}
	c, err = withOtherKey(c, m, wire.Value{})
	return c.WithKey(m.key).WithMeta(metaPrefix), "", err
}

// unwrappedOp returns the op's letter: __deleted goes before __op in the row, and that before the header of that name.
// Without any of them it is 0.
func unwrappedOp(m message) (byte, error) {
	if deleted, err := truthy(m.value.Field("__deleted")); deleted || err != nil {
		return 'd', err
	}
	op, err := opLetter(m.value.Field("__op"))
	if op != 0 || err != nil {
		return op, err
	}
	// With rewrite-with-tombstone a record may have the header twice.
	h, ok := m.record.Header("__op")
	if !ok || h == nil {
		return 0, nil
	}
	v, err := headerText(m.header, h)
	if err != nil {
		return 0, fmt.Errorf("read header __op: %w", err)
	}
	return opLetter(v)
}

// headerText reads a header as Connect's SimpleHeaderConverter, the default, writes it, or as JsonConverter does.
func headerText(d *wire.Doc, h []byte) (wire.Value, error) {
	if bare(h) {
		return d.Bare(h)
	}
	return d.Connect(h, wire.Auto)
}

// truthy reads a boolean that may have been turned into text.
func truthy(v wire.Value) (bool, error) {
	switch v.Kind() {
	case wire.Absent, wire.Null:
		return false, nil
	case wire.Bool:
		return v.Bool(), nil
	}
	switch string(v.Text()) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, errors.New("__deleted is neither true nor false")
}
