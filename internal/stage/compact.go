package stage

import (
	"context"
	"fmt"
	"math"

	"github.com/apache/iceberg-go"
	"github.com/frazil/frazil/internal/locate"
	"github.com/frazil/frazil/internal/resolve"
	"github.com/frazil/frazil/internal/rows"
	"github.com/frazil/frazil/internal/tablefile"
)

// Compacted is the live rows of some data files, written again.
type Compacted struct {
	From    []locate.File             // what they were in
	Deleted map[string]locate.Deleted // what the deletes said of those, by path
	Data    []iceberg.DataFile        // what they are in; nothing where no row was alive
	Objects []Object
	// Sequence is the sequence number that the rows keep, 0 for that of the commit. With that of the snapshot which they were read
	// from, equality deletes that came since speak of them as they did before.
	Sequence int64
}

// Compact writes the live rows of data files again, into files of the table's current spec, sort order and target size. On
// format version 3 rows keep their ids and their last changes (P6). That another writer changes the table meanwhile is for the
// caller to find out, by what Deleted says.
func Compact(ctx context.Context, store tablefile.Store, live *locate.Snapshot, from []locate.File, schema *rows.Schema, t Target) (*Compacted, error) {
	deleted, err := live.Deletions(ctx, store, from)
	if err != nil {
		return nil, err
	}
	w := newWriter(ctx, store, live, &resolve.Outcome{Batch: rows.NewBatch(schema), Found: &locate.Found{}}, t)
	p := newPile(w.outcome)
	var states []*state
	for _, f := range from {
		states = append(states, &state{File: f, fate: carried, must: true})
	}
	if err := w.put(p, states, deleted); err != nil {
		return nil, err
	}
	if err := w.addRows(p); err != nil {
		return nil, fmt.Errorf("write data file: %w", err)
	}
	return &Compacted{From: from, Deleted: deleted, Data: w.Data, Objects: w.Objects}, nil
}

// Replace is what putting compacted rows in the place of those that they come from changes about a table, with the delete files
// that speak of no row any more. Their objects are taken to be uploaded.
func Replace(ctx context.Context, store tablefile.Store, live *locate.Snapshot, parts []*Compacted) (*Files, error) {
	r := &replacement{live: live, left: map[string]int64{}, gone: map[string]bool{}, oldest: map[string]int64{}, first: math.MaxInt64}
	out := &Files{Replaces: true, Sequences: map[string]int64{}}
	for _, part := range parts {
		for _, f := range part.From {
			r.gone[f.FilePath()] = true
		}
		for _, f := range part.Data {
			out.Data = append(out.Data, f)
			if part.Sequence > 0 {
				out.Sequences[f.FilePath()] = part.Sequence
				r.stays(f, part.Sequence)
			} else {
				r.stays(f, math.MaxInt64)
			}
		}
	}
	touched := map[string]bool{} // partitions
	for _, f := range live.Data {
		if r.gone[f.FilePath()] {
			out.Removed = append(out.Removed, f)
			touched[f.PartitionKey()] = true
		} else {
			r.stays(f, f.Sequence)
		}
	}
	deletes, err := r.useless(ctx, store, touched)
	out.Removed = append(out.Removed, deletes...)
	return out, err
}

// replacement finds the delete files that have no use any more.
type replacement struct {
	live   *locate.Snapshot
	gone   map[string]bool  // paths of the data files that go
	left   map[string]int64 // the sequence numbers of those that stay or come
	oldest map[string]int64 // the lowest of them, by partition
	first  int64            // of all
}

func (r *replacement) stays(f iceberg.DataFile, sequence int64) {
	r.left[f.FilePath()] = sequence
	r.first = min(r.first, sequence)
	key := locate.PartitionKey(f.SpecID(), f.Partition())
	if s, ok := r.oldest[key]; !ok || sequence < s {
		r.oldest[key] = sequence
	}
}

func (r *replacement) useless(ctx context.Context, store tablefile.Store, touched map[string]bool) (out []locate.File, err error) {
	for _, d := range r.live.Deletes {
		var speaks bool
		switch of := d.ReferencedDataFile(); {
		case of != nil:
			_, speaks = r.left[*of]
		case !touched[d.PartitionKey()]:
			speaks = true // it is not asked, or may be of a file of another partition than its own
		default:
			if speaks, err = r.speaks(ctx, store, d); err != nil {
				return nil, err
			}
		}
		if !speaks {
			out = append(out, d)
		}
	}
	for _, e := range r.live.Equality {
		oldest, any := r.oldest[e.PartitionKey()]
		if r.live.Global(e) {
			oldest, any = r.first, true
		}
		if !any || oldest >= e.Sequence {
			out = append(out, e)
		}
	}
	return out, nil
}

// speaks reports whether a position-delete file takes rows out of a data file that stays.
func (r *replacement) speaks(ctx context.Context, store tablefile.Store, d locate.File) (bool, error) {
	byFile, err := r.live.Positions(ctx, store, d)
	if err != nil {
		return false, err
	}
	for path := range byFile {
		if s, stays := r.left[path]; stays && s <= d.Sequence {
			return true, nil
		}
	}
	return false, nil
}
