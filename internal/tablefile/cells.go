package tablefile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
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
// also of columns with lists or maps. Where that costs more than most, the error is ErrCostly; a row group has been read by
// then only if it was within that.
func Cells(ctx context.Context, store Store, f File, fields []arrow.Field, positions []int64, defaults Defaults, most Cost) ([]arrow.Array, error) {
	missing, err := f.missing(defaults)
	c := cells{ctx: ctx, store: store, want: fields, shaper: shaper(missing), parts: make([][]arrow.Array, len(fields)), left: most}
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

// Cost is what cells cost to read: the bytes of their pages, and for each value that is made of them perValue more.
type Cost int64

const (
	NoLimit Cost = math.MaxInt64 // for cells that are needed in any case

	perValue = 4
)

// ErrCostly says that cells were not read because they cost too much.
var ErrCostly = errors.New("it costs more to read than the values are worth")

type cells struct {
	ctx    context.Context
	store  Store
	want   []arrow.Field
	shaper shaper
	parts  [][]arrow.Array // by field
	left   Cost
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
	if g.arrow, err = pqarrow.NewFileReader(g.file, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator); err != nil {
		return err
	}
	flat, repeated, err := c.choose(g, names, named)
	if err != nil {
		return err
	}
	var parts [2]part
	for i, some := range []choice{flat, repeated} {
		if parts[i], err = partOf(g, some, inside); err != nil {
			return err
		}
		c.left -= parts[i].cost()
	}
	if c.left < 0 {
		return ErrCostly
	}
	var columns []arrow.Array
	for _, p := range parts {
		read, err := c.readPart(g, p, inside)
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

// part is what is read of some columns of a row group for the rows that are wanted.
type part struct {
	leaves  []int
	extents []extent
	runs    []run
}

// partOf chooses between the pages that hold rows and all of the columns.
func partOf(g rowGroup, some choice, inside []int64) (p part, err error) {
	p.leaves = some.leaves
	if len(p.leaves) == 0 {
		return p, nil
	}
	if !some.repeated { // in pages of lists arrow-go loses its place: it errs, or panics
		if p.extents, err = pagesOf(g, p.leaves, inside); err != nil {
			return p, err
		}
	}
	if p.extents != nil {
		p.runs = runsOf(inside)
		return p, nil
	}
	p.runs = []run{{0, inside[len(inside)-1] + 1}}
	p.extents, err = chunksOf(g.meta, g.number, p.leaves)
	return p, err
}

func (p part) cost() (c Cost) {
	for _, e := range p.extents {
		c += Cost(e.to - e.from)
	}
	for _, r := range p.runs {
		c += Cost(r.to-r.from) * Cost(len(p.leaves)) * perValue
	}
	return c
}

// batch is how many rows are read at a time. More than a run has would be in pages that are not there.
func (p part) batch() (n int64) {
	for _, r := range p.runs {
		n = max(n, r.to-r.from)
	}
	return min(n, perBatch)
}

const (
	perBatch = 1024    // rows that are read at a time, at most
	buffered = 4 << 10 // bytes that are read at a time, and so beyond the end of a page
)

// readPart reads the given rows of some columns. Of the others no more than a batch is held.
func (c *cells) readPart(g rowGroup, p part, inside []int64) ([]arrow.Array, error) {
	if len(p.leaves) == 0 {
		return nil, nil
	}
	if err := g.window.fetchAll(c.ctx, c.store, p.extents); err != nil {
		return nil, err
	}
	reader, err := pqarrow.NewFileReader(g.file, pqarrow.ArrowReadProperties{BatchSize: p.batch()}, memory.DefaultAllocator)
	if err != nil {
		return nil, err
	}
	records, err := reader.GetRecordReader(c.ctx, p.leaves, []int{g.number})
	if err != nil {
		return nil, err
	}
	defer records.Release()
	taken := make([][]arrow.Array, records.Schema().NumFields())
	for _, r := range p.runs {
		if err := records.SeekToRow(r.from); err != nil {
			return nil, err
		}
		for from := r.from; from < r.to; {
			if !records.Next() {
				return nil, errors.Join(records.Err(), io.ErrUnexpectedEOF)
			}
			batch := records.RecordBatch()
			to := min(r.to, from+batch.NumRows())
			n, _ := slices.BinarySearch(inside, to)
			if err := c.take(taken, batch, inside[:n], from); err != nil {
				return nil, err
			}
			inside, from = inside[n:], to
		}
	}
	columns := make([]arrow.Array, len(taken))
	for i, list := range taken {
		if columns[i], err = array.Concatenate(list, memory.DefaultAllocator); err != nil {
			return nil, err
		}
	}
	return columns, nil
}

// take adds the given rows of a batch, of which the first has the number from, to what was taken of its columns.
func (c *cells) take(taken [][]arrow.Array, batch arrow.RecordBatch, rows []int64, from int64) error {
	if len(rows) == 0 {
		return nil
	}
	index := array.NewInt64Builder(memory.DefaultAllocator)
	for _, row := range rows {
		index.Append(row - from)
	}
	indices := index.NewInt64Array()
	for i, column := range batch.Columns() {
		some, err := compute.TakeArray(c.ctx, column, indices)
		if err != nil {
			return err
		}
		taken[i] = append(taken[i], some)
	}
	return nil
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
		out, err := c.shaper.field(have, func(at int) (arrow.Array, error) { return columns[at], nil }, want, n)
		if err != nil {
			return err
		}
		c.parts[i] = append(c.parts[i], out)
	}
	return nil
}
