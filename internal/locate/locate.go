package locate

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/apache/iceberg-go"
	"github.com/frazil/frazil/internal/rows"
	"golang.org/x/sync/errgroup"
)

// Hit is the live row of a key.
type Hit struct {
	Key  rows.Key
	File string // path of the data file
	Pos  int64  // the row's number in the file, from 0
}

// Find returns the live rows of all keys, ordered by file and position: the order that position-delete files
// need. A key may have several hits when another writer left duplicates.
func Find(ctx context.Context, store Store, s *Snapshot, schema *rows.Schema, keys *rows.Keys) ([]Hit, error) {
	if keys.Len() == 0 {
		return nil, nil
	}
	fields := make([]field, len(schema.Key))
	for i, c := range schema.Key {
		fields[i] = field{schema.Columns[c].FieldID, schema.Columns[c].Type}
	}
	found := make([][]Hit, len(s.Data))
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(requests)
	for i, f := range s.Data {
		g.Go(func() error {
			hold, err := mayHold(f, fields, keys)
			if err == nil && hold {
				found[i], err = probe(gctx, store, f, fields, keys)
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	hits := slices.Concat(found...)
	dead, err := deletedPositions(ctx, store, s, hits)
	if err != nil {
		return nil, err
	}
	hits = slices.DeleteFunc(hits, func(h Hit) bool { return dead[place{h.File, h.Pos}] })
	slices.SortFunc(hits, func(a, b Hit) int { return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Pos, b.Pos)) })
	return hits, nil
}

// mayHold reports whether the file's bounds leave room for one of the keys.
func mayHold(f File, fields []field, keys *rows.Keys) (bool, error) {
	lower, upper := make([][]byte, len(fields)), make([][]byte, len(fields))
	for i, fd := range fields {
		var err error
		if lower[i], err = fd.bound(f.LowerBoundValues()); err == nil {
			upper[i], err = fd.bound(f.UpperBoundValues())
		}
		if err != nil {
			return false, fmt.Errorf("%s: %w", f.FilePath(), err)
		}
	}
	for k := range rows.Key(keys.Len()) {
		inside := true
		for i := range fields {
			part := keys.Part(k, i)
			inside = inside && (lower[i] == nil || bytes.Compare(lower[i], part) <= 0) && (upper[i] == nil || bytes.Compare(part, upper[i]) <= 0)
		}
		if inside {
			return true, nil
		}
	}
	return false, nil
}

// bound is the field's bound in the form of a key's part, nil when the file has none.
func (fd field) bound(bounds map[int][]byte) ([]byte, error) {
	b, ok := bounds[fd.id]
	if !ok {
		return nil, nil
	}
	return rows.BoundPart(fd.typ, b)
}

// probe reads the file's key columns and returns the rows that hold one of the keys.
func probe(ctx context.Context, store Store, f File, fields []field, keys *rows.Keys) ([]Hit, error) {
	var hits []Hit
	var key rows.Parts
	err := scan(ctx, store, f, fields, func(pos int64, row []part) {
		key.Reset()
		for _, p := range row {
			if p == nil {
				return // a null equals no key
			}
			key.Bytes(p)
		}
		if k, ok := keys.Find(&key); ok {
			hits = append(hits, Hit{Key: k, File: f.FilePath(), Pos: pos})
		}
	})
	return hits, err
}

// The columns of a position-delete file (Iceberg spec, reserved field ids).
const (
	FieldFilePath = 2147483546
	FieldPos      = 2147483545
)

// place is a row of a data file.
type place struct {
	file string
	pos  int64
}

// deletedPositions are the rows, of the files that have hits, which position deletes have removed. Every delete file
// is read once.
func deletedPositions(ctx context.Context, store Store, s *Snapshot, hits []Hit) (map[place]bool, error) {
	sequence := map[string]int64{} // of the files that have hits
	for _, h := range hits {
		sequence[h.File] = 0
	}
	var hit []File
	for _, f := range s.Data {
		if _, ok := sequence[f.FilePath()]; ok {
			sequence[f.FilePath()] = f.Sequence
			hit = append(hit, f)
		}
	}
	fields := []field{{FieldFilePath, iceberg.PrimitiveTypes.String}, {FieldPos, iceberg.PrimitiveTypes.Int64}}
	dead := map[place]bool{}
	var mu sync.Mutex
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(requests)
	for _, d := range s.Deletes {
		if !slices.ContainsFunc(hit, func(data File) bool { return mayDelete(d, data) }) {
			continue
		}
		g.Go(func() error {
			return scan(ctx, store, d, fields, func(_ int64, row []part) {
				if from, ok := sequence[string(row[0])]; ok && d.Sequence >= from && row[1] != nil {
					mu.Lock()
					dead[place{string(row[0]), rows.ReadInt(row[1])}] = true
					mu.Unlock()
				}
			})
		})
	}
	return dead, g.Wait()
}

func mayDelete(d, data File) bool {
	if d.Sequence < data.Sequence {
		return false
	}
	path := []byte(data.FilePath())
	lower, below := d.LowerBoundValues()[FieldFilePath]
	upper, above := d.UpperBoundValues()[FieldFilePath]
	return (!below || bytes.Compare(lower, path) <= 0) && (!above || bytes.Compare(path, upper) <= 0)
}
