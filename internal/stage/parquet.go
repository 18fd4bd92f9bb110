package stage

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/iceberg-go"
)

// parquetFile is a Parquet file to write.
type parquetFile struct {
	schema *arrow.Schema
	rows   int64
	bytes  int64 // about, of its columns in memory
	// chunks are some rows of a column. Columns are asked for in their order, once for each row group.
	chunks func(column int, from, to int64) ([]arrow.Array, error)
	differ func(column int) bool // whether most of a column's values are different ones
	path   string
	modes  map[int]mode // of its statistics, by field id
}

// fileOf is a file of columns without lists that are all there.
func fileOf(fields []arrow.Field, columns []arrow.Array) parquetFile {
	f := parquetFile{schema: arrow.NewSchema(fields, nil), rows: int64(columns[0].Len())}
	for _, c := range columns {
		f.bytes += bufferSize(c.Data())
	}
	f.chunks = func(i int, from, to int64) ([]arrow.Array, error) {
		return []arrow.Array{array.NewSlice(columns[i], from, to)}, nil
	}
	f.differ = func(i int) bool { return mostDiffer(columns[i]) }
	return f
}

// build encodes a file and begins its entry in a manifest.
func (w *writer) build(f parquetFile, spec iceberg.PartitionSpec, content iceberg.ManifestEntryContent, partition map[int]any) (*iceberg.DataFileBuilder, error) {
	data, m, err := encode(f, w.target.Layout)
	if err != nil {
		return nil, err
	}
	b, err := iceberg.NewDataFileBuilder(spec, content, f.path, iceberg.ParquetFile, partition, nil, nil, f.rows, int64(len(data)))
	if err != nil {
		return nil, err
	}
	w.Objects = append(w.Objects, Object{f.path, data})
	return m.describe(b), nil
}

// addRows writes a pile as data files, at least one for each partition that has rows.
func (w *writer) addRows(p *pile) error {
	if len(p.picks) == 0 {
		return nil
	}
	if len(w.target.Sort.Fields) > 0 {
		if err := p.join(len(w.outcome.Batch.Schema.Columns)); err != nil {
			return err
		}
	}
	groups, err := w.groups(p)
	if err != nil {
		return err
	}
	for _, g := range groups {
		picks, err := w.sorted(p, g.picks)
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
	c := w.picked(p, picks)
	f := c.file()
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
		w.Fingerprints[f.path] = c.fingerprints
	}
	return nil
}
