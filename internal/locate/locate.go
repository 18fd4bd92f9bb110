package locate

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/frazil/frazil/internal/rows"
	"github.com/frazil/frazil/internal/tablefile"
	"golang.org/x/sync/errgroup"
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
func Find(ctx context.Context, store tablefile.Store, s *Snapshot, schema *rows.Schema, keys *rows.Keys) (*Found, error) {
	out := &Found{Files: map[string]File{}}
	if keys.Len() == 0 {
		return out, nil
	}
	p := prober{store: store, keys: keys}
	for _, c := range schema.Key {
		f, err := s.field(schema.Columns[c].FieldID)
		if err != nil {
			return nil, err
		}
		p.fields = append(p.fields, f)
	}
	found, err := p.all(ctx, s.Data)
	if err != nil {
		return nil, err
	}
	var files []File
	for i, hits := range found {
		if len(hits) > 0 {
			files = append(files, s.Data[i])
			out.Files[s.Data[i].FilePath()] = s.Data[i]
		}
	}
	if out.Deleted, err = s.Deletions(ctx, store, files); err != nil {
		return nil, err
	}
	for _, h := range slices.Concat(found...) {
		if !out.Deleted[h.File].Has(h.Pos) {
			out.Hits = append(out.Hits, h)
		}
	}
	slices.SortFunc(out.Hits, func(a, b Hit) int { return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Pos, b.Pos)) })
	return out, nil
}

// prober looks for keys in data files.
type prober struct {
	store  tablefile.Store
	keys   *rows.Keys
	fields []tablefile.Field // of the key
}

// all returns the rows of each file that hold one of the keys, dead ones too.
func (p *prober) all(ctx context.Context, files []File) ([][]Hit, error) {
	found := make([][]Hit, len(files))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(tablefile.Requests)
	for i, f := range files {
		g.Go(func() error {
			hold, err := p.mayHold(f)
			if err == nil && hold {
				found[i], err = p.probe(ctx, f)
			}
			return err
		})
	}
	return found, g.Wait()
}

// mayHold reports whether the file's bounds leave room for one of the keys.
func (p *prober) mayHold(f File) (bool, error) {
	lower, upper := make([][]byte, len(p.fields)), make([][]byte, len(p.fields))
	for i, fd := range p.fields {
		var err error
		if lower[i], err = bound(fd, f.LowerBoundValues()); err == nil {
			upper[i], err = bound(fd, f.UpperBoundValues())
		}
		if err != nil {
			return false, fmt.Errorf("%s: %w", f.FilePath(), err)
		}
	}
	for k := range rows.Key(p.keys.Len()) {
		inside := true
		for i := range p.fields {
			part := p.keys.Part(k, i)
			inside = inside && (lower[i] == nil || bytes.Compare(lower[i], part) <= 0) && (upper[i] == nil || bytes.Compare(part, upper[i]) <= 0)
		}
		if inside {
			return true, nil
		}
	}
	return false, nil
}

// bound is the field's bound in the form of a key's part, nil when the file has none.
func bound(f tablefile.Field, bounds map[int][]byte) ([]byte, error) {
	b, ok := bounds[f.ID]
	if !ok {
		return nil, nil
	}
	return rows.BoundPart(f.Type, b)
}

// probe reads the file's key columns and returns the rows that hold one of the keys.
func (p *prober) probe(ctx context.Context, f File) ([]Hit, error) {
	var hits []Hit
	var key rows.Parts
	n := len(p.fields)
	fields, id := p.fields, func(int64, tablefile.Part) int64 { return NoID }
	if first := f.FirstRowID(); first != nil {
		fields = append(slices.Clone(fields), lineage)
		id = func(pos int64, stored tablefile.Part) int64 {
			if stored != nil {
				return rows.ReadInt(stored)
			}
			return *first + pos
		}
	}
	err := tablefile.Scan(ctx, p.store, f.File, fields, func(pos int64, row []tablefile.Part) {
		key.Reset()
		for _, part := range row[:n] {
			if part == nil {
				return // a null equals no key
			}
			key.Bytes(part)
		}
		if k, ok := p.keys.Find(&key); ok {
			hits = append(hits, Hit{Key: k, File: f.FilePath(), Pos: pos, ID: id(pos, row[len(row)-1])})
		}
	})
	return hits, err
}
