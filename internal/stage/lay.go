package stage

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/compute"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/frazil/frazil/internal/resolve"
	"github.com/frazil/frazil/internal/tablefile"
)

// lay puts the rows that partial ones come to on the pile, behind those of the batch: their cells come from several rows of
// the batch and from rows of the table.
func (w *writer) lay(p *pile) error {
	if len(w.outcome.Patches) == 0 {
		return nil
	}
	olds, err := w.olds()
	if err != nil {
		return err
	}
	batch := w.outcome.Batch.Columns()
	laid := make([]arrow.Array, len(batch))
	for c := range laid {
		if laid[c], err = w.layColumn(c, batch[c], olds); err != nil {
			return err
		}
	}
	p.hold(laid)
	return nil
}

// layColumn is a column of the laid rows.
func (w *writer) layColumn(c int, batch arrow.Array, olds *oldCells) (arrow.Array, error) {
	sources, base := []arrow.Array{batch}, map[string]int{}
	n := batch.Len()
	for _, path := range olds.paths {
		if column := olds.columns[path][c]; column != nil {
			base[path] = n
			sources, n = append(sources, column), n+column.Len()
		}
	}
	all, err := array.Concatenate(sources, memory.DefaultAllocator)
	if err != nil {
		return nil, err
	}
	index := array.NewInt64Builder(memory.DefaultAllocator)
	for _, patch := range w.outcome.Patches {
		row, kept := patch.Cell(w.outcome.Batch, c)
		if kept && patch.Old != nil {
			row = base[patch.Old.File] + olds.at[patch.Old.File][patch.Old.Pos]
		}
		index.Append(int64(row))
	}
	return compute.TakeArray(w.ctx, all, index.NewInt64Array())
}

// oldCells are the cells of the table's rows that are kept.
type oldCells struct {
	paths   []string // of the files
	columns map[string][]arrow.Array
	at      map[string]map[int64]int // by file and position: the index in its columns
}

// olds reads what the patches keep of the table's rows: of each file the columns that one of them needs.
func (w *writer) olds() (*oldCells, error) {
	out := &oldCells{columns: map[string][]arrow.Array{}, at: map[string]map[int64]int{}}
	by := map[string][]resolve.Patch{}
	for _, patch := range w.outcome.Patches {
		if patch.Old == nil {
			continue
		}
		if by[patch.Old.File] == nil {
			out.paths = append(out.paths, patch.Old.File)
		}
		by[patch.Old.File] = append(by[patch.Old.File], patch)
	}
	for _, path := range out.paths {
		if err := w.old(out, path, by[path]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (w *writer) old(out *oldCells, path string, patches []resolve.Patch) error {
	batch := w.outcome.Batch
	var positions []int64
	for _, patch := range patches {
		positions = append(positions, patch.Old.Pos)
	}
	slices.Sort(positions)
	positions = slices.Compact(positions)
	out.at[path] = map[int64]int{}
	for i, pos := range positions {
		out.at[path][pos] = i
	}
	var needed []int
	var fields []arrow.Field
	for c, field := range batch.Schema.Arrow().Fields() {
		if slices.ContainsFunc(patches, func(p resolve.Patch) bool { _, kept := p.Cell(batch, c); return kept }) {
			needed, fields = append(needed, c), append(fields, field)
		}
	}
	read, err := tablefile.Cells(w.ctx, w.store, w.outcome.Found.Files[path].File, fields, positions, w.live.Table.Defaults, tablefile.NoLimit)
	if err != nil {
		return err
	}
	out.columns[path] = make([]arrow.Array, len(batch.Schema.Columns))
	for i, c := range needed {
		out.columns[path][c] = read[i]
	}
	return nil
}
