package envelope

import (
	"errors"
	"fmt"
	"hash/maphash"

	"github.com/frazil/frazil/internal/change"
	"github.com/frazil/frazil/internal/wire"
)

// debezium decodes Debezium's full envelope: before, after, source, op (Envelope.Operation in its source).
//
// A key change arrives as the delete of the old key and the insert of the new one, each in its own partition. The headers
// __debezium.newkey and __debezium.oldkey join the two, for values that were not sent again.
func debezium(m message) (change.Change, Control, error) {
	if m.value.Kind() != wire.Object {
		return change.Change{}, "", fmt.Errorf("the value is no envelope but of kind %v", m.value.Kind())
	}
	op, err := opLetter(m.value.Field("op"))
	if err != nil {
		return change.Change{}, "", err
	}
	switch op {
	case 0:
		control, err := debeziumControl(m.value)
		return change.Change{}, control, err
	case 'm':
		return change.Change{}, Message, nil
	case 't':
		return change.Truncate(), "", nil
	}
	// Cassandra's connector has the same letters for other things: its r deletes a range.
	source := m.value.Field("source")
	if string(source.Field("connector").Text()) == "cassandra" {
		return change.Change{}, "", errors.New("events of Debezium's connector for Cassandra are not read")
	}
	c, err := debeziumRow(op, m)
	if err == nil {
		c, err = withOtherKey(c, m, source)
	}
	return c.WithTime(integer(source.Field("ts_ms").Text())), "", err
}

func debeziumRow(op byte, m message) (change.Change, error) {
	before, after := m.value.Field("before"), m.value.Field("after")
	row := after.Kind() == wire.Object
	if op == 'd' {
		if row {
			return change.Change{}, errors.New(`op "d" with a row after it`)
		}
		return withBefore(change.Delete().WithKey(m.key), before), nil
	}
	switch {
	case op != 'c' && op != 'r' && op != 'u':
		return change.Change{}, unknownOp([]byte{op})
	case !row:
		return change.Change{}, fmt.Errorf("op %q without a row after it", []byte{op})
	case op == 'u':
		return withBefore(change.Upsert(after).WithKey(m.key), before), nil
	}
	return change.Insert(after).WithKey(m.key), nil
}

// withBefore adds the image before, if there is one.
func withBefore(c change.Change, before wire.Value) change.Change {
	if before.Kind() != wire.Object {
		return c
	}
	return c.WithBefore(before)
}

// mark is of the event of the source that a message is of: both halves of a change of key have the same source block, which
// tells where the source has it in its log.
func mark(source wire.Value) uint64 {
	if source.Kind() != wire.Object {
		return 0
	}
	return max(1, maphash.Bytes(marks, source.Raw()))
}

var marks = maphash.MakeSeed()

// withOtherKey adds the key of the other half of a key change, which Debezium sends in a header.
func withOtherKey(c change.Change, m message, source wire.Value) (change.Change, error) {
	name := "__debezium.oldkey"
	if c.Op() == change.OpDelete {
		name = "__debezium.newkey"
	}
	h, ok := m.record.Header(name)
	if !ok || h == nil {
		return c, nil
	}
	key, err := m.header.Connect(h, wire.Auto)
	if err != nil {
		return c, fmt.Errorf("read header %s: %w", name, err)
	}
	return c.WithOther(key, mark(source)), nil
}

// debeziumControl finds the class of a value without an op: what the connector sends to topics of its own, which a
// subscription by pattern gets too.
func debeziumControl(v wire.Value) (Control, error) {
	text := func(name string) bool { return v.Field(name).Kind() == wire.Text }
	has := func(name string) bool { return v.Field(name).Kind() != wire.Absent }
	switch {
	case has("ts_ms") && v.Len() == 1:
		return Heartbeat, nil
	case has("before") || has("after"):
		return "", errors.New("an envelope without an op")
	case text("status") && text("id") && has("data_collections"):
		return Transaction, nil
	case has("databaseName") && (has("ddl") || has("tableChanges")):
		return SchemaChange, nil
	case text("type") && text("aggregate_type") && only(v, "id", "aggregate_type", "type", "additional_data", "timestamp"):
		return Notification, nil
	case text("type") && v.Field("data").Kind() == wire.Object && only(v, "id", "type", "data"):
		return Signal, nil
	}
	return "", errors.New("no op, and not one of the messages that Debezium sends beside the changes")
}

// only reports whether an object has no other members than these.
func only(v wire.Value, names ...string) bool {
	n := 0
	for _, name := range names {
		if v.Field(name).Kind() != wire.Absent {
			n++
		}
	}
	return n == v.Len()
}
