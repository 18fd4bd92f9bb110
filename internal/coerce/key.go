package coerce

import (
	"errors"
	"slices"

	"github.com/frazil/frazil/internal/change"
	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/rows"
	"github.com/frazil/frazil/internal/wire"
)

// rowKey takes the key out of the cells.
func (t *Table) rowKey() error {
	t.key.Reset()
	for _, i := range t.schema.Key {
		if t.cells[i].Null {
			return misfitIn(t.schema.Columns[i].Name, errNoKey)
		}
		t.key.Cell(t.schema.Columns[i].Type, &t.cells[i])
	}
	return nil
}

var errNoKey = errors.New("is in the key and has no value")

// partitioning says how to go on where a record's key is no row's.
const partitioning = " (null_value: ignore or error, where the record's key is for partitioning only)"

// sameKey refuses a record whose key names another row than its value does (rule 2). Columns that the record's key does
// not have are not compared. A scalar is, and a key of other columns refused, unless null values do not delete: then it may
// be there for partitioning only.
func (t *Table) sameKey(key wire.Value) error {
	named := false
	for n, i := range t.schema.Key {
		v := t.keyPart(key, n)
		named = named || v.Kind() != wire.Absent
		scalar := key.Kind() != wire.Object && key.Kind() != wire.Array
		if v.Kind() == wire.Absent || scalar && t.rules.NullValue != config.Delete {
			continue
		}
		t.before.Reset()
		err := t.part(&t.before, i, v)
		if scalar && (err != nil || !t.samePart(n)) {
			return misfit(t.schema.Columns[i].Name, "the record's key and its value name different rows"+partitioning)
		}
		if err != nil {
			return err
		}
		if !t.samePart(n) {
			return misfit(t.schema.Columns[i].Name, "the record's key and its value name different rows")
		}
	}
	if !named && t.rules.NullValue == config.Delete {
		return t.otherColumns(key)
	}
	return nil
}

// otherColumns refuses a record's key that has none of the key's columns, but others of the table, or as an array more or fewer
// of them: where the producer tells rows apart by those, two of its rows would become one.
func (t *Table) otherColumns(key wire.Value) error {
	if key.Kind() == wire.Array && key.Len() != len(t.schema.Key) {
		return misfit("", "the record's key has %d value(s), and rows are told apart by %s"+partitioning, key.Len(), t.schema.KeyNames())
	}
	for name := range key.Members() {
		if i := t.names.column(name); i >= 0 {
			return misfit(t.schema.Columns[i].Name, "is in the record's key, and rows are told apart by %s"+partitioning, t.schema.KeyNames())
		}
	}
	return nil
}

// samePart reports whether the only part in t.before is the n-th of the row's key.
func (t *Table) samePart(n int) bool { return string(t.before.At(0)) == string(t.key.At(n)) }

// beforeKey reads the key of the image before into t.before, and reports whether it is another one than the
// row's. An image with a part of another key, and without the rest, is refused: the old row could not be found.
func (t *Table) beforeKey(before wire.Value) (moved bool, err error) {
	if !t.has(before) {
		return false, t.sameParts(before)
	}
	if err := t.parts(&t.before, before); err != nil {
		return false, err
	}
	return !t.before.Equal(&t.key), nil
}

// sameParts refuses an image whose parts of the key are not all the row's.
func (t *Table) sameParts(before wire.Value) error {
	for n, i := range t.schema.Key {
		v := t.keyPart(before, n)
		if v.Kind() == wire.Absent {
			continue
		}
		t.before.Reset()
		if err := t.part(&t.before, i, v); err != nil {
			return err
		}
		if !t.samePart(n) {
			return misfit(t.schema.Columns[i].Name, "the key changed, and the image before does not have all of %s", t.schema.KeyNames())
		}
	}
	return nil
}

// deletedKey reads the key of the row that a delete removes: the record's own key, else that of the image
// before, whose other columns cannot be trusted. Where both are there they have to agree (rule 2).
func (t *Table) deletedKey(c change.Change) error {
	byKey, byImage := t.has(c.Key()), t.has(c.Before())
	if !byKey && !byImage {
		if c.Key().Kind() == wire.Array {
			return misfit("", "the order of the columns in an array key has to be told by the route's key")
		}
		return misfit("", "a delete without a key: neither the record's key nor the image before has all of %s", t.schema.KeyNames())
	}
	if !byKey {
		if err := t.parts(&t.key, c.Before()); err != nil {
			return err
		}
		return t.sameKey(c.Key())
	}
	if err := t.parts(&t.key, c.Key()); err != nil || !byImage {
		return err
	}
	if err := t.parts(&t.before, c.Before()); err != nil {
		return err
	}
	if !t.key.Equal(&t.before) {
		return misfit("", "the record's key and its image before name different rows")
	}
	return nil
}

// has reports whether v holds all columns of the key.
func (t *Table) has(v wire.Value) bool {
	for n := range t.schema.Key {
		if t.keyPart(v, n).Kind() == wire.Absent {
			return false
		}
	}
	return true
}

// keyPart is the value of the n-th key column in a key: an object by column name, an array in key order
// (CockroachDB), or the one value of a one-column key.
func (t *Table) keyPart(key wire.Value, n int) wire.Value {
	switch key.Kind() {
	case wire.Object:
		return t.member(key, t.schema.Key[n])
	case wire.Array:
		// Identifier fields are a set: the source's order of several columns is known from the route alone.
		if key.Len() != len(t.schema.Key) || len(t.schema.Key) > 1 && len(t.rules.Key) == 0 {
			return wire.Value{}
		}
		i := 0
		for v := range key.Elems() {
			if i == n {
				return v
			}
			i++
		}
	case wire.Number, wire.Text, wire.Bool:
		if len(t.schema.Key) == 1 {
			return key
		}
	}
	return wire.Value{}
}

// member is the member of a key that is for a column.
func (t *Table) member(key wire.Value, column int) wire.Value {
	if !t.names.fold {
		return key.Field(t.names.list[column])
	}
	for name, v := range key.Members() {
		if t.names.column(name) == column {
			return v
		}
	}
	return wire.Value{}
}

// namesDiffer refuses keys that have two members for a column of the key (under names: fold_case).
func (t *Table) namesDiffer(keys ...wire.Value) error {
	if !t.names.fold {
		return nil
	}
	for _, key := range keys {
		clear(t.seen)
		for name := range key.Members() {
			i := t.names.column(name)
			if i >= 0 && t.seen[i] && slices.Contains(t.schema.Key, i) {
				return misfitIn(t.schema.Columns[i].Name, errTwice)
			}
			if i >= 0 {
				t.seen[i] = true
			}
		}
	}
	return nil
}

func (t *Table) parts(p *rows.Parts, key wire.Value) error {
	p.Reset()
	for n, i := range t.schema.Key {
		if err := t.part(p, i, t.keyPart(key, n)); err != nil {
			return err
		}
	}
	return nil
}

func (t *Table) part(p *rows.Parts, column int, v wire.Value) error {
	name := t.schema.Columns[column].Name
	if v.Kind() == wire.Null {
		return misfitIn(name, errNoKey)
	}
	if t.unavailable.is(v) {
		return misfit(name, "is in the key, and the source did not send its value")
	}
	t.one.Reset()
	if err := t.parse[column](v, &t.one); err != nil {
		return misfitIn(name, err)
	}
	if t.one.Null { // a special value that the route makes NULL
		return misfitIn(name, errNoKey)
	}
	p.Cell(t.schema.Columns[column].Type, &t.one)
	return nil
}
