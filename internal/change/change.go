// Package change says what happened to one row: what is left of a record once its envelope is gone.
//
// Changes are made by Upsert, Insert, Delete and Truncate only, so that a delete with a row, or an upsert
// without one, cannot be written. A Change borrows its values from the wire.Doc that they were read with and
// is valid only as long as they are.
//
// The package knows no columns and no types: whether a row fits its table, and which row a key names, is
// settled when the values are coerced.
package change

import "github.com/frazil/frazil/internal/wire"

// Op is what a change does.
type Op uint8

// The ops. OpNone is that of the zero Change, which says nothing.
const (
	OpNone Op = iota
	OpUpsert
	OpDelete
	OpTruncate
)

// String returns the op's name as users see it.
func (o Op) String() string {
	return [...]string{"none", "upsert", "delete", "truncate"}[min(o, OpTruncate)]
}

// Change is one row change. The zero Change is none.
type Change struct {
	row, key, before wire.Value
	other            wire.Value
	meta             string
	time             int64
	mark             uint64
	op               Op
	insert           bool
}

// Upsert puts a row in place, whether or not one of its key is there. Cells that it lacks are absent.
func Upsert(row wire.Value) Change { return Change{op: OpUpsert, row: row} }

// Insert is an upsert whose producer says that the row is new, or one of a snapshot: there is nothing that
// absent cells could keep, they become NULL (rule 13). A row of its key may exist all the same.
func Insert(row wire.Value) Change { return Change{op: OpUpsert, row: row, insert: true} }

// Delete removes the row that the key, or without one the image before, names.
func Delete() Change { return Change{op: OpDelete} }

// Truncate removes all rows.
func Truncate() Change { return Change{op: OpTruncate} }

// WithKey returns the change with the record's key: an object by column name, an array in key order
// (CockroachDB), or the scalar of a key with one column.
func (c Change) WithKey(key wire.Value) Change {
	c.key = key
	return c
}

// WithBefore returns the change with the row's image before it. Only its key columns can be trusted: producers
// fill in the others when the source did not log them. Where an upsert's key differs from it, the row of the
// old key goes.
func (c Change) WithBefore(before wire.Value) Change {
	c.before = before
	return c
}

// WithOther returns the change, a half of a change of key, with the key of its other half: a delete with the key that its
// row goes on under, an insert with the one that it had before. What the source did not send again with the insert is what
// the deleted row had. Mark is of the change of key, and the same in both halves; 0: the source does not tell one from others.
func (c Change) WithOther(key wire.Value, mark uint64) Change {
	c.other, c.mark = key, mark
	return c
}

// WithMeta returns the change with the prefix of names that, in the row, are the producer's own (`__op`) and
// no unknown columns.
func (c Change) WithMeta(prefix string) Change {
	c.meta = prefix
	return c
}

// WithTime returns the change with the time at which its source made it, in milliseconds since 1970.
func (c Change) WithTime(ms int64) Change {
	c.time = ms
	return c
}

// Time returns when the source made the change, in milliseconds since 1970; 0 if it did not say.
func (c Change) Time() int64 { return c.time }

// Op returns what the change does.
func (c Change) Op() Op { return c.op }

// Row returns the row of an upsert, an object; otherwise it is absent.
func (c Change) Row() wire.Value { return c.row }

// Key returns the record's key, absent if it had none.
func (c Change) Key() wire.Value { return c.key }

// Before returns the image before, absent if there is none.
func (c Change) Before() wire.Value { return c.before }

// Other returns the key of the other half of a change of key, absent if this is none.
func (c Change) Other() wire.Value { return c.other }

// Mark returns what both halves of a change of key have, and no others; 0: there is no such thing.
func (c Change) Mark() uint64 { return c.mark }

// IsInsert tells an Insert from an Upsert.
func (c Change) IsInsert() bool { return c.insert }

// Meta returns the prefix of the producer's own names, "" if there are none.
func (c Change) Meta() string { return c.meta }
