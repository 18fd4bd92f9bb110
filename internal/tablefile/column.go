package tablefile

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/iceberg-go"
	"github.com/frazil/frazil/internal/rows"
)

// column decodes one column chunk into a sink.
type column struct {
	reader  file.ColumnChunkReader // nil: the file does not have the column
	missing Part                   // its value then
	typ     iceberg.Type
	decimal bool
	unit    int64 // of the file, in units of typ
	// Numbers of 32 bits have no sign.
	unsigned bool
	out      sink

	scratch []byte
	levels  []int16
	i32     []int32
	i64     []int64
	f32     []float32
	f64     []float64
	bools   []bool
	bytes   []parquet.ByteArray
	fixed   []parquet.FixedLenByteArray
}

func newColumn(f Field, out sink) *column {
	_, decimal := f.Type.(iceberg.DecimalType)
	return &column{typ: f.Type, decimal: decimal, missing: f.Missing, out: out}
}

// fits reports whether the file's type is one that the column's type is, or was, stored in.
func (c *column) fits() (ok bool) {
	have := c.reader.Descriptor().LogicalType()
	if c.unit, ok = unit(have, c.typ); !ok {
		return false
	}
	c.unsigned = unsigned(have)
	var allowed []parquet.Type
	switch c.typ.(type) {
	case iceberg.BooleanType:
		allowed = []parquet.Type{parquet.Types.Boolean}
	case iceberg.Int32Type, iceberg.Int64Type, iceberg.DateType, iceberg.TimeType, iceberg.TimestampType, iceberg.TimestampTzType,
		iceberg.TimestampNsType, iceberg.TimestampTzNsType:
		allowed = []parquet.Type{parquet.Types.Int32, parquet.Types.Int64}
	case iceberg.Float32Type, iceberg.Float64Type:
		allowed = []parquet.Type{parquet.Types.Float, parquet.Types.Double}
	case iceberg.DecimalType:
		allowed = []parquet.Type{parquet.Types.Int32, parquet.Types.Int64, parquet.Types.FixedLenByteArray, parquet.Types.ByteArray}
	default:
		allowed = []parquet.Type{parquet.Types.ByteArray, parquet.Types.FixedLenByteArray}
	}
	return slices.Contains(allowed, c.reader.Type())
}

func (c *column) misfit() error {
	d := c.reader.Descriptor()
	return fmt.Errorf("its column %s of type %s, %s, cannot hold a %s", d.Path(), d.PhysicalType(), d.LogicalType(), c.typ)
}

// read decodes the next n rows.
func (c *column) read(n int) (err error) {
	defer recovered(&err)
	if c.reader == nil {
		for range n {
			if c.missing == nil {
				c.out.null()
			} else {
				c.out.part(c.missing)
			}
		}
		return nil
	}
	if c.levels == nil {
		c.levels = make([]int16, perStep)
	}
	for n > 0 {
		if !c.reader.HasNext() {
			return errors.Join(c.reader.Err(), io.ErrUnexpectedEOF)
		}
		got, err := c.page(int64(n))
		if err != nil {
			return err
		}
		n -= got
	}
	return nil
}

// page decodes up to n rows of one page, and returns how many it has.
func (c *column) page(n int64) (int, error) {
	switch r := c.reader.(type) {
	case *file.Int64ColumnChunkReader:
		return decode(c, n, &c.i64, r.ReadBatchInPage, c.number)
	case *file.Int32ColumnChunkReader:
		return decode(c, n, &c.i32, r.ReadBatchInPage, c.number32)
	case *file.Float32ColumnChunkReader:
		return decode(c, n, &c.f32, r.ReadBatchInPage, func(v float32) { c.float(float64(v)) })
	case *file.Float64ColumnChunkReader:
		return decode(c, n, &c.f64, r.ReadBatchInPage, c.float)
	case *file.BooleanColumnChunkReader:
		return decode(c, n, &c.bools, r.ReadBatchInPage, c.boolean)
	case *file.ByteArrayColumnChunkReader: // values alias the page: the sink takes them before the next is read
		return decode(c, n, &c.bytes, r.ReadBatchInPage, func(v parquet.ByteArray) { c.binary(v) })
	case *file.FixedLenByteArrayColumnChunkReader:
		return decode(c, n, &c.fixed, r.ReadBatchInPage, func(v parquet.FixedLenByteArray) { c.binary(v) })
	}
	return 0, c.misfit()
}

// decode takes up to n rows of a page to a column's sink.
func decode[T any](c *column, n int64, values *[]T, read func(int64, []T, []int16, []int16) (int64, int, error), put func(T)) (int, error) {
	if *values == nil {
		*values = make([]T, perStep)
	}
	count, _, err := read(n, *values, c.levels, nil)
	if err != nil {
		return 0, err
	}
	top, next := c.reader.Descriptor().MaxDefinitionLevel(), 0
	for i := range count {
		if top > 0 && c.levels[i] < top {
			c.out.null()
			continue
		}
		put((*values)[next])
		next++
	}
	return int(count), nil
}

func (c *column) number(v int64) {
	if c.decimal {
		c.put(rows.AppendDecimal(c.scratch[:0], decimal128.FromI64(v)))
		return
	}
	c.out.int(v * c.unit)
}

// number32 is also of a timestamp that was a date.
func (c *column) number32(v int32) {
	n := int64(v)
	if c.unsigned {
		n = int64(uint32(v))
	}
	c.number(rows.Midnight(c.typ, n))
}

func (c *column) float(v float64) { c.put(rows.AppendFloat(c.scratch[:0], v)) }

func (c *column) boolean(v bool) {
	n := int64(0)
	if v {
		n = 1
	}
	c.out.int(n)
}

func (c *column) binary(v []byte) {
	if c.decimal && len(v) > 0 {
		c.put(rows.AppendDecimal(c.scratch[:0], rows.BigEndianDecimal(v)))
		return
	}
	c.out.part(v)
}

func (c *column) put(part []byte) {
	c.scratch = part
	c.out.part(part)
}
