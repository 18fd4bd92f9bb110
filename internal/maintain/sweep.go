package maintain

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/apache/iceberg-go/table"
	"github.com/frazil/frazil/internal/warehouse"
)

// window is how many old files are looked at together: what a sweep holds in memory is bounded by it.
const window = 200_000

// sweep finds orphans: files below the table's location which nothing references, and which are so old that no commit under way
// has them. It deletes them where the policy says so.
//
// Files are listed before the table is read: what is referenced by the time of the reading stays. Only the folders data and
// metadata are looked at, which are the table's own; where there are another table's metadata in them, nothing is touched.
func (k *keeper) sweep(ctx context.Context, l *limits, t *tally) error {
	if k.policy.Orphans == nil {
		return nil
	}
	if !k.garbage() {
		k.log.LogAttrs(ctx, slog.LevelInfo, "no orphan is looked for: the table says gc.enabled=false")
		return nil
	}
	s := &sweeping{keeper: k, limits: l, tally: t, before: k.Now().Add(-k.policy.Orphans.OlderThan)}
	for _, folder := range k.folders() {
		err := s.folder(ctx, folder)
		if errors.Is(err, warehouse.ErrCannot) {
			k.log.LogAttrs(ctx, slog.LevelInfo, "no orphan is removed", slog.String("reason", err.Error()))
			return nil
		}
		if err != nil {
			return fmt.Errorf("orphans in %s: %w", folder, err)
		}
	}
	return nil
}

// location is the table's own, as addresses are listed, with a slash at its end.
func (k *keeper) location() string {
	return strings.TrimRight(warehouse.Plain(k.head.Location()), "/") + "/"
}

func (k *keeper) folders() []string {
	return []string{k.location() + "data/", k.location() + "metadata/"}
}

// sweeping is one sweep.
type sweeping struct {
	*keeper
	limits *limits
	tally  *tally
	before time.Time // younger files may be those of a commit under way
	alone  bool      // it is proven that no other table lies in the folders
}

func (s *sweeping) folder(ctx context.Context, folder string) error {
	old := map[string]int64{} // sizes by address
	for o, err := range s.store.List(ctx, folder) {
		if err != nil {
			return err
		}
		if o.Modified.Before(s.before) {
			old[o.Path] = o.Size
		}
		if len(old) >= window {
			if err := s.judge(ctx, old); err != nil {
				return err
			}
			if s.limits.over(time.Now()) {
				return nil
			}
			clear(old)
		}
	}
	return s.judge(ctx, old)
}

// judge deletes those of some files that nothing references.
func (s *sweeping) judge(ctx context.Context, old map[string]int64) error {
	if len(old) == 0 {
		return nil
	}
	now, err := s.store.Load(ctx, s.name.Path)
	if err != nil {
		return err
	}
	if now.Metadata().TableUUID() != s.head.Metadata().TableUUID() {
		return errors.New("the table was dropped and made again")
	}
	if err := s.referenced(ctx, now, func(path string) { delete(old, path) }); err != nil {
		return err
	}
	delete(old, s.location()+"metadata/version-hint.text") // of catalogs that are a folder
	if err := s.ours(ctx, now, old); err != nil {
		return err
	}
	paths := map[string]bool{}
	for path, size := range old {
		paths[path] = true
		s.tally.orphans++
		s.tally.orphanBytes += size
	}
	if !s.policy.Orphans.Delete {
		return nil
	}
	n, err := s.remove(ctx, s.limits, paths)
	s.tally.deleted += n
	return err
}

// ours is an error if orphans may be another table's. Of metadata each says whose it is: the table's own, which its log names no
// more, are most of what there is to delete. Before anything else goes, all of the folders are looked through.
func (s *sweeping) ours(ctx context.Context, now *table.Table, orphans map[string]int64) (err error) {
	metadata := map[string]int64{}
	for path, size := range orphans {
		if isMetadata(path) {
			metadata[path] = size
		}
	}
	all := !s.alone && len(metadata) < len(orphans)
	if all {
		if metadata, err = s.unlogged(ctx, now); err != nil {
			return err
		}
	}
	if err := s.strangers(ctx, now.Metadata(), metadata); err != nil {
		return err
	}
	s.alone = s.alone || all
	return nil
}
