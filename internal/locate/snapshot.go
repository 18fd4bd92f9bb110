// Package locate finds the live rows of a plan's keys in one snapshot of a table: which data file, at which
// position.
//
// It reads the key columns of the data files whose bounds may hold one of the keys, and leaves out rows that a
// position delete has removed already. It keeps nothing between calls. Rows that are dead by an equality
// delete of another writer may still be found: to delete them again is harmless.
package locate

import (
	"bytes"
	"context"
	"fmt"

	"github.com/apache/iceberg-go"
	"golang.org/x/sync/errgroup"
)

// Store reads the table's files. Both methods may be called concurrently.
type Store interface {
	// Read returns a whole object.
	Read(ctx context.Context, path string) ([]byte, error)
	// ReadRange returns n bytes from offset off, or an error; never less.
	ReadRange(ctx context.Context, path string, off, n int64) ([]byte, error)
}

// requests is how many reads one call keeps in flight, which also bounds the bytes it holds.
const requests = 8

// Snapshot is the live files of one snapshot.
type Snapshot struct {
	Manifests []iceberg.ManifestFile
	Data      []File
	Deletes   []File // position deletes
	Equality  []File // equality deletes, of other writers
}

// File is a live file with its data sequence number, which says what deletes apply to what data.
type File struct {
	iceberg.DataFile
	Sequence int64
}

// Open reads a snapshot's manifests. An empty manifest list is the snapshot of a table without any.
func Open(ctx context.Context, store Store, manifestList string) (*Snapshot, error) {
	s := &Snapshot{}
	if manifestList == "" {
		return s, nil
	}
	list, err := store.Read(ctx, manifestList)
	if err != nil {
		return nil, fmt.Errorf("read manifest list %s: %w", manifestList, err)
	}
	if s.Manifests, err = iceberg.ReadManifestList(bytes.NewReader(list)); err != nil {
		return nil, fmt.Errorf("read manifest list %s: %w", manifestList, err)
	}
	entries := make([][]iceberg.ManifestEntry, len(s.Manifests))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(requests)
	for i, m := range s.Manifests {
		g.Go(func() (err error) {
			text, err := store.Read(ctx, m.FilePath())
			if err == nil {
				entries[i], err = iceberg.ReadManifest(m, bytes.NewReader(text), true)
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
	for _, list := range entries {
		for _, e := range list {
			s.add(File{DataFile: e.DataFile(), Sequence: e.SequenceNum()})
		}
	}
	return s, nil
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
