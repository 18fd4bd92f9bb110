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

// FileRows are all rows of a data file.
type FileRows struct {
	Columns []arrow.Array // in the shape of the schema that was asked for
	// Of row lineage, as stored in the file; nil where the file does not have the column. A null, as all of a column
	// that is not there, is inherited: the file's first row id plus the position, the file's sequence number.
	RowIDs, LastUpdated *array.Int64
}

// Rows reads a data file whole. The schema's fields carry field ids as package rows sets them.
func Rows(ctx context.Context, store Store, f File, schema *arrow.Schema, defaults Defaults) (*FileRows, error) {
	missing, err := f.missing(defaults)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", f.FilePath(), err)
	}
	out, err := fileRows(ctx, store, f, schema, shaper(missing))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", f.FilePath(), err)
	}
	return out, nil
}

func fileRows(ctx context.Context, store Store, f File, schema *arrow.Schema, s shaper) (*FileRows, error) {
	text, err := store.Read(ctx, f.FilePath())
	if err != nil {
		return nil, err
	}
	fields, columns, err := readAll(ctx, text, f)
	if err != nil {
		return nil, err
	}
	out := &FileRows{}
	for _, want := range schema.Fields() {
		c, err := s.field(fields, columns, want, int(f.Count()))
		if err != nil {
			return nil, err
		}
		out.Columns = append(out.Columns, c)
	}
	for i, have := range fields {
		if ids, ok := columns[i].(*array.Int64); ok && rows.FieldID(have) == FieldRowID {
			out.RowIDs = ids
		} else if ok && rows.FieldID(have) == FieldLastUpdated {
			out.LastUpdated = ids
		}
	}
	return out, nil
}

// readAll reads all columns of a Parquet file, each as one array, with the ids of its fields.
func readAll(ctx context.Context, text []byte, f File) ([]arrow.Field, []arrow.Array, error) {
	if f.FileFormat() != iceberg.ParquetFile {
		return nil, nil, fmt.Errorf("its format %s is not supported", f.FileFormat())
	}
	r, err := file.NewParquetReader(bytes.NewReader(text))
	if err != nil {
		return nil, nil, err
	}
	if n := r.NumRows(); n != f.Count() {
		return nil, nil, fmt.Errorf("it has %d rows, but %d in its manifest", n, f.Count())
	}
	_, named, err := columnIDs(r.MetaData(), f.Names)
	if err != nil {
		return nil, nil, err
	}
	reader, err := pqarrow.NewFileReader(r, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	if err != nil {
		return nil, nil, err
	}
	table, err := reader.ReadTable(ctx)
	if err != nil {
		return nil, nil, err
	}
	columns := make([]arrow.Array, table.NumCols())
	for i := range columns {
		if columns[i], err = joinedChunks(table.Column(i).Data()); err != nil {
			return nil, nil, err
		}
	}
	fields := table.Schema().Fields()
	if named {
		fields = f.Names.identified(fields)
	}
	return fields, columns, nil
}

func joinedChunks(column *arrow.Chunked) (arrow.Array, error) {
	switch chunks := column.Chunks(); len(chunks) {
	case 0:
		return array.MakeArrayOfNull(memory.DefaultAllocator, column.DataType(), 0), nil
	case 1:
		return chunks[0], nil
	default:
		return array.Concatenate(chunks, memory.DefaultAllocator)
	}
}
