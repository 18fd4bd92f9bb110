package maintain

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"
	"github.com/frazil/frazil/internal/tablefile"
	"github.com/frazil/frazil/internal/warehouse"
	"golang.org/x/sync/errgroup"
)

// manifests reads the manifest lists of snapshots: all of their manifests, by path.
func (k *keeper) manifests(ctx context.Context, snapshots []table.Snapshot) (map[string]iceberg.ManifestFile, error) {
	out := map[string]iceberg.ManifestFile{}
	var mu sync.Mutex
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(tablefile.Requests)
	for _, s := range snapshots {
		g.Go(func() error {
			text, err := k.store.Read(ctx, s.ManifestList)
			if err != nil {
				return fmt.Errorf("read manifest list %s: %w", s.ManifestList, err)
			}
			list, err := iceberg.ReadManifestList(bytes.NewReader(text))
			if err != nil {
				return fmt.Errorf("read manifest list %s: %w", s.ManifestList, err)
			}
			mu.Lock()
			defer mu.Unlock()
			for _, m := range list {
				out[m.FilePath()] = m
			}
			return nil
		})
	}
	return out, g.Wait()
}

// entries calls do with the address of each file that is live in a manifest, never twice at a time. Those that it lists as removed
// are live in the snapshot before, as long as that one stays: who reads changes finds them.
func (k *keeper) entries(ctx context.Context, from map[string]iceberg.ManifestFile, do func(path string)) error {
	var mu sync.Mutex
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(tablefile.Requests)
	for path, m := range from {
		g.Go(func() error {
			text, err := k.store.Read(ctx, path)
			if err != nil {
				return fmt.Errorf("read manifest %s: %w", path, err)
			}
			list, err := iceberg.ReadManifest(m, bytes.NewReader(text), true)
			if err != nil {
				return fmt.Errorf("read manifest %s: %w", path, err)
			}
			mu.Lock()
			defer mu.Unlock()
			for _, e := range list {
				do(warehouse.Plain(e.DataFile().FilePath()))
			}
			return nil
		})
	}
	return g.Wait()
}

// referenced calls do with the address of each file that a table's metadata speak of: of all of its snapshots, and the log of its
// metadata files.
func (k *keeper) referenced(ctx context.Context, t *table.Table, do func(path string)) error {
	meta := t.Metadata()
	do(warehouse.Plain(t.MetadataLocation()))
	for old := range meta.PreviousFiles() {
		do(warehouse.Plain(old.MetadataFile))
	}
	for path := range statistics(meta) {
		do(path)
	}
	for _, s := range meta.Snapshots() {
		do(warehouse.Plain(s.ManifestList))
	}
	manifests, err := k.manifests(ctx, meta.Snapshots())
	if err != nil {
		return err
	}
	for path := range manifests {
		do(warehouse.Plain(path))
	}
	return k.entries(ctx, manifests, do)
}

// statistics are the addresses of the files with statistics, with their snapshots.
func statistics(meta table.Metadata) iter.Seq2[string, int64] {
	return func(yield func(string, int64) bool) {
		for f := range meta.Statistics() {
			if !yield(warehouse.Plain(f.StatisticsPath), f.SnapshotID) {
				return
			}
		}
		for f := range meta.PartitionStatistics() {
			if !yield(warehouse.Plain(f.StatisticsPath), f.SnapshotID) {
				return
			}
		}
	}
}

// remove deletes files, as far as the time goes, and returns how many. A store that deletes nothing is no fault: what lies there
// is for it to clean up.
func (k *keeper) remove(ctx context.Context, l *limits, paths map[string]bool) (int, error) {
	var mu sync.Mutex
	deleted := 0
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(tablefile.Requests)
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		if l.over(time.Now()) || gctx.Err() != nil {
			break
		}
		g.Go(func() error {
			if err := k.store.Delete(gctx, path); err != nil {
				return fmt.Errorf("delete %s: %w", path, err)
			}
			mu.Lock()
			defer mu.Unlock()
			deleted++
			return nil
		})
	}
	err := g.Wait()
	return deleted, err
}
