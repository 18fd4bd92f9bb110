package maintain

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/catalog/rest"
	"github.com/apache/iceberg-go/table"
	"github.com/frazil/frazil/internal/commit"
	"github.com/frazil/frazil/internal/stage"
	"github.com/frazil/frazil/internal/warehouse"
)

// expire removes snapshots that are old enough, and the files that they alone have once the table is proven to be without them.
//
// What becomes of a table's ledger after a roll-back its snapshots tell (P1). So one that has not been noted yet is noted before
// they go; and every snapshot of frazil's that stays has its own copy, where that is small; else a roll-back to it is an error later.
func (k *keeper) expire(ctx context.Context, l *limits, t *tally) error {
	if k.policy.Expire == nil {
		return nil
	}
	if !k.garbage() {
		k.log.LogAttrs(ctx, slog.LevelInfo, "no snapshot expires: the table says gc.enabled=false")
		return nil
	}
	for n := range maxAttempts {
		began := time.Now()
		done, err := k.expireOnce(ctx, l, t)
		if done || err != nil {
			return err
		}
		t.conflicts++
		if err := commit.Pause(ctx, n+1, time.Since(began)); err != nil {
			return err
		}
	}
	k.log.LogAttrs(ctx, slog.LevelInfo, "snapshots stay for the next run: others commit all the time")
	return nil
}

// expireOnce is done unless others came first.
func (k *keeper) expireOnce(ctx context.Context, l *limits, t *tally) (done bool, err error) {
	if err := k.noteRollback(ctx); err != nil {
		return false, fmt.Errorf("note what a roll-back took: %w", err)
	}
	before := k.head.Metadata()
	ids, refs := retention(before, *k.policy.Expire, k.Now())
	if len(ids)+len(refs) == 0 {
		return true, nil
	}
	_, failed := k.store.Commit(ctx, k.head, assertRefs(before), removals(ids, refs))
	after, err := k.store.Load(ctx, k.name.Path)
	if err != nil {
		return false, errors.Join(failed, err)
	}
	switch { // the table tells whether they are gone, whatever the answer was
	case after.Metadata().TableUUID() != before.TableUUID():
		return false, errors.New("the table was dropped and made again")
	case slices.ContainsFunc(ids, func(id int64) bool { return after.Metadata().SnapshotByID(id) != nil }):
		if errors.Is(failed, rest.ErrCommitFailed) {
			return false, nil
		}
		return false, failed
	}
	t.snapshots += len(ids)
	n, err := k.removeUnreachable(ctx, l, before, after, ids)
	t.deleted += n
	if errors.Is(err, warehouse.ErrCannot) {
		k.log.LogAttrs(ctx, slog.LevelInfo, "files of expired snapshots stay", slog.String("reason", err.Error()))
		return true, nil
	}
	return err == nil, err
}

// assertRefs requires all branches and tags to be as they were.
func assertRefs(meta table.Metadata) []table.Requirement {
	out := []table.Requirement{table.AssertTableUUID(meta.TableUUID())}
	for name, ref := range meta.Refs() {
		out = append(out, table.AssertRefSnapshotID(name, &ref.SnapshotID))
	}
	return out
}

func removals(ids []int64, refs []string) (out []table.Update) {
	for _, name := range refs {
		out = append(out, table.NewRemoveSnapshotRefUpdate(name))
	}
	if len(ids) > 0 {
		out = append(out, table.NewRemoveSnapshotsUpdate(ids, false))
	}
	return out
}

// noteRollback writes down what a roll-back has done to the ledger, while the snapshots are there that prove it.
func (k *keeper) noteRollback(ctx context.Context) error {
	for n := range maxAttempts {
		began := time.Now()
		if err := k.look(ctx); err != nil {
			return err
		}
		move := k.ledger.Stay()
		if move.Empty() {
			return nil
		}
		a, err := commit.New(k.base(), &stage.Files{Replaces: true}, move, began)
		if err != nil {
			return err
		}
		if _, err = a.Publish(ctx, k.store, k.store); err != nil && !errors.Is(err, commit.ErrRejected) && !errors.Is(err, commit.ErrUnknown) {
			return err
		}
		if err != nil {
			if err := commit.Pause(ctx, n+1, time.Since(began)); err != nil {
				return err
			}
		}
	}
	return fmt.Errorf("gave up after %d attempts", maxAttempts)
}

// removeUnreachable deletes the files that expired snapshots had and no snapshot has that the table has now. Files that are not below
// the table's location stay: those that were taken over from another table may still be the other's.
func (k *keeper) removeUnreachable(ctx context.Context, l *limits, before table.Metadata, after *table.Table, ids []int64) (int, error) {
	var gone []table.Snapshot
	paths := map[string]bool{}
	for _, id := range ids {
		s := before.SnapshotByID(id)
		gone = append(gone, *s)
		paths[warehouse.Plain(s.ManifestList)] = true
	}
	for path, of := range statistics(before) {
		if slices.Contains(ids, of) {
			paths[path] = true
		}
	}
	theirs, err := k.manifests(ctx, gone)
	if err != nil {
		return 0, err
	}
	stay, err := k.manifests(ctx, after.Metadata().Snapshots())
	if err != nil {
		return 0, err
	}
	maps.DeleteFunc(theirs, func(path string, _ iceberg.ManifestFile) bool { _, stays := stay[path]; return stays })
	for path := range theirs {
		paths[warehouse.Plain(path)] = true
	}
	if err := k.entries(ctx, theirs, func(path string) { paths[path] = true }); err != nil {
		return 0, err
	}
	// The table's files last: whatever was found above, what it needs stays.
	if err := k.referenced(ctx, after, func(path string) { delete(paths, path) }); err != nil {
		return 0, err
	}
	found := len(paths)
	maps.DeleteFunc(paths, func(path string, _ bool) bool { return !strings.HasPrefix(path, k.location()) })
	if others := found - len(paths); others > 0 {
		k.log.LogAttrs(ctx, slog.LevelInfo, "files of expired snapshots stay that are not below the table's location", slog.Int("files", others))
	}
	return k.remove(ctx, l, paths)
}
