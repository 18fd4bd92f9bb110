package tablefile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

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
// these fields are read: the pages that hold such rows, where the file has an index of them, else all in their row groups, as
// also of columns with lists or maps.
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

// rowGroup is a row group that cells are read from.
type rowGroup struct {
	window *window
	meta   *metadata.FileMetaData
	number int
	file   *file.Reader
	arrow  *pqarrow.FileReader
}

// group takes rows out of a row group.
func (c *cells) group(w *window, meta *metadata.FileMetaData, number int, names Names, named bool, inside []int64) error {
	g := rowGroup{window: w, meta: meta, number: number}
	props := parquet.NewReaderProperties(nil)
	props.BufferedStreamEnabled, props.BufferSize = true, buffered
	var err error
	if g.file, err = file.NewParquetReader(io.NewSectionReader(w, 0, w.size), file.WithMetadata(meta), file.WithReadProps(props)); err != nil {
		return err
	}
	if g.arrow, err = pqarrow.NewFileReader(g.file, pqarrow.ArrowReadProperties{BatchSize: perBatch}, memory.DefaultAllocator); err != nil {
		return err
	}
	flat, repeated, err := c.choose(g, names, named)
	if err != nil {
		return err
	}
	var columns []arrow.Array
	for _, some := range []choice{flat, repeated} {
		read, err := c.readSome(g, some, inside)
		if err != nil {
			return err
		}
		columns = append(columns, read...)
	}
	w.drop()
	return c.shape(append(flat.fields, repeated.fields...), columns, len(inside))
}

// choice is some columns of a file, with their leaves.
type choice struct {
	fields   []arrow.Field
	leaves   []int
	repeated bool // some of their values are in lists or maps
}

// readSome reads the given rows of some columns.
func (c *cells) readSome(g rowGroup, some choice, inside []int64) ([]arrow.Array, error) {
	if len(some.leaves) == 0 {
		return nil, nil
	}
	runs := []run{{0, g.meta.RowGroups[g.number].NumRows}}
	var pages []extent
	var err error
	if !some.repeated { // in pages of lists arrow-go loses its place: it errs, or panics
		pages, err = pagesOf(g, some.leaves, inside)
	}
	switch {
	case err != nil:
	case pages != nil:
		runs = runsOf(inside)
		inside = shifted(inside, runs)
		err = g.window.fetchAll(c.ctx, c.store, pages)
	default:
		err = g.window.fetchChunks(c.ctx, c.store, g.meta, g.number, some.leaves)
	}
	if err != nil {
		return nil, err
	}
	columns, err := c.readRuns(g, some.leaves, runs)
	if err != nil {
		return nil, err
	}
	index := array.NewInt64Builder(memory.DefaultAllocator)
	index.AppendValues(inside, nil)
	indices := index.NewInt64Array()
	for i, column := range columns {
		if columns[i], err = compute.TakeArray(c.ctx, column, indices); err != nil {
			return nil, err
		}
	}
	return columns, nil
}

const (
	perBatch = 1024    // rows that are read at a time
	buffered = 4 << 10 // bytes that are read at a time, and so beyond the end of a page
)

// readRuns reads runs of rows of a row group.
func (c *cells) readRuns(g rowGroup, leaves []int, runs []run) ([]arrow.Array, error) {
	records, err := g.arrow.GetRecordReader(c.ctx, leaves, []int{g.number})
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

// choose picks the columns of a file that hold wanted fields: those without lists and maps, and those with some.
func (c *cells) choose(g rowGroup, names Names, named bool) (flat, repeated choice, err error) {
	schema, err := g.arrow.Schema()
	if err != nil {
		return flat, repeated, err
	}
	fields := schema.Fields()
	if named {
		fields = names.identified(fields)
	}
	repeated.repeated = true
	for i, f := range fields {
		if !slices.ContainsFunc(c.want, func(want arrow.Field) bool { return rows.FieldID(f) == rows.FieldID(want) }) {
			continue
		}
		to := &flat
		leaves := appendLeaves(nil, g.arrow.Manifest.Fields[i])
		if slices.ContainsFunc(leaves, func(leaf int) bool { return g.meta.Schema.Column(leaf).MaxRepetitionLevel() > 0 }) {
			to = &repeated
		}
		to.fields, to.leaves = append(to.fields, f), append(to.leaves, leaves...)
	}
	return flat, repeated, nil
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

// shape adds the wanted fields of n rows, as today's schema has them.
func (c *cells) shape(have []arrow.Field, columns []arrow.Array, n int) error {
	for i, want := range c.want {
		column, err := c.shaper.field(have, columns, want, n)
		if err != nil {
			return err
		}
		c.parts[i] = append(c.parts[i], column)
	}
	return nil
}
