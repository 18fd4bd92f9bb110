package tablefile

import (
	"bytes"
	"context"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/apache/iceberg-go"
	"github.com/frazil/frazil/internal/rows"
)

// FileRows are all rows of a data file. The file was fetched whole; its columns are decoded one by one, as they are asked for.
type FileRows struct {
	// Of row lineage, as stored in the file; nil where the file does not have the column. A null, as all of a column
	// that is not there, is inherited: the file's first row id plus the position, the file's sequence number.
	RowIDs, LastUpdated *array.Int64

	path   string
	count  int
	want   []arrow.Field // the schema that was asked for
	have   []arrow.Field // the file's, with ids
	reader *pqarrow.FileReader
	shaper shaper
}

// Rows opens a data file for the columns of a schema. Its fields carry field ids as package rows sets them.
func Rows(ctx context.Context, store Store, f File, schema *arrow.Schema, defaults Defaults) (*FileRows, error) {
	r := &FileRows{path: f.FilePath(), count: int(f.Count()), want: schema.Fields()}
	missing, err := f.missing(defaults)
	if err == nil {
		r.shaper = shaper(missing)
		err = r.open(ctx, store, f)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", f.FilePath(), err)
	}
	return r, nil
}

func (r *FileRows) open(ctx context.Context, store Store, f File) (err error) {
	defer recovered(&err)
	if f.FileFormat() != iceberg.ParquetFile {
		return fmt.Errorf("its format %s is not supported", f.FileFormat())
	}
	text, err := store.Read(ctx, f.FilePath())
	if err != nil {
		return err
	}
	parquet, err := file.NewParquetReader(bytes.NewReader(text))
	if err != nil {
		return err
	}
	forgetArrow(parquet.MetaData())
	if n := parquet.NumRows(); n != f.Count() {
		return fmt.Errorf("it has %d rows, but %d in its manifest", n, f.Count())
	}
	_, named, err := columnIDs(parquet.MetaData(), f.Names)
	if err != nil {
		return err
	}
	if r.reader, err = pqarrow.NewFileReader(parquet, pqarrow.ArrowReadProperties{PreAllocBinaryData: true}, memory.DefaultAllocator); err != nil {
		return err
	}
	schema, err := r.reader.Schema()
	if err != nil {
		return err
	}
	if r.have = schema.Fields(); named {
		r.have = f.Names.identified(r.have)
	}
	if r.RowIDs, err = r.lineage(ctx, FieldRowID); err != nil {
		return err
	}
	r.LastUpdated, err = r.lineage(ctx, FieldLastUpdated)
	return err
}

// lineage is a column of row lineage.
func (r *FileRows) lineage(ctx context.Context, id int) (*array.Int64, error) {
	i := find(r.have, id)
	if i < 0 {
		return nil, nil
	}
	column, _, err := r.decode(ctx, i, 0, int64(r.count))
	if err != nil {
		return nil, err
	}
	numbers, _ := column.(*array.Int64) // of another type it is not ours
	return numbers, nil
}

// Column decodes the column of the schema's i-th field, in its shape: the row groups that have some of the rows. first is the position of
// its first row.
func (r *FileRows) Column(ctx context.Context, i int, from, to int64) (column arrow.Array, first int64, err error) {
	first = from
	read := func(at int) (out arrow.Array, err error) {
		out, first, err = r.decode(ctx, at, from, to)
		return out, err
	}
	if column, err = r.shaper.field(r.have, read, r.want[i], int(to-from)); err != nil {
		return nil, 0, fmt.Errorf("read %s: %w", r.path, err)
	}
	return column, first, nil
}

// decode is a column of the row groups that have some of the rows, as one array, with the position of its first row.
func (r *FileRows) decode(ctx context.Context, i int, from, to int64) (column arrow.Array, first int64, err error) {
	var groups []int
	var at, count int64
	for n, g := range r.reader.ParquetReader().MetaData().RowGroups {
		if at+g.NumRows > from && at < to {
			if len(groups) == 0 {
				first = at
			}
			groups, count = append(groups, n), count+g.NumRows
		}
		at += g.NumRows
	}
	table, err := r.reader.ReadRowGroups(ctx, appendLeaves(nil, r.reader.Manifest.Fields[i]), groups)
	if err != nil {
		return nil, 0, err
	}
	column, err = joinedChunks(table.Column(0).Data())
	if err == nil && int64(column.Len()) != count {
		err = fmt.Errorf("its pages have %d rows, but %d in the footer", column.Len(), count)
	}
	return column, first, err
}

// Dictionary reports whether the file has a dictionary of the values of the schema's i-th field.
func (r *FileRows) Dictionary(i int) bool {
	at := find(r.have, rows.FieldID(r.want[i]))
	if at < 0 {
		return true // it is one value in all rows
	}
	for _, g := range r.reader.ParquetReader().MetaData().RowGroups {
		for _, leaf := range appendLeaves(nil, r.reader.Manifest.Fields[at]) {
			if g.Columns[leaf].MetaData.IsSetDictionaryPageOffset() {
				return true
			}
		}
	}
	return false
}

// Bytes is the length of the columns before they were compressed.
func (r *FileRows) Bytes() (n int64) {
	for _, g := range r.reader.ParquetReader().MetaData().RowGroups {
		n += g.TotalByteSize
	}
	return n
}

// joinedChunks is a column as one array. Each of its arrays is asked whether it is sound: where a page cannot be read, arrow-go may give
// lists without their elements, and no error, and what goes through those ends the process.
func joinedChunks(column *arrow.Chunked) (arrow.Array, error) {
	for _, chunk := range column.Chunks() {
		if err := array.Validate(chunk); err != nil {
			return nil, err
		}
	}
	switch chunks := column.Chunks(); len(chunks) {
	case 0:
		return array.MakeArrayOfNull(memory.DefaultAllocator, column.DataType(), 0), nil
	case 1:
		return chunks[0], nil
	default:
		return array.Concatenate(chunks, memory.DefaultAllocator)
	}
}
