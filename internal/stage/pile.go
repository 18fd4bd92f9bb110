package stage

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/frazil/frazil/internal/locate"
	"github.com/frazil/frazil/internal/resolve"
	"github.com/frazil/frazil/internal/tablefile"
)

// pile is the rows to write: some of those in the columns. They come from the batch, and from files that are written
// again.
type pile struct {
	columns []arrow.Array
	picks   []pick
	lineage bool // some row has an id or a sequence number to keep
}

// pick is a row of a pile. Its id and the sequence number of its last change are locate.NoID where the file's own
// count.
type pick struct {
	index       int64
	id, updated int64
}

func newPile(o *resolve.Outcome) *pile {
	p := &pile{columns: o.Batch.Columns()}
	for _, r := range o.Write {
		p.lineage = p.lineage || r.ID != locate.NoID
		p.picks = append(p.picks, pick{int64(r.Index), r.ID, locate.NoID})
	}
	return p
}

// add puts the rows of a file that are not dead on the pile.
func (p *pile) add(f locate.File, r *tablefile.FileRows, dead func(pos int64) bool) error {
	base := int64(p.columns[0].Len())
	for i := range p.columns {
		var err error
		if p.columns[i], err = array.Concatenate([]arrow.Array{p.columns[i], r.Columns[i]}, memory.DefaultAllocator); err != nil {
			return fmt.Errorf("carry rows of %s: %w", f.FilePath(), err)
		}
	}
	first := f.FirstRowID()
	for pos := range f.Count() {
		if dead(pos) {
			continue
		}
		next := pick{base + pos, locate.NoID, locate.NoID}
		if first != nil {
			next.id, next.updated = stored(r.RowIDs, pos, *first+pos), stored(r.LastUpdated, pos, f.Sequence)
			p.lineage = true
		}
		p.picks = append(p.picks, next)
	}
	return nil
}

// stored is the value of a lineage column where the file has one, else what is inherited.
func stored(column *array.Int64, pos, inherited int64) int64 {
	if column != nil && column.IsValid(int(pos)) {
		return column.Value(int(pos))
	}
	return inherited
}
