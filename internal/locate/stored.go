package locate

import (
	"context"
	"errors"

	"github.com/frazil/frazil/internal/rows"
	"github.com/frazil/frazil/internal/tablefile"
)

// fingerprints names those of a file's rows: as rows of a schema: the table's changes.
func fingerprints(schema *rows.Schema, path string) tablefile.Memo {
	return tablefile.Memo{What: "fingerprints " + schema.Form, Path: path}
}

// Keep notes the fingerprints of the rows of files that were written, by path.
func (c *Cache) Keep(schema *rows.Schema, files map[string][]rows.Fingerprint) {
	for path, list := range files {
		c.memory.Keep(fingerprints(schema, path), list, int64(16*len(list)))
	}
}

// What may be read of a file to know the values of its rows: the pages of a few, and all where a part of them is asked for. More
// than that costs more than it saves, to write rows again that are as they were. The first numbers tell without a request what is
// not worth one, of files whose pages have an index; the others what the rows cost in truth, of any file.
const (
	rowsPerPage  = 2000 // about
	fewRows      = 4096
	readPerRow   = 8
	filesPerCall = 8
	fewPages     = 2 << 20 // bytes, dictionaries among them
)

// worth is what may be paid for n rows of a file.
func worth(f File, n int) tablefile.Cost {
	return fewPages + tablefile.Cost(n*readPerRow)*tablefile.Cost(f.FileSizeBytes()/max(f.Count(), 1))
}

// costly names what was too little to pay for rows of a file.
func costly(path string) tablefile.Memo { return tablefile.Memo{What: "costly", Path: path} }

// Stored returns the fingerprints of rows that were found, by their index in Hits: of those asked for that this process wrote
// or that are cheap to read. A row that cannot be read has none.
func (s *Snapshot) Stored(ctx context.Context, store tablefile.Store, schema *rows.Schema, found *Found, ask []int) map[int]rows.Fingerprint {
	out := map[int]rows.Fingerprint{}
	files := 0
	for len(ask) > 0 {
		path, n := found.Hits[ask[0]].File, 0
		for n < len(ask) && found.Hits[ask[n]].File == path {
			n++
		}
		inside := ask[:n]
		ask = ask[n:]
		if known, ok := tablefile.Recall[[]rows.Fingerprint](s.memory, fingerprints(schema, path)); ok {
			for _, i := range inside {
				out[i] = known[found.Hits[i].Pos]
			}
			continue
		}
		f := found.Files[path]
		tried, _ := tablefile.Recall[tablefile.Cost](s.memory, costly(path))
		if files < filesPerCall && min(f.Count(), int64(n*rowsPerPage)) <= int64(fewRows+n*readPerRow) && tried < worth(f, n) {
			files++
			s.readStored(ctx, store, schema, f, found, inside, out)
		}
	}
	return out
}

func (s *Snapshot) readStored(ctx context.Context, store tablefile.Store, schema *rows.Schema, f File, found *Found, inside []int, out map[int]rows.Fingerprint) {
	positions := make([]int64, len(inside))
	indices := make([]int, len(inside))
	for n, i := range inside {
		positions[n], indices[n] = found.Hits[i].Pos, n
	}
	most := worth(f, len(inside))
	columns, err := tablefile.Cells(ctx, store, f.File, schema.Arrow().Fields(), positions, s.Table.Defaults, most)
	if errors.Is(err, tablefile.ErrCostly) {
		s.memory.Keep(costly(f.FilePath()), most, 8)
	}
	if err != nil {
		return // the row is written, whatever it was
	}
	for n, fingerprint := range rows.Fingerprints(columns, indices) {
		out[inside[n]] = fingerprint
	}
}
