package maintain

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/frazil/frazil/internal/warehouse"
)

// window is how many old files are looked at together: what a sweep holds in memory is bounded by it.
const window = 200_000

// sweep finds orphans: files below the table's location which nothing references, and which are so old that no commit under way
// has them. It deletes them where the policy says so.
//
// Files are listed before the table is read: what is referenced by the time of the reading stays. Only the folders data and
// metadata are looked at, which are the table's own; if there is a table in there, nothing is touched.
func (k *keeper) sweep(ctx context.Context, l *limits, t *tally) error {
	if k.policy.Orphans == nil {
		return nil
	}
	if !k.garbage() {
		k.log.LogAttrs(ctx, slog.LevelInfo, "no orphan is looked for: the table says gc.enabled=false")
		return nil
	}
	location := strings.TrimRight(warehouse.Plain(k.head.Location()), "/")
	for _, folder := range []string{"data", "metadata"} {
		err := k.sweepFolder(ctx, l, t, location+"/"+folder+"/")
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

func (k *keeper) sweepFolder(ctx context.Context, l *limits, t *tally, folder string) error {
	before := k.Now().Add(-k.policy.Orphans.OlderThan)
	old := map[string]int64{} // sizes by address
	own := strings.HasSuffix(folder, "/metadata/")
	for o, err := range k.store.List(ctx, folder) {
		switch {
		case err != nil:
			return err
		case strings.HasSuffix(o.Path, ".metadata.json") && (!own || strings.Contains(strings.TrimPrefix(o.Path, folder), "/")):
			return errors.New("there is another table's metadata in it")
		case o.Modified.Before(before):
			old[o.Path] = o.Size
		}
		if len(old) >= window {
			if err := k.judge(ctx, l, t, old); err != nil {
				return err
			}
			if l.over(time.Now()) {
				return nil
			}
			clear(old)
		}
	}
	return k.judge(ctx, l, t, old)
}

// judge deletes those of some files that nothing references.
func (k *keeper) judge(ctx context.Context, l *limits, t *tally, old map[string]int64) error {
	if len(old) == 0 {
		return nil
	}
	now, err := k.store.Load(ctx, k.name.Path)
	if err != nil {
		return err
	}
	if now.Metadata().TableUUID() != k.head.Metadata().TableUUID() {
		return errors.New("the table was dropped and made again")
	}
	if err := k.referenced(ctx, now, func(path string) { delete(old, path) }); err != nil {
		return err
	}
	delete(old, strings.TrimRight(warehouse.Plain(now.Location()), "/")+"/metadata/version-hint.text") // of catalogs that are a folder
	paths := map[string]bool{}
	for path, size := range old {
		paths[path] = true
		t.orphans++
		t.orphanBytes += size
	}
	if !k.policy.Orphans.Delete {
		return nil
	}
	n, err := k.remove(ctx, l, paths)
	t.deleted += n
	return err
}
