package rows

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// column gathers cells of one type, as Arrow lays them out. Each cell of a delivery goes through one, which is why they are
// not Arrow's builders: those make several checks and calls for a cell, and hold up to twice the room that the cells take.
type column interface {
	reserve(n int) // room for so many more cells
	append(c *Cell)
	join(o column)         // adds the cells of a column of the same type
	data() arrow.ArrayData // of all cells; none may be appended after it
}

func makeArray(c column) arrow.Array { return array.MakeFromData(c.data()) }

// Repeat is an array of type t (Schema.Arrow) with a cell n times.
func Repeat(t arrow.DataType, c *Cell, n int) arrow.Array {
	column := newColumn(t)
	column.reserve(n)
	for range n {
		column.append(c)
	}
	return makeArray(column)
}

// newColumn is an empty column of one of arrowType's types.
func newColumn(t arrow.DataType) column {
	switch t := t.(type) {
	case *arrow.BooleanType:
		return &booleans{t: t}
	case *arrow.Int32Type, *arrow.Date32Type:
		return &numbers[int32]{t: t, of: func(c *Cell) int32 { return int32(c.Int) }}
	case *arrow.Int64Type, *arrow.Time64Type, *arrow.TimestampType:
		return &numbers[int64]{t: t, of: func(c *Cell) int64 { return c.Int }}
	case *arrow.Float32Type:
		return &numbers[float32]{t: t, of: func(c *Cell) float32 { return float32(c.Float) }}
	case *arrow.Float64Type:
		return &numbers[float64]{t: t, of: func(c *Cell) float64 { return c.Float }}
	case *arrow.Decimal128Type:
		return &numbers[decimal128.Num]{t: t, of: func(c *Cell) decimal128.Num { return c.Decimal }}
	case *arrow.StringType, *arrow.BinaryType:
		return &texts{t: t, ends: make([]int32, 1)}
	case *arrow.FixedSizeBinaryType:
		return &blobs{t: t, size: t.ByteWidth}
	case arrow.ExtensionType: // uuid
		return &blobs{t: t, size: 16}
	case *arrow.NullType:
		return &nothing{t: t}
	}
	return newNested(t)
}

// validity says which cells are nulls. Without any it holds nothing.
type validity struct {
	bits  []byte // 0: a null; those that are not there yet are 1
	nulls int
}

// null makes the n-th cell a null.
func (v *validity) null(n int) {
	v.until(n/8 + 1)
	v.bits[n/8] &^= 1 << (n % 8)
	v.nulls++
}

func (v *validity) until(size int) {
	for len(v.bits) < size {
		v.bits = append(v.bits, 0xff)
	}
}

// buffer is Arrow's bitmap of n cells.
func (v *validity) buffer(n int) *memory.Buffer {
	if v.nulls == 0 {
		return nil
	}
	v.until((n + 7) / 8)
	return memory.NewBufferBytes(v.bits)
}

// made is the data of n cells: their validity, and what Arrow has besides.
func (v *validity) made(t arrow.DataType, n int, children []arrow.ArrayData, buffers ...[]byte) arrow.ArrayData {
	list := []*memory.Buffer{v.buffer(n)}
	for _, b := range buffers {
		list = append(list, memory.NewBufferBytes(b))
	}
	return array.NewData(t, n, list, children, v.nulls, 0)
}

type numbers[T arrow.FixedWidthType] struct {
	validity
	t      arrow.DataType
	of     func(*Cell) T
	values []T
}

func (s *numbers[T]) reserve(n int) { s.values = slices.Grow(s.values, n) }

func (s *numbers[T]) append(c *Cell) {
	if c.Null {
		s.null(len(s.values))
		s.values = append(s.values, *new(T))
		return
	}
	s.values = append(s.values, s.of(c))
}

func (s *numbers[T]) data() arrow.ArrayData {
	return s.made(s.t, len(s.values), nil, arrow.GetBytes(s.values))
}

type booleans struct {
	validity
	t    arrow.DataType
	bits []byte
	n    int
}

func (s *booleans) reserve(n int) { s.bits = slices.Grow(s.bits, n/8+1) }

func (s *booleans) append(c *Cell) {
	if s.n%8 == 0 {
		s.bits = append(s.bits, 0)
	}
	switch {
	case c.Null:
		s.null(s.n)
	case c.Int != 0:
		s.bits[s.n/8] |= 1 << (s.n % 8)
	}
	s.n++
}

func (s *booleans) data() arrow.ArrayData { return s.made(s.t, s.n, nil, s.bits) }

// texts are values of any size.
type texts struct {
	validity
	t     arrow.DataType
	ends  []int32 // behind a 0
	bytes []byte
}

// mostReserved is the room in bytes that is made for texts to come, at most.
const mostReserved = 8 << 20

// reserve takes the texts to come to be as long as those that are there.
func (s *texts) reserve(n int) {
	s.ends = slices.Grow(s.ends, n)
	if there := len(s.ends) - 1; there > 0 {
		s.bytes = slices.Grow(s.bytes, min(len(s.bytes)/there*n*9/8, mostReserved))
	}
}

func (s *texts) append(c *Cell) {
	if c.Null {
		s.null(len(s.ends) - 1)
	} else {
		s.bytes = append(s.bytes, c.Bytes...)
	}
	s.ends = append(s.ends, int32(len(s.bytes)))
}

func (s *texts) data() arrow.ArrayData {
	return s.made(s.t, len(s.ends)-1, nil, arrow.GetBytes(s.ends), s.bytes)
}

// blobs are bytes of one size.
type blobs struct {
	validity
	t     arrow.DataType
	size  int
	n     int
	bytes []byte
}

func (s *blobs) reserve(n int) { s.bytes = slices.Grow(s.bytes, n*s.size) }

func (s *blobs) append(c *Cell) {
	if c.Null {
		s.null(s.n)
		s.bytes = append(s.bytes, make([]byte, s.size)...)
	} else {
		s.bytes = append(s.bytes, c.Bytes...)
	}
	s.n++
}

func (s *blobs) data() arrow.ArrayData { return s.made(s.t, s.n, nil, s.bytes) }

// nothing is a column without values, whose type is null.
type nothing struct {
	t arrow.DataType
	n int
}

func (s *nothing) reserve(int) {}

func (s *nothing) append(*Cell) { s.n++ }

func (s *nothing) data() arrow.ArrayData {
	return array.NewData(s.t, s.n, []*memory.Buffer{nil}, nil, s.n, 0)
}
