package stage

import (
	"fmt"
	"maps"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/iceberg-go"
	"github.com/frazil/frazil/internal/locate"
	"github.com/frazil/frazil/internal/rows"
	"github.com/frazil/frazil/internal/tablefile"
)

// mergeDeletes is how many position-delete files a partition has at most: with one more they become one. Readers open all
// of a partition's for each of its data files.
const mergeDeletes = 10

// deletes are the positions that go into one position-delete file, by path of the data file.
type deletes struct {
	of        locate.File // one of the data files: its partition and spec are the delete file's
	positions map[string]*tablefile.Positions
}

// addPositions writes position-delete files: one for each partition that loses rows or, where the table asks for
// granularity by file, one for each data file.
func (w *writer) addPositions(touched []state) error {
	for _, d := range w.grouped(touched) {
		if err := w.addDeletes(d); err != nil {
			return fmt.Errorf("write position-delete file: %w", err)
		}
	}
	return nil
}

func (w *writer) grouped(touched []state) []deletes {
	var out []deletes
	at := map[string]int{}
	for _, t := range touched {
		group := t.PartitionKey()
		if w.target.Layout.deletesByFile {
			group = t.FilePath()
		}
		i, ok := at[group]
		if !ok {
			i = len(out)
			at[group] = i
			out = append(out, deletes{t.File, map[string]*tablefile.Positions{}})
		}
		if w.target.Layout.deletesByFile {
			out[i].positions[t.FilePath()] = t.positions
			w.Removed = append(w.Removed, w.outcome.Found.Deleted[t.FilePath()].Own...)
			continue
		}
		out[i].positions[t.FilePath()] = t.kills
	}
	return out
}

// merge adds what the partition's position-delete files hold, once there are many of them, and takes them out of the table.
// Positions of data files that are gone are left out.
func (w *writer) merge(d deletes) error {
	var old []locate.File
	for _, f := range w.live.Deletes {
		if !f.IsVector() && !w.gone[f.FilePath()] && f.PartitionKey() == d.of.PartitionKey() {
			old = append(old, f)
		}
	}
	if len(old) < mergeDeletes {
		return nil
	}
	sequence := map[string]int64{}
	for _, f := range w.live.Data {
		if !w.gone[f.FilePath()] {
			sequence[f.FilePath()] = f.Sequence
		}
	}
	for _, f := range old {
		byFile, err := w.live.Positions(w.ctx, w.store, f)
		if err != nil {
			return err
		}
		for path, p := range byFile {
			if s, live := sequence[path]; !live || f.Sequence < s {
				continue
			}
			if d.positions[path] == nil {
				d.positions[path] = tablefile.NewPositions()
			}
			d.positions[path].Or(p)
		}
	}
	w.Removed = append(w.Removed, old...)
	return nil
}

var (
	fieldFilePath = arrow.Field{Name: "file_path", Type: arrow.BinaryTypes.String, Metadata: rows.IDMetadata(locate.FieldFilePath)}
	fieldPos      = arrow.Field{Name: "pos", Type: arrow.PrimitiveTypes.Int64, Metadata: rows.IDMetadata(locate.FieldPos)}
)

// addDeletes writes one position-delete file, its rows ordered by file and position (Iceberg spec, position delete
// files).
func (w *writer) addDeletes(d deletes) error {
	if !w.target.Layout.deletesByFile {
		if err := w.merge(d); err != nil {
			return err
		}
	}
	files := array.NewStringBuilder(memory.DefaultAllocator)
	positions := array.NewInt64Builder(memory.DefaultAllocator)
	paths := slices.Sorted(maps.Keys(d.positions))
	for _, path := range paths {
		for pos := range d.positions[path].Positions() {
			files.Append(path)
			positions.Append(int64(pos))
		}
	}
	spec, err := w.target.spec(d.of.SpecID())
	if err != nil {
		return err
	}
	partition := d.of.Partition()
	f := fileOf([]arrow.Field{fieldFilePath, fieldPos}, []arrow.Array{files.NewArray(), positions.NewArray()})
	f.path = w.name(folder(spec, w.target.Schema, partition), "-deletes.parquet")
	f.modes = map[int]mode{locate.FieldFilePath: full, locate.FieldPos: full} // whole paths: readers match delete files to data files by them
	b, err := w.build(f, spec, iceberg.EntryContentPosDeletes, partition)
	if err != nil {
		return err
	}
	if len(paths) == 1 {
		b.ReferencedDataFile(paths[0])
	}
	w.Deletes = append(w.Deletes, b.Build())
	return nil
}
