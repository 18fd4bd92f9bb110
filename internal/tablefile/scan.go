package tablefile

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/iceberg-go"
	"github.com/frazil/frazil/internal/rows"
)

// Field is a column to read: its Iceberg field id, its type today, and the value of rows in files that do not have the
// column (the part of its initial default).
type Field struct {
	ID      int
	Type    iceberg.Type
	Missing Part
}

// Part is a value in the form of a key's part (package rows); nil is null.
type Part []byte

const (
	whole   = 1 << 20 // a file up to this size is read in one request
	tail    = 64 << 10
	perStep = 4096 // rows decoded at a time
)

// Scan calls row for each row of a Parquet file with the values of the given fields, which may be those of structs,
// but not of lists and maps; row must not keep them.
func Scan(ctx context.Context, store Store, f File, fields []Field, row func(pos int64, values []Part)) error {
	if err := scanFile(ctx, store, f, fields, row); err != nil {
		return fmt.Errorf("read %s: %w", f.FilePath(), err)
	}
	return nil
}

func scanFile(ctx context.Context, store Store, f File, fields []Field, row func(int64, []Part)) error {
	w, meta, err := openParquet(ctx, store, f)
	if err != nil {
		return err
	}
	leaves, err := findLeaves(meta, f.Names, fields)
	if err != nil {
		return err
	}
	pos := int64(0)
	for g := range meta.RowGroups {
		if err := w.fetchChunks(ctx, store, meta, g, leaves); err != nil {
			return err
		}
		n, err := scanRowGroup(w, meta, g, leaves, fields, pos, row)
		if err != nil {
			return err
		}
		pos += n
		w.drop()
	}
	return nil
}

// openParquet reads the footer, and the whole file when it is small.
func openParquet(ctx context.Context, store Store, f File) (*window, *metadata.FileMetaData, error) {
	if f.FileFormat() != iceberg.ParquetFile {
		return nil, nil, fmt.Errorf("its format %s is not supported", f.FileFormat())
	}
	size := f.FileSizeBytes()
	n := min(size, tail)
	if size <= whole {
		n = size
	}
	w := &window{path: f.FilePath(), size: size}
	end, err := w.fetch(ctx, store, size-n, n)
	if err != nil {
		return nil, nil, err
	}
	if len(end) < 12 || string(end[len(end)-4:]) != "PAR1" {
		return nil, nil, errors.New("it is no Parquet file")
	}
	footer := int64(binary.LittleEndian.Uint32(end[len(end)-8:])) + 8
	if footer > size {
		return nil, nil, errors.New("its footer is longer than the file")
	}
	if footer > n {
		if end, err = w.fetch(ctx, store, size-footer, footer); err != nil {
			return nil, nil, err
		}
	}
	meta, err := metadata.NewFileMetaData(end[int64(len(end))-footer:len(end)-8], nil)
	if err != nil {
		return nil, nil, err
	}
	if meta.NumRows != f.Count() {
		return nil, nil, fmt.Errorf("it has %d rows, but %d in its manifest", meta.NumRows, f.Count())
	}
	w.keep = len(w.spans)
	return w, meta, nil
}

// none is the leaf of a column that the file does not have, as slices.Index says it.
const none = -1

// findLeaves maps the fields to the file's columns by field id.
func findLeaves(meta *metadata.FileMetaData, names Names, fields []Field) ([]int, error) {
	ids, _, err := columnIDs(meta, names)
	if err != nil {
		return nil, err
	}
	leaves := make([]int, len(fields))
	for i, f := range fields {
		leaves[i] = slices.Index(ids, f.ID)
	}
	return leaves, nil
}

func scanRowGroup(w *window, meta *metadata.FileMetaData, g int, leaves []int, fields []Field, first int64, row func(int64, []Part)) (int64, error) {
	r, err := file.NewParquetReader(io.NewSectionReader(w, 0, w.size), file.WithMetadata(meta))
	if err != nil {
		return 0, err
	}
	group := r.RowGroup(g)
	columns := make([]column, len(leaves))
	values := make([]Part, len(columns))
	for i, leaf := range leaves {
		if leaf == none {
			values[i] = fields[i].Missing
			continue
		}
		if columns[i].reader, err = group.Column(leaf); err != nil {
			return 0, err
		}
		columns[i].typ = fields[i].Type
		if !columns[i].fits() {
			return 0, columns[i].misfit()
		}
	}
	for done := int64(0); done < group.NumRows(); {
		n := min(perStep, group.NumRows()-done)
		for i := range columns {
			if err := columns[i].read(int(n)); err != nil {
				return 0, err
			}
		}
		for k := range int(n) {
			for i := range columns {
				if leaves[i] != none {
					values[i] = columns[i].at(k)
				}
			}
			row(first+done+int64(k), values)
		}
		done += n
	}
	return group.NumRows(), nil
}

// column decodes one column chunk into parts.
type column struct {
	reader file.ColumnChunkReader
	typ    iceberg.Type
	unit   int64 // of the file, in units of typ

	text []byte
	ends []int // end of each row's part in text; negative: null

	levels []int16
	i32    []int32
	i64    []int64
	f32    []float32
	f64    []float64
	bools  []bool
	bytes  []parquet.ByteArray
	fixed  []parquet.FixedLenByteArray
}

// fits reports whether the file's type is one that the column's type is, or was, stored in.
func (c *column) fits() (ok bool) {
	if c.unit, ok = unit(c.reader.Descriptor().LogicalType(), c.typ); !ok {
		return false
	}
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
	return fmt.Errorf("a column of type %s, %s, cannot hold a %s", d.PhysicalType(), d.LogicalType(), c.typ)
}

func (c *column) at(i int) Part {
	if c.ends[i] < 0 {
		return nil
	}
	from := 0
	if i > 0 {
		from = max(c.ends[i-1], -c.ends[i-1]-1)
	}
	return c.text[from:c.ends[i]:c.ends[i]]
}

// read decodes the next n rows.
func (c *column) read(n int) error {
	if c.reader == nil {
		return nil
	}
	if c.levels == nil {
		c.levels = make([]int16, perStep)
		c.text = make([]byte, 0, perStep) // not nil: the part of an empty text must not be nil either
	}
	c.text, c.ends = c.text[:0], c.ends[:0]
	for len(c.ends) < n {
		if !c.reader.HasNext() {
			return errors.Join(c.reader.Err(), io.ErrUnexpectedEOF)
		}
		if err := c.page(int64(n - len(c.ends))); err != nil {
			return err
		}
	}
	return nil
}

// page decodes up to n rows of one page. Byte values alias the page, so they are copied before the next.
func (c *column) page(n int64) (err error) {
	var rowCount int64
	var value func(int)
	switch r := c.reader.(type) {
	case *file.Int64ColumnChunkReader:
		c.i64 = buffer(c.i64)
		rowCount, _, err = r.ReadBatchInPage(n, c.i64, c.levels, nil)
		value = func(i int) { c.number(c.i64[i]) }
	case *file.Int32ColumnChunkReader:
		c.i32 = buffer(c.i32)
		rowCount, _, err = r.ReadBatchInPage(n, c.i32, c.levels, nil)
		value = func(i int) { c.number(rows.Midnight(c.typ, int64(c.i32[i]))) } // of a timestamp that was a date
	case *file.Float32ColumnChunkReader:
		c.f32 = buffer(c.f32)
		rowCount, _, err = r.ReadBatchInPage(n, c.f32, c.levels, nil)
		value = func(i int) { c.text = rows.AppendFloat(c.text, float64(c.f32[i])) }
	case *file.Float64ColumnChunkReader:
		c.f64 = buffer(c.f64)
		rowCount, _, err = r.ReadBatchInPage(n, c.f64, c.levels, nil)
		value = func(i int) { c.text = rows.AppendFloat(c.text, c.f64[i]) }
	case *file.BooleanColumnChunkReader:
		c.bools = buffer(c.bools)
		rowCount, _, err = r.ReadBatchInPage(n, c.bools, c.levels, nil)
		value = func(i int) { c.boolean(c.bools[i]) }
	case *file.ByteArrayColumnChunkReader:
		c.bytes = buffer(c.bytes)
		rowCount, _, err = r.ReadBatchInPage(n, c.bytes, c.levels, nil)
		value = func(i int) { c.binary(c.bytes[i]) }
	case *file.FixedLenByteArrayColumnChunkReader:
		c.fixed = buffer(c.fixed)
		rowCount, _, err = r.ReadBatchInPage(n, c.fixed, c.levels, nil)
		value = func(i int) { c.binary(c.fixed[i]) }
	default:
		return c.misfit()
	}
	if err != nil {
		return err
	}
	c.rows(int(rowCount), value)
	return nil
}

func buffer[T any](b []T) []T {
	if b == nil {
		b = make([]T, perStep)
	}
	return b
}

func (c *column) rows(n int, value func(int)) {
	top := c.reader.Descriptor().MaxDefinitionLevel()
	present := 0
	for i := range n {
		if top > 0 && c.levels[i] < top {
			c.ends = append(c.ends, -len(c.text)-1)
			continue
		}
		value(present)
		present++
		c.ends = append(c.ends, len(c.text))
	}
}

func (c *column) number(v int64) {
	if _, ok := c.typ.(iceberg.DecimalType); ok {
		c.text = rows.AppendDecimal(c.text, decimal128.FromI64(v))
		return
	}
	c.text = rows.AppendInt(c.text, v*c.unit)
}

func (c *column) boolean(v bool) {
	n := int64(0)
	if v {
		n = 1
	}
	c.text = rows.AppendInt(c.text, n)
}

func (c *column) binary(v []byte) {
	if _, ok := c.typ.(iceberg.DecimalType); ok && len(v) > 0 {
		c.text = rows.AppendDecimal(c.text, rows.BigEndianDecimal(v))
		return
	}
	c.text = append(c.text, v...)
}
