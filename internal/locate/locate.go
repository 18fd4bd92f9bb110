package locate

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/apache/iceberg-go"
	"github.com/frazil/frazil/internal/rows"
	"github.com/frazil/frazil/internal/tablefile"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"
)

// Hit is the live row of a key.
type Hit struct {
	Key  rows.Key
	File string // path of the data file
	Pos  int64  // the row's number in the file, from 0
	ID   int64  // its row id, NoID where it has none (format version 3)
}

// NoID is the id of a row without one: its table has no row lineage, or had none when the row was written.
const NoID = -1

// Found is the live rows of keys, and what is known of the files that have them.
type Found struct {
	Hits    []Hit // ordered by file and position, as position-delete files want it
	Files   map[string]File
	Deleted map[string]Deleted // by path of the data file
}

// Find returns the live rows of all keys. A key may have several hits when another writer left duplicates.
func (s *Snapshot) Find(ctx context.Context, store tablefile.Store, schema *rows.Schema, keys *rows.Keys) (*Found, error) {
	out := &Found{Files: map[string]File{}}
	if keys.Len() == 0 {
		return out, nil
	}
	l, err := s.lookup(store, schema, keys)
	if err != nil {
		return nil, err
	}
	found, err := l.all(ctx, s.Data)
	if err != nil {
		return nil, err
	}
	var files []File
	n := 0
	for i, hits := range found {
		if n += len(hits); len(hits) > 0 {
			files = append(files, s.Data[i])
			out.Files[s.Data[i].FilePath()] = s.Data[i]
		}
	}
	if out.Deleted, err = s.Deletions(ctx, store, files); err != nil {
		return nil, err
	}
	out.Hits = make([]Hit, 0, n)
	for _, i := range byPath(s.Data) {
		deleted := out.Deleted[s.Data[i].FilePath()]
		for _, h := range inOrder(found[i], s.Data[i].Count()) {
			if !deleted.Has(h.Pos) {
				out.Hits = append(out.Hits, h)
			}
		}
	}
	return out, nil
}

// byPath is the order of files by their paths.
func byPath(files []File) []int {
	order := make([]int, len(files))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(files[a].FilePath(), files[b].FilePath()) })
	return order
}

// inOrder puts the hits of a file of so many rows in the order of their positions.
func inOrder(hits []Hit, rows int64) []Hit {
	last := int64(len(hits)) - 1
	return spread(hits, func(h *Hit) int { return int(min(h.Pos*last/max(rows, 1), last)) }, func(a, b Hit) int { return cmp.Compare(a.Pos, b.Pos) })
}

// lookup looks for keys in data files.
type lookup struct {
	store  tablefile.Store
	memory *tablefile.Memory
	since  int64 // what was used after that is part of this lookup, and has to stay in memory
	keys   *rows.Keys
	fields []tablefile.Field // of the key
	ids    *rows.IDs
	kind   string // of index: by the columns of the key
	ranges *ranges
	wanted []wanted
	filter *filter
	placed map[int32][]placement // by spec id
}

// wanted is a key to find.
type wanted struct {
	hash uint64
	id   rows.ID
	key  rows.Key
}

// bitsPerWanted is for a filter that is asked for every row of a file.
const bitsPerWanted = 32

func (s *Snapshot) lookup(store tablefile.Store, schema *rows.Schema, keys *rows.Keys) (*lookup, error) {
	l := &lookup{store: store, memory: s.memory, since: s.memory.Now(), keys: keys, kind: "keys"}
	var types []iceberg.Type
	for _, c := range schema.Key {
		f, err := s.field(schema.Columns[c].FieldID)
		if err != nil {
			return nil, err
		}
		l.fields, types = append(l.fields, f), append(types, f.Type)
		l.kind += fmt.Sprintf(" %d %s", f.ID, f.Type)
	}
	l.ranges = newRanges(keys, len(l.fields))
	l.ids, l.wanted = rows.NewIDs(types...), make([]wanted, 0, keys.Len())
	for k := range rows.Key(keys.Len()) {
		id := l.ids.Of(keys, k)
		l.wanted = append(l.wanted, wanted{hash(id), id, k})
	}
	l.wanted = spread(l.wanted, func(w *wanted) int { return share(w.hash, len(l.wanted)) }, func(a, b wanted) int { return cmp.Compare(a.hash, b.hash) })
	l.filter, l.placed = newFilter(len(l.wanted), bitsPerWanted), l.placements(s.Table.Specs)
	for i := range l.wanted {
		l.filter.add(l.wanted[i].hash)
	}
	return l, nil
}

// all returns the rows of each file that hold one of the keys, dead ones too.
func (l *lookup) all(ctx context.Context, files []File) ([][]Hit, error) {
	found := make([][]Hit, len(files))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(tablefile.Requests)
	inFlight := semaphore.NewWeighted(maxInFlight)
	for i, f := range files {
		g.Go(func() error {
			if l.elsewhere(f) {
				return nil
			}
			hold, err := l.mayHold(f)
			if err != nil || !hold {
				return err
			}
			if x, ok := tablefile.Recall[*index](l.memory, l.memo(f)); ok {
				found[i] = l.ask(x, f)
				return nil
			}
			size := l.fetched(f)
			if err := inFlight.Acquire(ctx, size); err != nil {
				return err
			}
			defer inFlight.Release(size)
			found[i], err = l.read(ctx, f)
			return err
		})
	}
	return found, g.Wait()
}

// maxInFlight is how many bytes of the columns of keys are fetched at a time, about: of one file it may be more.
const maxInFlight = 64 << 20

// fetched is about how many bytes have to be fetched for the keys of a file.
func (l *lookup) fetched(f File) (n int64) {
	for _, field := range l.fields {
		size, ok := f.ColumnSizes()[field.ID]
		if !ok {
			return min(f.FileSizeBytes(), maxInFlight)
		}
		n += size
	}
	return min(n, maxInFlight)
}

func (l *lookup) memo(f File) tablefile.Memo { return tablefile.Memo{What: l.kind, Path: f.FilePath()} }

// read reads the keys of a file, and returns its rows that hold one of those that are looked for. If there is room the keys are
// kept.
func (l *lookup) read(ctx context.Context, f File) (hits []Hit, err error) {
	var x *index
	size := indexBytes(f, l.ids)
	if f.Count() <= maxIndexed && l.memory.Reserve(size, l.since) {
		x = newIndex(f.Count(), l.ids)
	}
	err = tablefile.ScanKeys(ctx, l.store, f.File, l.fields, l.ids, func(keys tablefile.Keys) {
		hits = l.match(hits, f, keys)
		if x != nil {
			x.add(keys)
		}
	})
	switch {
	case x == nil:
	case err != nil:
		l.memory.Release(size)
	default:
		l.memory.Fill(l.memo(f), x, size)
	}
	return hits, err
}

// ask looks the keys up in a file's index.
func (l *lookup) ask(x *index, f File) (hits []Hit) {
	x.table.Do(x.build)
	for i := range l.wanted {
		w := &l.wanted[i]
		if !x.filter.may(w.hash) {
			continue
		}
		first, more := x.find(w.id, w.hash)
		if first < 0 {
			continue
		}
		hits = append(hits, hit(w.key, f, first, x.rowID(first)))
		for _, pos := range more {
			hits = append(hits, hit(w.key, f, int64(pos), x.rowID(int64(pos))))
		}
	}
	return hits
}

// match adds those of some rows that hold one of the keys.
func (l *lookup) match(hits []Hit, f File, keys tablefile.Keys) []Hit {
	for i, id := range keys.IDs {
		h := hash(id)
		if !l.filter.may(h) || keys.Nulls != nil && keys.Nulls[i] {
			continue
		}
		n, _ := slices.BinarySearchFunc(l.wanted, h, func(w wanted, h uint64) int { return cmp.Compare(w.hash, h) })
		for ; n < len(l.wanted) && l.wanted[n].hash == h; n++ {
			if l.wanted[n].id != id {
				continue
			}
			stored := int64(tablefile.NoRowID)
			if keys.RowIDs != nil {
				stored = keys.RowIDs[i]
			}
			hits = append(hits, hit(l.wanted[n].key, f, keys.First+int64(i), stored))
		}
	}
	return hits
}

// hit is a row of a file. It has the id that is stored with it, else its place among those of the file.
func hit(key rows.Key, f File, pos, stored int64) Hit {
	h := Hit{Key: key, File: f.FilePath(), Pos: pos, ID: NoID}
	switch first := f.FirstRowID(); {
	case first == nil:
	case stored != tablefile.NoRowID:
		h.ID = stored
	default:
		h.ID = *first + pos
	}
	return h
}
