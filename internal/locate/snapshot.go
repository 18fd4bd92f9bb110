// Package locate finds the live rows of a plan's keys in one snapshot of a table: which data file, at which
// position, with which row id.
//
// It reads the key columns of the data files whose bounds may hold one of the keys, and leaves out rows that are dead
// by a position delete, a deletion vector or an equality delete, whoever wrote it: a dead row is never found again. It
// keeps nothing between calls.
package locate

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/apache/iceberg-go"
	"github.com/frazil/frazil/internal/rows"
	"github.com/frazil/frazil/internal/tablefile"
	"golang.org/x/sync/errgroup"
)

// Table is what has to be known of a table to read a snapshot of it.
type Table struct {
	ManifestList string            // of the snapshot; empty: the table has none
	Schemas      []*iceberg.Schema // of today first, then those of the past: deletes may speak of columns that are gone
	Specs        []iceberg.PartitionSpec
	Defaults     tablefile.Defaults // of today's fields
	Names        tablefile.Names    // for files without field ids
}

// Snapshot is the live files of one snapshot.
type Snapshot struct {
	Manifests []Manifest
	Data      []File
	Deletes   []File // position deletes and deletion vectors
	Equality  []File // equality deletes

	Table Table // that it is of
}

// Manifest is a manifest with its live entries.
type Manifest struct {
	iceberg.ManifestFile
	Entries []iceberg.ManifestEntry
}

// File is a live file, and where the snapshot lists it.
type File struct {
	tablefile.File
	Manifest int // index into Manifests
}

// Of is the snapshot that has the given live files.
func Of(t Table, files []File) *Snapshot {
	s := &Snapshot{Table: t}
	for _, f := range files {
		switch f.ContentType() {
		case iceberg.EntryContentData:
			s.Data = append(s.Data, f)
		case iceberg.EntryContentPosDeletes:
			s.Deletes = append(s.Deletes, f)
		case iceberg.EntryContentEqDeletes:
			s.Equality = append(s.Equality, f)
		}
	}
	return s
}

// Open reads a snapshot's manifests.
func Open(ctx context.Context, store tablefile.Store, t Table) (*Snapshot, error) {
	if t.ManifestList == "" {
		return Of(t, nil), nil
	}
	text, err := store.Read(ctx, t.ManifestList)
	if err != nil {
		return nil, fmt.Errorf("read manifest list %s: %w", t.ManifestList, err)
	}
	list, err := iceberg.ReadManifestList(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("read manifest list %s: %w", t.ManifestList, err)
	}
	manifests := make([]Manifest, len(list))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(tablefile.Requests)
	for i, m := range list {
		g.Go(func() (err error) {
			manifests[i].ManifestFile = m
			text, err := store.Read(ctx, m.FilePath())
			if err == nil {
				manifests[i].Entries, err = iceberg.ReadManifest(m, bytes.NewReader(text), true)
			}
			if err != nil {
				return fmt.Errorf("read manifest %s: %w", m.FilePath(), err)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	var files []File
	for i, m := range manifests {
		for _, e := range m.Entries {
			files = append(files, File{tablefile.File{DataFile: e.DataFile(), Sequence: e.SequenceNum(), Names: t.Names}, i})
		}
	}
	s := Of(t, files)
	s.Manifests = manifests
	return s, nil
}

// field is a column by its id as deletes and keys need it, also of one that was dropped since.
func (s *Snapshot) field(id int) (tablefile.Field, error) {
	for _, schema := range s.Table.Schemas {
		f, ok := schema.FindFieldByID(id)
		if !ok {
			continue
		}
		out := tablefile.Field{ID: id, Type: f.Type}
		if value, ok := s.Table.Defaults[id]; ok {
			out.Missing = rows.AppendCell([]byte{}, f.Type, value)
		}
		return out, nil
	}
	return tablefile.Field{}, fmt.Errorf("no schema of the table has a column of id %d", id)
}

// global reports whether a delete file speaks of all partitions: it is written by a spec without any.
func (s *Snapshot) global(f File) bool {
	i := slices.IndexFunc(s.Table.Specs, func(spec iceberg.PartitionSpec) bool { return spec.ID() == int(f.SpecID()) })
	return i < 0 || s.Table.Specs[i].IsUnpartitioned()
}

// PartitionKey tells partitions apart, also those of different specs. A value whose column was widened since stays the
// same.
func (f File) PartitionKey() string {
	partition := f.Partition()
	key := fmt.Append(nil, f.SpecID())
	for _, id := range slices.Sorted(maps.Keys(partition)) {
		switch v := partition[id].(type) {
		case nil:
		case string: // in quotes, or a text could look like another value, or like two
			key = fmt.Appendf(key, " %d=%q", id, v)
		case float32:
			key = fmt.Append(key, " ", id, "=", float64(v))
		default:
			key = fmt.Append(key, " ", id, "=", v)
		}
	}
	return string(key)
}
