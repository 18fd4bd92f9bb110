package tablefile

import (
	"context"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/compute"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/frazil/frazil/internal/rows"
)

// Cells reads the values that some rows of a data file have in some fields, which carry field ids as package rows sets
// them: one array for each field, with an element for each position. Positions ascend. Of the file only the columns of
// these fields are read, in the row groups that hold such rows.
func Cells(ctx context.Context, store Store, f File, fields []arrow.Field, positions []int64, defaults Defaults) ([]arrow.Array, error) {
	c := cells{ctx: ctx, store: store, want: fields, shaper: shaper(defaults), parts: make([][]arrow.Array, len(fields))}
	if err := c.read(f, positions); err != nil {
		return nil, fmt.Errorf("read %s: %w", f.FilePath(), err)
	}
	out := make([]arrow.Array, len(fields))
	for i, parts := range c.parts {
		var err error
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
	r, err := file.NewParquetReader(io.NewSectionReader(w, 0, w.size), file.WithMetadata(meta))
	if err != nil {
		return err
	}
	reader, err := pqarrow.NewFileReader(r, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	if err != nil {
		return err
	}
	have, leaves, err := c.columns(reader, names, named)
	if err != nil {
		return err
	}
	var columns []arrow.Array
	if len(leaves) > 0 {
		if err := w.fetchChunks(c.ctx, c.store, meta, g, leaves); err != nil {
			return err
		}
		table, err := reader.RowGroup(g).ReadTable(c.ctx, leaves)
		if err != nil {
			return err
		}
		for i := range int(table.NumCols()) {
			column, err := joinedChunks(table.Column(i).Data())
			if err != nil {
				return err
			}
			columns = append(columns, column)
		}
		w.drop()
	}
	return c.take(have, columns, int(meta.RowGroups[g].NumRows), inside)
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
