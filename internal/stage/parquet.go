package stage

import (
	"bytes"
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/compute"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/apache/iceberg-go"
	"github.com/frazil/frazil/internal/locate"
	"github.com/frazil/frazil/internal/rows"
	"github.com/frazil/frazil/internal/tablefile"
)

// parquetFile is a Parquet file to write.
type parquetFile struct {
	schema  *arrow.Schema
	columns []arrow.Array
	path    string
	modes   map[int]mode // of its statistics, by field id
}

// build encodes a file and begins its entry in a manifest.
func (w *writer) build(f parquetFile, spec iceberg.PartitionSpec, content iceberg.ManifestEntryContent, partition map[int]any) (*iceberg.DataFileBuilder, error) {
	data, meta, err := encode(f, w.target.Layout)
	if err != nil {
		return nil, err
	}
	b, err := iceberg.NewDataFileBuilder(spec, content, f.path, iceberg.ParquetFile, partition, nil, nil, int64(f.columns[0].Len()), int64(len(data)))
	if err != nil {
		return nil, err
	}
	w.Objects = append(w.Objects, Object{f.path, data})
	return newMetrics(meta, f).describe(b), nil
}

// usualRatio is how many times as long as a file its rows are, of most files at least.
const usualRatio = 3

// encode returns a Parquet file's bytes and its footer.
func encode(f parquetFile, l Layout) ([]byte, *metadata.FileMetaData, error) {
	batch := array.NewRecordBatch(f.schema, f.columns, int64(f.columns[0].Len()))
	var buf bytes.Buffer
	buf.Grow(int(sizeOf(batch) / usualRatio))
	out, err := pqarrow.NewFileWriter(f.schema, &buf, parquet.NewWriterProperties(l.parquet(batch)...), pqarrow.DefaultWriterProps())
	if err != nil {
		return nil, nil, err
	}
	if err := out.Write(batch); err != nil {
		return nil, nil, err
	}
	if err := out.Close(); err != nil {
		return nil, nil, err
	}
	meta, err := out.FileMetadata()
	return buf.Bytes(), meta, err
}

// addRows writes a pile as data files, at least one for each partition that has rows.
func (w *writer) addRows(p *pile) error {
	if len(p.picks) == 0 {
		return nil
	}
	if err := p.join(); err != nil {
		return err
	}
	groups, err := w.groups(p)
	if err != nil {
		return err
	}
	for _, g := range groups {
		picks, err := w.sorted(p.columns, g.picks)
		if err == nil {
			err = w.addGroup(p, g.partition, picks)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// addGroup writes rows of one partition. A file that comes out larger than the table's target is written in parts.
func (w *writer) addGroup(p *pile, partition map[int]any, picks []pick) error {
	f, err := p.file(w.outcome.Batch.Schema.Arrow(), picks)
	if err != nil {
		return err
	}
	f.path = w.name(folder(w.target.Spec, w.target.Schema, partition), ".parquet")
	f.modes = w.target.Layout.modes
	b, err := w.build(f, w.target.Spec, iceberg.EntryContentData, partition)
	if err != nil {
		return err
	}
	last := len(w.Objects) - 1
	if size := int64(len(w.Objects[last].Data)); size > w.target.Layout.targetSize && len(picks) > 1 {
		w.Objects = w.Objects[:last]
		parts := min(int64(len(picks)), (size+w.target.Layout.targetSize-1)/w.target.Layout.targetSize)
		for i := range parts {
			n := int64(len(picks))
			if err := w.addGroup(p, partition, picks[i*n/parts:(i+1)*n/parts]); err != nil {
				return err
			}
		}
		return nil
	}
	if len(w.target.Sort.Fields) > 0 {
		b.SortOrderID(w.target.Sort.ID)
	}
	w.Data = append(w.Data, b.Build())
	if w.Fingerprints != nil {
		w.Fingerprints[f.path] = p.fingerprints(picks)
	}
	return nil
}

// file takes rows out of the pile's columns. Columns of type unknown are not stored (Iceberg spec, Parquet).
func (p *pile) file(schema *arrow.Schema, picks []pick) (f parquetFile, err error) {
	index := array.NewInt64Builder(memory.DefaultAllocator)
	for _, row := range picks {
		index.Append(row.index)
	}
	indices := index.NewInt64Array()
	var fields []arrow.Field
	for i, field := range schema.Fields() {
		column := p.columns[i]
		if !isRange(picks, column.Len()) {
			if column, err = compute.TakeArray(context.Background(), column, indices); err != nil {
				return f, err
			}
		}
		if field, column = stripped(field, column); column != nil {
			fields, f.columns = append(fields, field), append(f.columns, column)
		}
	}
	if p.lineage {
		fields = append(fields, rowID, lastUpdated)
		ids, updated := array.NewInt64Builder(memory.DefaultAllocator), array.NewInt64Builder(memory.DefaultAllocator)
		for _, row := range picks {
			appendKept(ids, row.id)
			appendKept(updated, row.updated)
		}
		f.columns = append(f.columns, ids.NewArray(), updated.NewArray())
	}
	f.schema = arrow.NewSchema(fields, nil)
	return f, nil
}

// isRange reports whether the picks are all n rows in their order.
func isRange(picks []pick, n int) bool {
	if len(picks) != n {
		return false
	}
	for i, p := range picks {
		if p.index != int64(i) {
			return false
		}
	}
	return true
}

// The columns of row lineage (Iceberg spec, reserved field ids).
var (
	rowID       = arrow.Field{Name: "_row_id", Type: arrow.PrimitiveTypes.Int64, Nullable: true, Metadata: rows.IDMetadata(tablefile.FieldRowID)}
	lastUpdated = arrow.Field{
		Name: "_last_updated_sequence_number", Type: arrow.PrimitiveTypes.Int64, Nullable: true, Metadata: rows.IDMetadata(tablefile.FieldLastUpdated),
	}
)

func appendKept(b *array.Int64Builder, v int64) {
	if v == locate.NoID {
		b.AppendNull()
	} else {
		b.Append(v)
	}
}
