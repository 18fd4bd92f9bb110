package tablefile

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/parquet/metadata"
)

// window is the fetched ranges of an object, for a reader that believes to have the whole; an io.SectionReader bounds it.
type window struct {
	path  string
	size  int64
	spans []span
	keep  int // spans that drop leaves: the footer, or the whole file
	// Fetches what a reader reads further than was foreseen; nil: that is an error.
	more func(off, n int64) ([]byte, error)
}

type span struct {
	off  int64
	data []byte
}

func (w *window) fetch(ctx context.Context, store Store, off, n int64) ([]byte, error) {
	data, err := store.ReadRange(ctx, w.path, off, n)
	if err != nil {
		return nil, err
	}
	w.spans = append(w.spans, span{off, data})
	return data, nil
}

// extent is a range of bytes in the object.
type extent struct{ from, to int64 }

// fetchChunks makes sure that the chunks of the given columns are there: one request per run of neighbours.
func (w *window) fetchChunks(ctx context.Context, store Store, meta *metadata.FileMetaData, group int, leaves []int) error {
	need, err := chunksOf(meta, group, leaves)
	if err != nil {
		return err
	}
	return w.fetchAll(ctx, store, need)
}

// chunksOf is where columns of a row group are, of those that there are.
func chunksOf(meta *metadata.FileMetaData, group int, leaves []int) (out []extent, err error) {
	for _, leaf := range leaves {
		if leaf == none {
			continue
		}
		chunk, err := chunkOf(meta, group, leaf)
		if err != nil {
			return nil, err
		}
		out = append(out, chunk)
	}
	return out, nil
}

// chunkOf is where a column of a row group is.
func chunkOf(meta *metadata.FileMetaData, group, leaf int) (extent, error) {
	chunk, err := meta.RowGroup(group).ColumnChunk(leaf)
	if err != nil {
		return extent{}, err
	}
	from := chunk.DataPageOffset()
	if chunk.HasDictionaryPage() && chunk.DictionaryPageOffset() > 0 {
		from = min(from, chunk.DictionaryPageOffset())
	}
	return extent{from, from + chunk.TotalCompressedSize()}, nil
}

// fetchAll makes sure that extents are there.
func (w *window) fetchAll(ctx context.Context, store Store, need []extent) error {
	for _, e := range joined(need) {
		if e.from < 0 || e.to < e.from || e.to > w.size {
			return fmt.Errorf("it has %d bytes, but a column of it is said to be at %d to %d", w.size, e.from, e.to)
		}
		if w.find(e.from, e.to-e.from) != nil {
			continue
		}
		if _, err := w.fetch(ctx, store, e.from, e.to-e.from); err != nil {
			return err
		}
	}
	return nil
}

// gap is how many bytes between two extents are rather fetched with them than left out by a request of its own.
const gap = 64 << 10

// joined sorts extents and makes one of those that are near each other.
func joined(extents []extent) []extent {
	extents = slices.Clone(extents)
	slices.SortFunc(extents, func(a, b extent) int { return cmp.Compare(a.from, b.from) })
	var out []extent
	for _, e := range extents {
		if n := len(out); n > 0 && e.from <= out[n-1].to+gap {
			out[n-1].to = max(out[n-1].to, e.to)
			continue
		}
		out = append(out, e)
	}
	return out
}

// drop forgets the column chunks of a row group that is done.
func (w *window) drop() { w.spans = w.spans[:w.keep] }

func (w *window) find(off, n int64) []byte {
	for _, s := range w.spans {
		if off >= s.off && off+n <= s.off+int64(len(s.data)) {
			return s.data[off-s.off:][:n]
		}
	}
	return nil
}

// ReadAt is io.ReaderAt over the fetched ranges.
func (w *window) ReadAt(p []byte, off int64) (int, error) {
	b := w.find(off, int64(len(p)))
	if b == nil && w.more != nil {
		var err error
		if b, err = w.more(off, int64(len(p))); err != nil {
			return 0, err
		}
	}
	if b == nil {
		return 0, fmt.Errorf("bytes %d to %d were not fetched", off, off+int64(len(p)))
	}
	return copy(p, b), nil
}
