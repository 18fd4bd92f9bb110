package tablefile

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/compute"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/frazil/frazil/internal/rows"
)

// Cells reads the values that some rows of a data file have in some fields, which carry field ids as package rows sets
// them: one array for each field, with an element for each position. Positions ascend. Of the file only the columns of
// these fields are read: the pages that hold such rows, where the file has an index of them, else all in their row groups.
func Cells(ctx context.Context, store Store, f File, fields []arrow.Field, positions []int64, defaults Defaults) ([]arrow.Array, error) {
	missing, err := f.missing(defaults)
	c := cells{ctx: ctx, store: store, want: fields, shaper: shaper(missing), parts: make([][]arrow.Array, len(fields))}
	if err == nil {
		err = c.read(f, positions)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", f.FilePath(), err)
	}
	out := make([]arrow.Array, len(fields))
	for i, parts := range c.parts {
		if out[i], err = array.Concatenate(parts, memory.DefaultAllocator); err != nil {
			return nil, fmt.Errorf("read %s: %w", f.FilePath(), err)
		}
	}
	return out, nil
}

type cells struct {
	ctx    context.Context
	store  Store
	want   []arrow.Field
	shaper shaper
	parts  [][]arrow.Array // by field
}

func (c *cells) read(f File, positions []int64) error {
	w, meta, err := openParquet(c.ctx, c.store, f)
	if err != nil {
		return err
	}
	w.more = func(off, n int64) ([]byte, error) { return c.store.ReadRange(c.ctx, w.path, off, n) }
	_, named, err := columnIDs(meta, f.Names)
	if err != nil {
		return err
	}
	first := int64(0)
	for g := range meta.RowGroups {
		n := meta.RowGroups[g].NumRows
		var inside []int64
		for len(positions) > 0 && positions[0] < first+n {
			inside, positions = append(inside, positions[0]-first), positions[1:]
		}
		if len(inside) > 0 {
			if err := c.group(w, meta, g, f.Names, named, inside); err != nil {
				return err
			}
		}
		first += n
	}
	if len(positions) > 0 {
		return fmt.Errorf("it has no row %d", positions[0])
	}
	return nil
}

// group takes rows out of a row group.
func (c *cells) group(w *window, meta *metadata.FileMetaData, g int, names Names, named bool, inside []int64) error {
	props := parquet.NewReaderProperties(nil)
	props.BufferedStreamEnabled, props.BufferSize = true, buffered
	r, err := file.NewParquetReader(io.NewSectionReader(w, 0, w.size), file.WithMetadata(meta), file.WithReadProps(props))
	if err != nil {
		return err
	}
	reader, err := pqarrow.NewFileReader(r, pqarrow.ArrowReadProperties{BatchSize: perBatch}, memory.DefaultAllocator)
	if err != nil {
		return err
	}
	have, leaves, err := c.columns(reader, names, named)
	if err != nil {
		return err
	}
	n := meta.RowGroups[g].NumRows
	var columns []arrow.Array
	if len(leaves) > 0 {
		runs := []run{{0, n}}
		pages, err := pagesOf(w, r, meta, g, leaves, inside)
		if err != nil {
			return err
		}
		if pages != nil {
			runs = runsOf(inside)
			inside, n = shifted(inside, runs)
			err = w.fetchAll(c.ctx, c.store, pages)
		} else {
			err = w.fetchChunks(c.ctx, c.store, meta, g, leaves)
		}
		if err == nil {
			columns, err = c.readRuns(reader, g, leaves, runs)
		}
		if err != nil {
			return err
		}
		w.drop()
	}
	return c.take(have, columns, int(n), inside)
}

const (
	perBatch = 1024    // rows that are read at a time
	buffered = 4 << 10 // bytes that are read at a time, and so beyond the end of a page
)

// readRuns reads runs of rows of a row group.
func (c *cells) readRuns(reader *pqarrow.FileReader, g int, leaves []int, runs []run) ([]arrow.Array, error) {
	records, err := reader.GetRecordReader(c.ctx, leaves, []int{g})
	if err != nil {
		return nil, err
	}
	defer records.Release()
	parts := make([][]arrow.Array, records.Schema().NumFields())
	for _, r := range runs {
		if err := records.SeekToRow(r.from); err != nil {
			return nil, err
		}
		for left := r.to - r.from; left > 0; {
			if !records.Next() {
				return nil, errors.Join(records.Err(), io.ErrUnexpectedEOF)
			}
			batch := records.RecordBatch()
			n := min(left, batch.NumRows())
			for i, column := range batch.Columns() {
				parts[i] = append(parts[i], array.NewSlice(column, 0, n))
			}
			left -= n
		}
	}
	columns := make([]arrow.Array, len(parts))
	for i, list := range parts {
		if columns[i], err = array.Concatenate(list, memory.DefaultAllocator); err != nil {
			return nil, err
		}
	}
	return columns, nil
}

// columns are those of a file that hold wanted fields, with their leaves.
func (c *cells) columns(reader *pqarrow.FileReader, names Names, named bool) (have []arrow.Field, leaves []int, err error) {
	schema, err := reader.Schema()
	if err != nil {
		return nil, nil, err
	}
	fields := schema.Fields()
	if named {
		fields = names.identified(fields)
	}
	for i, f := range fields {
		for _, want := range c.want {
			if rows.FieldID(f) == rows.FieldID(want) {
				have, leaves = append(have, f), appendLeaves(leaves, reader.Manifest.Fields[i])
				break
			}
		}
	}
	return have, leaves, nil
}

func appendLeaves(leaves []int, f pqarrow.SchemaField) []int {
	if f.ColIndex >= 0 {
		return append(leaves, f.ColIndex)
	}
	for _, child := range f.Children {
		leaves = appendLeaves(leaves, child)
	}
	return leaves
}

func (c *cells) take(have []arrow.Field, columns []arrow.Array, n int, inside []int64) error {
	index := array.NewInt64Builder(memory.DefaultAllocator)
	index.AppendValues(inside, nil)
	indices := index.NewInt64Array()
	for i, want := range c.want {
		column, err := c.shaper.field(have, columns, want, n)
		if err != nil {
			return err
		}
		if column, err = compute.TakeArray(c.ctx, column, indices); err != nil {
			return err
		}
		c.parts[i] = append(c.parts[i], column)
	}
	return nil
}
