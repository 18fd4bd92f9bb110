package stage

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/frazil/frazil/internal/locate"
	"github.com/frazil/frazil/internal/resolve"
	"github.com/frazil/frazil/internal/rows"
	"github.com/frazil/frazil/internal/tablefile"
)

// pile is the rows to write: some of those in the columns. They come from the batch, and from files that are written
// again.
type pile struct {
	chunks  [][]arrow.Array // the columns of the batch, of the rows that partial ones come to, and of each file; once joined, of all
	rows    int64           // of all chunks
	columns []arrow.Array   // once joined
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
	p := &pile{chunks: [][]arrow.Array{o.Batch.Columns()}, rows: int64(o.Batch.Columns()[0].Len()), picks: make([]pick, 0, len(o.Write))}
	for _, r := range o.Write {
		p.lineage = p.lineage || r.ID != locate.NoID
		index := int64(r.Index)
		if r.Patch > 0 {
			index = p.rows + int64(r.Patch) - 1
		}
		p.picks = append(p.picks, pick{index, r.ID, locate.NoID})
	}
	return p
}

// add puts the rows of a file that are not dead on the pile.
func (p *pile) add(f locate.File, r *tablefile.FileRows, dead func(pos int64) bool) {
	base := p.rows
	p.chunks = append(p.chunks, r.Columns)
	p.rows += f.Count()
	p.picks = slices.Grow(p.picks, int(f.Count()))
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
}

// join completes the pile: its columns are those of all chunks, one after the other. The chunks are let go of.
func (p *pile) join() error {
	if len(p.chunks) > 1 {
		joined := make([]arrow.Array, len(p.chunks[0]))
		for i := range joined {
			var parts []arrow.Array
			for _, chunk := range p.chunks {
				parts = append(parts, chunk[i])
			}
			var err error
			if joined[i], err = array.Concatenate(parts, memory.DefaultAllocator); err != nil {
				return err
			}
		}
		p.chunks = [][]arrow.Array{joined}
	}
	p.columns = p.chunks[0]
	return nil
}

// stored is the value of a lineage column where the file has one, else what is inherited.
func stored(column *array.Int64, pos, inherited int64) int64 {
	if column != nil && column.IsValid(int(pos)) {
		return column.Value(int(pos))
	}
	return inherited
}

func (p *pile) fingerprints(picks []pick) []rows.Fingerprint {
	indices := make([]int, len(picks))
	for i, row := range picks {
		indices[i] = int(row.index)
	}
	return rows.Fingerprints(p.columns, indices)
}
