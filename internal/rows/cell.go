package rows

import "github.com/apache/arrow-go/v18/arrow/decimal128"

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
