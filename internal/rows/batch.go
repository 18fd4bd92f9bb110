package rows

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
)

// Entry is what one change does to one key.
type Entry struct {
	Key Key
	Row int // index into the columns; negative: the key's row is deleted
	// Over is the key whose row a partial one's kept cells come from. Of a delete that is a half of a change of key it is the key
	// that the row goes on under.
	Over Key
	// Half: the change is a half of a change of key. Both halves have its Mark, and no others; 0: the source does not say.
	Half bool
	Mark uint64
}

// Deletes reports whether the entry deletes its key's row.
func (e Entry) Deletes() bool { return e.Row < 0 }

// Batch is the changes of one delivery for one table. Entry order is the order in which they apply.
type Batch struct {
	Schema  *Schema
	Keys    *Keys
	Entries []Entry

	rows     int
	reserved int         // changes
	kept     []set       // by column: the rows whose cell is kept
	must     map[int]int // by row: a column that has to be kept
	columns  []column
	arrays   []arrow.Array
}

// NewBatch is an empty batch for tables of this schema.
func NewBatch(s *Schema) *Batch {
	b := &Batch{Schema: s, Keys: NewKeys(len(s.Key))}
	for _, f := range s.Arrow().Fields() {
		b.columns = append(b.columns, newColumn(f.Type))
	}
	return b
}

// Reserve makes room for so many changes.
func (b *Batch) Reserve(n int) {
	b.Entries = slices.Grow(b.Entries, n)
	b.Keys.reserve(n)
	b.reserved = n
	b.reserve(n)
}

// reserve makes room for so many more rows.
func (b *Batch) reserve(n int) {
	for _, c := range b.columns {
		c.reserve(n)
	}
}

// sampled is the number of rows that tell how long the texts of a column are.
const sampled = 256

// Put adds a change that leaves the row made of cells (one per column) under key.
func (b *Batch) Put(key Key, cells []Cell) { b.put(Entry{Key: key, Over: key}, cells) }

// Move adds a change that takes the row of another key to key; the old key has to be deleted.
func (b *Batch) Move(key, old Key, cells []Cell) { b.put(Entry{Key: key, Over: old}, cells) }

// Arrive is the half of a change of key that puts its row; Depart is the other. They may come in any order.
func (b *Batch) Arrive(key, old Key, mark uint64, cells []Cell) {
	b.put(Entry{Key: key, Over: old, Half: true, Mark: mark}, cells)
}

func (b *Batch) put(e Entry, cells []Cell) {
	for i, column := range b.columns {
		c := &cells[i]
		column.append(c)
		if c.Kept != NotKept {
			b.keep(i, c.Kept)
		}
	}
	e.Row = b.rows
	b.Entries = append(b.Entries, e)
	b.rows++
	if b.rows == sampled && b.reserved > sampled {
		b.reserve(b.reserved - b.rows)
	}
}

func (b *Batch) keep(column int, k Kept) {
	if b.kept == nil {
		b.kept, b.must = make([]set, len(b.Schema.Columns)), map[int]int{}
	}
	b.kept[column].add(b.rows)
	if _, ok := b.must[b.rows]; k == MustKeep && !ok {
		b.must[b.rows] = column
	}
}

// set is a set of rows, a bit each.
type set []uint64

func (s *set) add(row int) {
	for len(*s) <= row/64 {
		*s = append(*s, 0)
	}
	(*s)[row/64] |= 1 << (row % 64)
}

func (s set) has(row int) bool {
	return row/64 < len(s) && s[row/64]>>(row%64)&1 == 1
}

// HasKept reports whether any cell is kept.
func (b *Batch) HasKept() bool { return b.kept != nil }

// Kept reports whether a row's cell of a column is kept.
func (b *Batch) Kept(column, row int) bool { return b.kept != nil && b.kept[column].has(row) }

// Partial reports whether any cell of a row is kept.
func (b *Batch) Partial(row int) bool {
	for _, rows := range b.kept {
		if rows.has(row) {
			return true
		}
	}
	return false
}

// MustKeep is a column of a row whose value has to come from the row that is there; ok is false if there is none.
func (b *Batch) MustKeep(row int) (column int, ok bool) {
	column, ok = b.must[row]
	return column, ok
}

// Delete adds a change that removes key's row.
func (b *Batch) Delete(key Key) {
	b.Entries = append(b.Entries, Entry{Key: key, Row: -1})
}

// Depart is the half of a change of key that deletes its row, which goes on under another key.
func (b *Batch) Depart(key, next Key, mark uint64) {
	b.Entries = append(b.Entries, Entry{Key: key, Row: -1, Over: next, Half: true, Mark: mark})
}

// Columns completes the batch: no change may be added after it. Row i of the arrays is the row of the i-th Put.
func (b *Batch) Columns() []arrow.Array {
	if b.arrays == nil {
		for _, c := range b.columns {
			b.arrays = append(b.arrays, makeArray(c))
		}
	}
	return b.arrays
}
