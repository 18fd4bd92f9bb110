package rows

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/extensions"
)

// Cell is one typed value on its way into a column. The column's type says which field counts: Int for boolean (0, 1),
// int, long, date (days), time (microseconds) and timestamps (microseconds, or nanoseconds), Float for float and double,
// Decimal for decimal (unscaled, at the column's scale), Bytes for string, binary, fixed and uuid (16 bytes), Children
// for a struct's fields in order, a list's elements, and a map's keys and values in turn. Bytes are borrowed.
type Cell struct {
	Null     bool
	Kept     Kept
	Int      int64
	Float    float64
	Decimal  decimal128.Num
	Bytes    []byte
	Children []Cell
}

// Kept says of a column's cell that the value of the row that is there stays.
type Kept uint8

// NotKept is that of a value. KeptOr keeps a value where there is a row, else the cell's own counts; MustKeep has none of
// its own.
const (
	NotKept Kept = iota
	KeptOr
	MustKeep
)

// Reset makes the cell empty. The room of its children stays, to be used again.
func (c *Cell) Reset() {
	c.Null, c.Kept, c.Int, c.Float, c.Decimal, c.Bytes, c.Children = false, NotKept, 0, 0, decimal128.Num{}, nil, c.Children[:0]
}

// Add appends an empty child. It is valid until the next one is added.
func (c *Cell) Add() *Cell {
	n := len(c.Children)
	if n < cap(c.Children) {
		c.Children = c.Children[:n+1]
		c.Children[n].Reset()
	} else {
		c.Children = append(c.Children, Cell{})
	}
	return &c.Children[n]
}

// Repeat is an array of type t (Schema.Arrow) with a cell n times.
func Repeat(t arrow.DataType, c *Cell, n int) arrow.Array {
	b := newBuilder(t)
	appendCell := newAppender(b)
	for range n {
		appendCell(c)
	}
	return b.NewArray()
}

// appender appends a cell to a column.
type appender func(*Cell)

// newAppender is the appender of a builder made for one of arrowType's types.
func newAppender(b array.Builder) appender {
	value := valueAppender(b)
	return func(c *Cell) {
		if c.Null {
			b.AppendNull()
		} else {
			value(c)
		}
	}
}

func valueAppender(b array.Builder) appender {
	switch b := b.(type) {
	case *array.BooleanBuilder:
		return func(c *Cell) { b.Append(c.Int != 0) }
	case *array.Float32Builder:
		return func(c *Cell) { b.Append(float32(c.Float)) }
	case *array.Float64Builder:
		return func(c *Cell) { b.Append(c.Float) }
	case *array.Decimal128Builder:
		return func(c *Cell) { b.Append(c.Decimal) }
	case *array.StringBuilder:
		return func(c *Cell) { b.BinaryBuilder.Append(c.Bytes) }
	case *array.BinaryBuilder:
		return func(c *Cell) { b.Append(c.Bytes) }
	case *array.FixedSizeBinaryBuilder:
		return func(c *Cell) { b.Append(c.Bytes) }
	case *extensions.UUIDBuilder:
		return func(c *Cell) { b.AppendBytes([16]byte(c.Bytes)) }
	case *array.StructBuilder, *array.ListBuilder, *array.MapBuilder:
		return nestedAppender(b)
	}
	return countAppender(b)
}

// countAppender appends what counts something.
func countAppender(b array.Builder) appender {
	switch b := b.(type) {
	case *array.Int32Builder:
		return func(c *Cell) { b.Append(int32(c.Int)) }
	case *array.Int64Builder:
		return func(c *Cell) { b.Append(c.Int) }
	case *array.Date32Builder:
		return func(c *Cell) { b.Append(arrow.Date32(c.Int)) }
	case *array.Time64Builder:
		return func(c *Cell) { b.Append(arrow.Time64(c.Int)) }
	case *array.TimestampBuilder:
		return func(c *Cell) { b.Append(arrow.Timestamp(c.Int)) }
	case *array.NullBuilder:
		return func(*Cell) { b.AppendNull() }
	}
	panic("rows: no appender for " + b.Type().String()) // NewSchema lets no other type in
}

func nestedAppender(b array.Builder) appender {
	switch b := b.(type) {
	case *array.StructBuilder:
		fields := make([]appender, b.NumField())
		for i := range fields {
			fields[i] = newAppender(b.FieldBuilder(i))
		}
		return func(c *Cell) {
			b.Append(true)
			for i, field := range fields {
				field(&c.Children[i])
			}
		}
	case *array.ListBuilder:
		element := newAppender(b.ValueBuilder())
		return func(c *Cell) {
			b.Append(true)
			for i := range c.Children {
				element(&c.Children[i])
			}
		}
	}
	m := b.(*array.MapBuilder)
	key, value := newAppender(m.KeyBuilder()), newAppender(m.ItemBuilder())
	return func(c *Cell) {
		m.Append(true)
		for i := 0; i < len(c.Children); i += 2 {
			key(&c.Children[i])
			value(&c.Children[i+1])
		}
	}
}
