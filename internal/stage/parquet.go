package stage

import (
	"bytes"
	"context"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/compute"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/apache/iceberg-go"
	"github.com/frazil/frazil/internal/locate"
	"github.com/frazil/frazil/internal/resolve"
)

// writerProperties: pages small enough that a reader after single rows fetches little,
// a page index to find them by, decimals as integers where the Iceberg spec wants them so.
func writerProperties() *parquet.WriterProperties {
	return parquet.NewWriterProperties(
		parquet.WithCompression(compress.Codecs.Zstd),
		parquet.WithDataPageSize(128<<10),
		parquet.WithPageIndexEnabled(true),
		parquet.WithStoreDecimalAsInteger(true),
		parquet.WithCreatedBy("frazil"),
	)
}

// encode writes one record batch as a Parquet file and returns its bytes and its footer.
func encode(schema *arrow.Schema, columns []arrow.Array, rowCount int) ([]byte, *metadata.FileMetaData, error) {
	var buf bytes.Buffer
	w, err := pqarrow.NewFileWriter(schema, &buf, writerProperties(), pqarrow.DefaultWriterProps())
	if err != nil {
		return nil, nil, err
	}
	if err := w.Write(array.NewRecordBatch(schema, columns, int64(rowCount))); err != nil {
		return nil, nil, err
	}
	if err := w.Close(); err != nil {
		return nil, nil, err
	}
	meta, err := w.FileMetadata()
	return buf.Bytes(), meta, err
}

func (f *Files) addRows(o *resolve.Outcome, t Target, path string) error {
	picks := array.NewInt64Builder(memory.DefaultAllocator)
	for _, r := range o.Write {
		picks.Append(int64(r))
	}
	index := picks.NewInt64Array()
	var columns []arrow.Array
	for _, c := range o.Batch.Columns() {
		picked, err := compute.TakeArray(context.Background(), c, index)
		if err != nil {
			return err
		}
		columns = append(columns, picked)
	}
	data, meta, err := encode(o.Batch.Schema.Arrow(), columns, len(o.Write))
	if err != nil {
		return err
	}
	b, err := iceberg.NewDataFileBuilder(t.Spec, iceberg.EntryContentData, path, iceberg.ParquetFile, nil, nil, nil, int64(len(o.Write)), int64(len(data)))
	if err != nil {
		return err
	}
	m := newMetrics(meta)
	for i, c := range o.Batch.Schema.Columns {
		m.measure(c.FieldID, columns[i], truncateTo)
	}
	f.Data = append(f.Data, m.describe(b))
	f.Objects = append(f.Objects, Object{path, data})
	return nil
}

// addDeletes writes one position-delete file for any number of data files. Its rows are sorted by file and
// position, as the Iceberg spec demands, since locate orders hits so.
func (f *Files) addDeletes(kill []locate.Hit, t Target, path string) error {
	files := array.NewStringBuilder(memory.DefaultAllocator)
	positions := array.NewInt64Builder(memory.DefaultAllocator)
	for _, h := range kill {
		files.Append(h.File)
		positions.Append(h.Pos)
	}
	columns := []arrow.Array{files.NewArray(), positions.NewArray()}
	field := func(name string, id int, t arrow.DataType) arrow.Field {
		return arrow.Field{Name: name, Type: t, Metadata: arrow.NewMetadata([]string{"PARQUET:field_id"}, []string{strconv.Itoa(id)})}
	}
	schema := arrow.NewSchema([]arrow.Field{
		field("file_path", locate.FieldFilePath, arrow.BinaryTypes.String),
		field("pos", locate.FieldPos, arrow.PrimitiveTypes.Int64),
	}, nil)
	data, meta, err := encode(schema, columns, len(kill))
	if err != nil {
		return err
	}
	b, err := iceberg.NewDataFileBuilder(t.Spec, iceberg.EntryContentPosDeletes, path, iceberg.ParquetFile, nil, nil, nil, int64(len(kill)), int64(len(data)))
	if err != nil {
		return err
	}
	m := newMetrics(meta)
	m.measure(locate.FieldFilePath, columns[0], 0) // whole paths: readers match delete files to data files by them
	m.measure(locate.FieldPos, columns[1], 0)
	f.Deletes = append(f.Deletes, m.describe(b))
	f.Objects = append(f.Objects, Object{path, data})
	return nil
}
