package lake

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/iceberg-go/table"
)

// Compact rewrites all live rows into new files, as another engine's compaction does, in one snapshot.
func (l *Lake) Compact(ctx context.Context, name string) error {
	_, rows, err := l.Rows(ctx, name)
	if err != nil {
		return err
	}
	return l.write(ctx, name, rows, func(t *table.Table, r array.RecordReader) error {
		_, err := t.Overwrite(ctx, r, nil)
		return err
	})
}

// Expire removes all snapshots but the last ones.
func (l *Lake) Expire(ctx context.Context, name string, keep int) error {
	return l.transact(ctx, name, func(tx *table.Transaction, _ *table.Table) error {
		return tx.ExpireSnapshots(table.WithRetainLast(keep), table.WithOlderThan(0))
	})
}

// Rollback makes main the snapshot that was so many steps before it.
func (l *Lake) Rollback(ctx context.Context, name string, steps int) error {
	return l.transact(ctx, name, func(tx *table.Transaction, t *table.Table) error {
		meta := t.Metadata()
		ancestors := table.AncestorsOf(meta.CurrentSnapshot().SnapshotID, meta.SnapshotByID)
		if steps < 1 || steps >= len(ancestors) {
			return fmt.Errorf("table %s has no snapshot %d steps back", name, steps)
		}
		return tx.RollbackToSnapshot(ancestors[steps].SnapshotID)
	})
}

// Return makes main any snapshot that the table lists, as a roll-forward does.
func (l *Lake) Return(ctx context.Context, name string, snapshot int64) error {
	return l.update(ctx, name, table.NewSetSnapshotRefUpdate(table.MainBranch, snapshot, table.BranchRef, 0, 0, 0))
}

// Publish adds rows on a branch, and then main is fast-forwarded to it, and it goes.
func (l *Lake) Publish(ctx context.Context, name, branch string, rows []Row) error {
	t, err := l.Load(ctx, name)
	if err != nil {
		return err
	}
	if err := l.update(ctx, name, table.NewSetSnapshotRefUpdate(branch, t.CurrentSnapshot().SnapshotID, table.BranchRef, 0, 0, 0)); err != nil {
		return err
	}
	err = l.write(ctx, name, rows, func(t *table.Table, r array.RecordReader) error {
		tx := t.NewTransactionOnBranch(branch)
		if err := tx.Append(ctx, r, nil); err != nil {
			return err
		}
		_, err := tx.Commit(ctx)
		return err
	})
	if err != nil {
		return err
	}
	if t, err = l.Load(ctx, name); err != nil {
		return err
	}
	head := t.SnapshotByName(branch).SnapshotID
	return errors.Join(l.Return(ctx, name, head), l.update(ctx, name, table.NewRemoveSnapshotRefUpdate(branch)))
}

func (l *Lake) update(ctx context.Context, name string, updates ...table.Update) error {
	_, _, err := l.catalog.CommitTable(ctx, Ident(name), nil, updates)
	return err
}

// SetProperties sets table properties.
func (l *Lake) SetProperties(ctx context.Context, name string, properties map[string]string) error {
	return l.transact(ctx, name, func(tx *table.Transaction, _ *table.Table) error { return tx.SetProperties(properties) })
}

// Alter gives a table the given columns: those that it has not are added, required only where they have a default, those
// that it alone has are dropped, and types are widened; so at every depth.
func (l *Lake) Alter(ctx context.Context, name string, columns []Column) error {
	want, err := Spec{Name: name, Columns: columns}.schema()
	if err != nil {
		return err
	}
	return l.transact(ctx, name, func(tx *table.Transaction, t *table.Table) error {
		u := tx.UpdateSchema(true, false)
		evolve(u, nil, t.Schema().Fields(), want.Fields())
		return u.Commit()
	})
}

func (l *Lake) transact(ctx context.Context, name string, change func(*table.Transaction, *table.Table) error) error {
	t, err := l.Load(ctx, name)
	if err != nil {
		return err
	}
	tx := t.NewTransaction()
	if err := change(tx, t); err != nil {
		return err
	}
	_, err = tx.Commit(ctx)
	return err
}
