package rows

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// Cell is one typed value on its way into a column. The column's type says which field counts: Int for
// boolean (0, 1), int, long, date (days) and timestamps (microseconds), Float for double, Decimal for decimal
// (unscaled, at the column's scale), Bytes for string. Bytes are borrowed.
type Cell struct {
	Null    bool
	Int     int64
	Float   float64
	Decimal decimal128.Num
	Bytes   []byte
}

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
	appends  []func(*Cell)
	arrays   []arrow.Array
}

// NewBatch is an empty batch for tables of this schema.
func NewBatch(s *Schema) *Batch {
	b := &Batch{Schema: s, Keys: NewKeys(len(s.Key))}
	for _, f := range s.Arrow().Fields() {
		builder := array.NewBuilder(memory.DefaultAllocator, f.Type)
		b.builders = append(b.builders, builder)
		b.appends = append(b.appends, appender(builder))
	}
	return b
}

// Put adds a change that leaves the row made of cells (one per column) under key.
func (b *Batch) Put(key Key, cells []Cell) {
	for i := range cells {
		if cells[i].Null {
			b.builders[i].AppendNull()
		} else {
			b.appends[i](&cells[i])
		}
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

func appender(b array.Builder) func(*Cell) {
	switch b := b.(type) {
	case *array.BooleanBuilder:
		return func(c *Cell) { b.Append(c.Int != 0) }
	case *array.Int32Builder:
		return func(c *Cell) { b.Append(int32(c.Int)) }
	case *array.Int64Builder:
		return func(c *Cell) { b.Append(c.Int) }
	case *array.Float64Builder:
		return func(c *Cell) { b.Append(c.Float) }
	case *array.Decimal128Builder:
		return func(c *Cell) { b.Append(c.Decimal) }
	case *array.Date32Builder:
		return func(c *Cell) { b.Append(arrow.Date32(c.Int)) }
	case *array.TimestampBuilder:
		return func(c *Cell) { b.Append(arrow.Timestamp(c.Int)) }
	case *array.StringBuilder:
		return func(c *Cell) { b.BinaryBuilder.Append(c.Bytes) }
	}
	panic("rows: no appender for " + b.Type().String()) // NewSchema lets no other type in
}
