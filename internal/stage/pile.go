package stage

import (
	"context"
	"slices"
	"sort"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/compute"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/frazil/frazil/internal/locate"
	"github.com/frazil/frazil/internal/resolve"
	"github.com/frazil/frazil/internal/tablefile"
)

// pile is the rows to write: some of those of its parts. Columns of files that are written again are there one at a time.
type pile struct {
	parts   []part
	rows    int64 // of all parts
	picks   []pick
	lineage bool // some row has an id or a sequence number to keep
}

// part is rows that lie in the same arrays: those of the batch, those that partial ones come to, or those of a file.
type part struct {
	first, rows int64 // the index of its first row in the pile, and how many there are
	bytes       int64 // about, of its columns
	// column is a column's rows from one on to another, at least; first is the first that is there.
	column func(i int, from, to int64) (rows arrow.Array, first int64, err error)
	differ func(i int) bool // whether most values of a column are different ones, as far as is known
}

// pick is a row of a pile. Its id and the sequence number of its last change are locate.NoID where the file's own
// count.
type pick struct {
	index       int64
	id, updated int64
}

// newPile begins with the rows of an outcome: those of its batch first, then its patches.
func newPile(o *resolve.Outcome) *pile {
	p := &pile{picks: make([]pick, 0, len(o.Write))}
	p.hold(o.Batch.Columns())
	for _, r := range o.Write {
		if p.lineage = p.lineage || r.ID != locate.NoID; r.Patch == 0 {
			p.picks = append(p.picks, pick{int64(r.Index), r.ID, locate.NoID})
		}
	}
	if len(p.picks) == len(o.Write) {
		return p
	}
	for _, r := range o.Write {
		if r.Patch > 0 {
			p.picks = append(p.picks, pick{p.rows + int64(r.Patch) - 1, r.ID, locate.NoID})
		}
	}
	return p
}

// hold adds a part whose columns are there.
func (p *pile) hold(columns []arrow.Array) {
	n := int64(columns[0].Len())
	var bytes int64
	for _, c := range columns {
		bytes += bufferSize(c.Data())
	}
	p.parts = append(p.parts, part{
		p.rows, n, bytes, func(i int, _, _ int64) (arrow.Array, int64, error) { return columns[i], 0, nil }, func(i int) bool { return mostDiffer(columns[i]) },
	})
	p.rows += n
}

// add puts the rows of a file that are not dead on the pile. The file's columns are read when they are written.
func (p *pile) add(f locate.File, r *tablefile.FileRows, column func(i int, from, to int64) (arrow.Array, int64, error), dead func(pos int64) bool) {
	base := p.rows
	p.parts = append(p.parts, part{base, f.Count(), r.Bytes(), column, func(i int) bool { return !r.Dictionary(i) }})
	p.rows += f.Count()
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

// stored is the value of a lineage column where the file has one, else what is inherited.
func stored(column *array.Int64, pos, inherited int64) int64 {
	if column != nil && column.IsValid(int(pos)) {
		return column.Value(int(pos))
	}
	return inherited
}

// whole is a column of all parts, one after the other.
func (p *pile) whole(i int) (arrow.Array, error) {
	columns := make([]arrow.Array, len(p.parts))
	for n, part := range p.parts {
		var err error
		if columns[n], _, err = part.column(i, 0, part.rows); err != nil {
			return nil, err
		}
	}
	if len(columns) == 1 {
		return columns[0], nil
	}
	return array.Concatenate(columns, memory.DefaultAllocator)
}

// join makes one part of all, whose rows may then be picked in any order.
func (p *pile) join(columns int) error {
	if len(p.parts) == 1 {
		return nil
	}
	joined := make([]arrow.Array, columns)
	for i := range joined {
		var err error
		if joined[i], err = p.whole(i); err != nil {
			return err
		}
	}
	p.parts, p.rows = nil, 0
	p.hold(joined)
	return nil
}

// run is rows of one part that are picked, in one go.
type run struct {
	part
	from, to int64   // the picks
	indices  []int64 // of the rows in the part; nil: all of them in their order
}

// runs divides picks, which are in the order of the parts, by these.
func (p *pile) runs(picks []pick) (out []run) {
	for from := 0; from < len(picks); {
		n := sort.Search(len(p.parts), func(n int) bool { return p.parts[n].first > picks[from].index }) - 1
		r := run{part: p.parts[n], from: int64(from)}
		to, inOrder := from, true
		for ; to < len(picks) && picks[to].index >= r.first && picks[to].index < r.first+r.rows; to++ {
			inOrder = inOrder && picks[to].index-r.first == int64(to-from)
		}
		if r.to = int64(to); !inOrder || int64(to-from) < r.rows {
			r.indices = make([]int64, 0, to-from)
			for _, pick := range picks[from:to] {
				r.indices = append(r.indices, pick.index-r.first)
			}
		}
		out, from = append(out, r), to
	}
	return out
}

// atOnce is how many rows are taken at once: an array of all of them would be there twice while it grows.
const atOnce = 16_384

// take takes some of the picks out of a column. Never as a slice of it: that of a list has the values of all rows.
func (r run) take(ctx context.Context, i int, from, to int64) ([]arrow.Array, error) {
	from, to = from-r.from, to-r.from
	firstRow, lastRow := from, to-1
	if r.indices != nil {
		firstRow, lastRow = slices.Min(r.indices[from:to]), slices.Max(r.indices[from:to])
	}
	column, first, err := r.column(i, firstRow, lastRow+1)
	if err != nil || r.indices == nil && int64(column.Len()) == to-from {
		return []arrow.Array{column}, err
	}
	var out []arrow.Array
	for some := range slices.Chunk(r.behind(first, from, to), atOnce) {
		taken, err := compute.TakeArray(ctx, column, array.NewInt64Data(array.NewData(arrow.PrimitiveTypes.Int64, len(some),
			[]*memory.Buffer{nil, memory.NewBufferBytes(arrow.Int64Traits.CastToBytes(some))}, nil, 0, 0)))
		if err != nil {
			return nil, err
		}
		out = append(out, taken)
	}
	return out, nil
}

// behind is where the rows of some picks are in an array that begins with a row of the part.
func (r run) behind(first, from, to int64) []int64 {
	if r.indices != nil && first == 0 {
		return r.indices[from:to]
	}
	out := make([]int64, to-from)
	for n := range out {
		if out[n] = from + int64(n) - first; r.indices != nil {
			out[n] = r.indices[from+int64(n)] - first
		}
	}
	return out
}
