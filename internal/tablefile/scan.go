package tablefile

import (
	"context"
	"fmt"
	"io"

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

// perStep is how many rows are decoded at a time.
const perStep = 4096

// Scan calls row for each row of a Parquet file with the values of the given fields, which may be those of structs,
// but not of lists and maps; row must not keep them.
func Scan(ctx context.Context, store Store, f File, fields []Field, row func(pos int64, values []Part)) error {
	parts, sinks := make([]parts, len(fields)), make([]sink, len(fields))
	for i := range parts {
		sinks[i] = &parts[i]
	}
	values := make([]Part, len(fields))
	return scan(ctx, store, f, fields, sinks, func(first int64, n int) {
		for k := range n {
			for i := range parts {
				values[i] = parts[i].at(k)
			}
			row(first+int64(k), values)
		}
	})
}

// Keys are the keys of some neighbouring rows of a file. They are borrowed.
type Keys struct {
	First int64 // position of the first row
	IDs   []rows.ID
	Nulls []bool // by row: a column of the key is null, and so the row has none; nil: no row's is
	// The ids of the rows as the file has them, NoRowID where a row inherits its; nil: all do.
	RowIDs []int64
}

// NoRowID is the id of a row without one of its own in the file.
const NoRowID = -1

var lineage = Field{ID: FieldRowID, Type: iceberg.PrimitiveTypes.Int64}

// ScanKeys calls do with the keys of the rows of a Parquet file, run by run: the columns of a key are the fields, in their
// order. With it come the rows' ids, if the file has them.
func ScanKeys(ctx context.Context, store Store, f File, fields []Field, ids *rows.IDs, do func(Keys)) error {
	run := &keyRun{ids: make([]rows.ID, perStep)}
	var sinks []sink
	for i := range fields {
		sinks = append(sinks, &keySink{run: run, ids: ids, column: i})
	}
	stored := &rowIDs{}
	if f.FirstRowID() != nil {
		fields, sinks = append(fields[:len(fields):len(fields)], lineage), append(sinks, stored)
	}
	return scan(ctx, store, f, fields, sinks, func(first int64, n int) {
		keys := Keys{First: first, IDs: run.ids[:n]}
		if run.some {
			keys.Nulls = run.nulls[:n]
		}
		if stored.some {
			keys.RowIDs = stored.values
		}
		do(keys)
		run.reset()
	})
}

// scan reads fields into sinks, one of each, a step of rows at a time. At the end of a step it calls done with the position of
// the first of its rows and their number, and the sinks begin anew.
func scan(ctx context.Context, store Store, f File, fields []Field, sinks []sink, done func(first int64, n int)) error {
	err := func() error {
		w, meta, err := openParquet(ctx, store, f)
		if err != nil {
			return err
		}
		leaves, err := findLeaves(meta, f.Names, fields)
		if err != nil {
			return err
		}
		if fields, err = f.fill(fields, leaves); err != nil {
			return err
		}
		pos := int64(0)
		for g := range meta.RowGroups {
			if err := w.fetchChunks(ctx, store, meta, g, leaves); err != nil {
				return err
			}
			columns, err := openColumns(w, meta, g, leaves, fields, sinks)
			if err != nil {
				return err
			}
			if err := readColumns(columns, pos, meta.RowGroups[g].NumRows, done); err != nil {
				return err
			}
			pos += meta.RowGroups[g].NumRows
			w.drop()
		}
		return nil
	}()
	if err != nil {
		return fmt.Errorf("read %s: %w", f.FilePath(), err)
	}
	return nil
}

// openColumns opens the columns of a row group.
func openColumns(w *window, meta *metadata.FileMetaData, g int, leaves []int, fields []Field, sinks []sink) (_ []*column, err error) {
	defer recovered(&err)
	props := parquet.NewReaderProperties(nil)
	props.BufferedStreamEnabled, props.BufferSize = true, 256<<10 // pages are decoded out of the window, not of a copy of the chunk
	r, err := file.NewParquetReader(io.NewSectionReader(w, 0, w.size), file.WithMetadata(meta), file.WithReadProps(props))
	if err != nil {
		return nil, err
	}
	group := r.RowGroup(g)
	columns := make([]*column, len(leaves))
	for i, leaf := range leaves {
		c := newColumn(fields[i], sinks[i])
		columns[i] = c
		if leaf == none {
			continue
		}
		if c.reader, err = group.Column(leaf); err != nil {
			return nil, err
		}
		if !c.fits() {
			return nil, c.misfit()
		}
	}
	return columns, nil
}

func readColumns(columns []*column, first, count int64, done func(int64, int)) error {
	for from := int64(0); from < count; from += perStep {
		n := int(min(perStep, count-from))
		for _, c := range columns {
			c.out.begin()
			if err := c.read(n); err != nil {
				return err
			}
		}
		done(first+from, n)
	}
	return nil
}
