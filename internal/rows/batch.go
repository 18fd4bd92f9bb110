package rows

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// Entry is what one change does to one key.
type Entry struct {
	Key Key
	Row int // index into the columns; negative: the key's row is deleted
}

// Deletes reports whether the entry deletes its key's row.
func (e Entry) Deletes() bool { return e.Row < 0 }

// Batch is the changes of one delivery for one table. Entry order is the order in which they apply.
type Batch struct {
	Schema  *Schema
	Keys    *Keys
	Entries []Entry

	rows     int
	builders []array.Builder
	appends  []appender
	arrays   []arrow.Array
}

// NewBatch is an empty batch for tables of this schema.
func NewBatch(s *Schema) *Batch {
	b := &Batch{Schema: s, Keys: NewKeys(len(s.Key))}
	for _, f := range s.Arrow().Fields() {
		builder := newBuilder(f.Type)
		b.builders = append(b.builders, builder)
		b.appends = append(b.appends, newAppender(builder))
	}
	return b
}

// Put adds a change that leaves the row made of cells (one per column) under key.
func (b *Batch) Put(key Key, cells []Cell) {
	for i := range cells {
		b.appends[i](&cells[i])
	}
	b.Entries = append(b.Entries, Entry{Key: key, Row: b.rows})
	b.rows++
}

// Delete adds a change that removes key's row.
func (b *Batch) Delete(key Key) {
	b.Entries = append(b.Entries, Entry{Key: key, Row: -1})
}

// Columns completes the batch: no change may be added after it. Row i of the arrays is the row of the i-th Put.
func (b *Batch) Columns() []arrow.Array {
	if b.arrays == nil {
		for _, builder := range b.builders {
			b.arrays = append(b.arrays, builder.NewArray())
		}
	}
	return b.arrays
}

func newBuilder(t arrow.DataType) array.Builder { return array.NewBuilder(memory.DefaultAllocator, t) }
