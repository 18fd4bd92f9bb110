// Package locate finds the live rows of a plan's keys in one snapshot of a table: which data file, at which
// position, with which row id.
//
// Files never change, so what a Cache has read of them it need not read again: manifests, deletes, and of each data file
// whose bounds may hold one of the keys an index of its key columns. Where there is no room for an index the columns are
// read each time. Rows that are dead by a position delete, a deletion vector or an equality delete, whoever wrote it, are
// left out: a dead row is never found again.
package locate

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"reflect"
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

	memory *tablefile.Memory // nil: nothing is kept
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
		s.add(f)
	}
	return s
}

func (s *Snapshot) add(f File) {
	switch f.ContentType() {
	case iceberg.EntryContentData:
		s.Data = append(s.Data, f)
	case iceberg.EntryContentPosDeletes:
		s.Deletes = append(s.Deletes, f)
	case iceberg.EntryContentEqDeletes:
		s.Equality = append(s.Equality, f)
	}
}

// Cache opens the snapshots of one table, one after the other. It is not safe for concurrent use; the memory may be that of
// other caches too.
type Cache struct {
	memory *tablefile.Memory
	paths  map[string]bool // of all objects of the last snapshot
	names  tablefile.Names // of its table
}

// NewCache makes a cache that keeps what it reads in a memory, which may be nil.
func NewCache(m *tablefile.Memory) *Cache { return &Cache{memory: m} }

// Open reads which files a snapshot has. What is kept of files that it does not have is forgotten, and all if the names of files'
// columns are others now.
func (c *Cache) Open(ctx context.Context, store tablefile.Store, t Table) (*Snapshot, error) {
	s := Of(t, nil)
	s.memory = c.memory
	paths := map[string]bool{}
	if t.ManifestList != "" {
		if err := s.read(ctx, store); err != nil {
			return nil, err
		}
		paths[t.ManifestList] = true
	}
	for _, m := range s.Manifests {
		paths[m.FilePath()] = true
		for _, e := range m.Entries {
			paths[e.DataFile().FilePath()] = true
		}
	}
	renamed := !reflect.DeepEqual(c.names, t.Names) // what files without field ids hold is told by them
	for path := range c.paths {
		if renamed || !paths[path] {
			c.memory.Forget(path)
		}
	}
	c.paths, c.names = paths, t.Names
	return s, nil
}

// read reads the manifests of a snapshot's list.
func (s *Snapshot) read(ctx context.Context, store tablefile.Store) error {
	text, err := store.Read(ctx, s.Table.ManifestList)
	if err != nil {
		return fmt.Errorf("read manifest list %s: %w", s.Table.ManifestList, err)
	}
	list, err := iceberg.ReadManifestList(bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("read manifest list %s: %w", s.Table.ManifestList, err)
	}
	s.Manifests = make([]Manifest, len(list))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(tablefile.Requests)
	for i, m := range list {
		g.Go(func() (err error) {
			s.Manifests[i], err = s.manifest(ctx, store, m)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	identities := identities(s.Table.Specs)
	for i, m := range s.Manifests {
		for _, e := range m.Entries {
			s.add(File{tablefile.File{
				DataFile: e.DataFile(), Sequence: e.SequenceNum(), Names: s.Table.Names, Identities: identities[m.PartitionSpecID()],
			}, i})
		}
	}
	return nil
}

// identities are the fields of each spec that have a column's values as they are, by the ids of the columns.
func identities(specs []iceberg.PartitionSpec) map[int32]map[int]int {
	out := map[int32]map[int]int{}
	for _, spec := range specs {
		for _, f := range spec.Fields() {
			if _, ok := f.Transform.(iceberg.IdentityTransform); !ok || len(f.SourceIDs) > 1 {
				continue
			}
			if id := int32(spec.ID()); out[id] == nil {
				out[id] = map[int]int{}
			}
			out[int32(spec.ID())][f.SourceID()] = f.FieldID
		}
	}
	return out
}

// manifest reads a manifest's live entries. Those of a manifest inherit from its line in the list, which stays the same
// but for the row ids, that a table of format version 2 gets when it becomes one of version 3.
func (s *Snapshot) manifest(ctx context.Context, store tablefile.Store, m iceberg.ManifestFile) (Manifest, error) {
	name := tablefile.Memo{What: "manifest", Path: m.FilePath(), Off: NoID}
	if first := m.FirstRowID(); first != nil {
		name.Off = *first
	}
	if entries, ok := tablefile.Recall[[]iceberg.ManifestEntry](s.memory, name); ok {
		return Manifest{m, entries}, nil
	}
	text, err := store.Read(ctx, m.FilePath())
	if err == nil {
		var entries []iceberg.ManifestEntry
		if entries, err = iceberg.ReadManifest(m, bytes.NewReader(text), true); err == nil {
			s.memory.Keep(name, entries, entriesBytes(entries))
			return Manifest{m, entries}, nil
		}
	}
	return Manifest{}, fmt.Errorf("read manifest %s: %w", m.FilePath(), err)
}

// entriesBytes is about what the entries of a manifest take, with the statistics of their columns.
func entriesBytes(entries []iceberg.ManifestEntry) int64 {
	const alone, column = 1 << 10, 350
	if len(entries) == 0 {
		return alone
	}
	return int64(len(entries)) * int64(alone+column*len(entries[0].DataFile().ValueCounts()))
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

// Global reports whether an equality-delete file speaks of all partitions: it is written by a spec without any.
func (s *Snapshot) Global(f File) bool {
	i := slices.IndexFunc(s.Table.Specs, func(spec iceberg.PartitionSpec) bool { return spec.ID() == int(f.SpecID()) })
	return i < 0 || s.Table.Specs[i].IsUnpartitioned()
}

// PartitionKey tells partitions apart, also those of different specs. A value whose column was widened since stays the
// same.
func (f File) PartitionKey() string { return PartitionKey(f.SpecID(), f.Partition()) }

// PartitionKey is that of a file with the given spec and partition values.
func PartitionKey(spec int32, partition map[int]any) string {
	key := fmt.Append(nil, spec)
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
