package envelope

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/frazil/frazil/internal/change"
	"github.com/frazil/frazil/internal/wire"
)

// errNotCockroachdb is about the envelopes whose deletes cannot be told from updates, or whose rows are missing.
var errNotCockroachdb = errors.New("not a message of envelope=wrapped or envelope=enriched, the two that are read (bare, row and key_only are not)")

// cockroachdb decodes the messages of a CockroachDB changefeed with envelope=wrapped, the default, or enriched
// (changefeed-message-envelopes in its documentation).
//
// An enriched insert is an Upsert: where a table has several column families, each sends a message of its own
// with its columns only, and what the others sent must not become NULL.
func cockroachdb(m message) (change.Change, Control, error) {
	v := m.value
	if v.Kind() != wire.Object {
		return change.Change{}, "", fmt.Errorf("the value is no envelope but of kind %v", v.Kind())
	}
	after := v.Field("after")
	if after.Kind() == wire.Absent {
		if resolved(v) || resolved(v.Field("__crdb__")) && v.Len() == 1 {
			return change.Change{}, Resolved, nil
		}
		return change.Change{}, "", errNotCockroachdb
	}
	if v.Field("__crdb__").Kind() != wire.Absent {
		return change.Change{}, "", errNotCockroachdb
	}
	op, err := opLetter(v.Field("op"))
	if err != nil {
		return change.Change{}, "", err
	}
	c, err := cockroachdbRow(op, after)
	return withBefore(c.WithKey(cockroachdbKey(m)), v.Field("before")).WithTime(hlc(v)), "", err
}

// hlc is the time of the change in milliseconds, out of the text of its hybrid logical clock, NANOSECONDS.COUNTER: of the
// wrapped envelope's updated, or of the enriched one's source. Both are optional.
func hlc(v wire.Value) int64 {
	clock := v.Field("updated")
	if clock.Kind() == wire.Absent {
		clock = v.Field("source").Field("ts_hlc")
	}
	ns, _, _ := bytes.Cut(clock.Text(), []byte{'.'})
	return integer(ns) / int64(time.Millisecond)
}

// resolved tells a resolved timestamp from a row with a column of that name.
func resolved(v wire.Value) bool { return v.Len() == 1 && v.Field("resolved").Kind() == wire.Text }

func cockroachdbRow(op byte, after wire.Value) (change.Change, error) {
	row := after.Kind() == wire.Object
	if !row && after.Kind() != wire.Null {
		return change.Change{}, fmt.Errorf("after is neither a row nor null but of kind %v", after.Kind())
	}
	switch op {
	case 0:
		if row {
			return change.Upsert(after), nil
		}
		return change.Delete(), nil
	case 'c', 'u':
		if row {
			return change.Upsert(after), nil
		}
		return change.Change{}, fmt.Errorf("op %q without a row after it", []byte{op})
	case 'd':
		if row {
			return change.Change{}, errors.New(`op "d" with a row after it`)
		}
		return change.Delete(), nil
	}
	return change.Change{}, unknownOp([]byte{op})
}

// cockroachdbKey prefers the key in the value (key_in_value) to the record's, which key_column may have replaced.
func cockroachdbKey(m message) wire.Value {
	if k := m.value.Field("key"); k.Kind() == wire.Array || k.Kind() == wire.Object {
		return k
	}
	return m.key
}
