package scenario

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/frazil/frazil/internal/local/lake"
	"github.com/frazil/frazil/internal/maintain"
)

// alter does what the table's owner does.
func (w *world) alter(ctx context.Context, a *Alter) error {
	var steps []func() error
	step := func(wanted bool, do func() error) {
		if wanted {
			steps = append(steps, do)
		}
	}
	step(a.FormatVersion != 0, func() error { return w.lake.Upgrade(ctx, a.Table, a.FormatVersion) })
	step(a.Properties != nil, func() error { return w.lake.SetProperties(ctx, a.Table, a.Properties) })
	step(a.Schema != nil, func() error { return w.lake.Alter(ctx, a.Table, columns(a.Schema)) })
	step(a.PartitionBy != nil, func() error { return w.lake.Repartition(ctx, a.Table, *a.PartitionBy) })
	step(a.SortBy != nil, func() error { return w.lake.Resort(ctx, a.Table, *a.SortBy) })
	if len(steps) == 0 {
		return fmt.Errorf("alter: table %s: nothing to change", a.Table)
	}
	for _, do := range steps {
		if err := do(); err != nil {
			return fmt.Errorf("alter: %w", err)
		}
	}
	return nil
}

// foreign does what another writer does.
func (w *world) foreign(ctx context.Context, f *Foreign) (err error) {
	switch f.Action {
	case "append":
		err = w.withRows(ctx, f, func(rows []lake.Row) error { return w.lake.Append(ctx, f.Table, rows) })
	case "delete":
		err = w.withRows(ctx, f, func(rows []lake.Row) error { return w.lake.Delete(ctx, f.Table, rows, lake.Encoding(f.How)) })
	case "compact":
		err = w.lake.Compact(ctx, f.Table)
	case "expire":
		err = w.lake.Expire(ctx, f.Table, max(f.Keep, 1))
	case "rollback":
		err = w.lake.Rollback(ctx, f.Table, max(f.Steps, 1))
	default:
		return fmt.Errorf("foreign: the action %s does not exist (yet)", f.Action)
	}
	if err != nil {
		return fmt.Errorf("foreign: %s: %w", f.Action, err)
	}
	return nil
}

// withRows does something with the rows of an entry in canonical form.
func (w *world) withRows(ctx context.Context, f *Foreign, do func([]lake.Row) error) error {
	columns, err := w.lake.Columns(ctx, f.Table)
	if err != nil {
		return err
	}
	rows, err := literals(columns, f.Rows)
	if err != nil {
		return err
	}
	return do(rows)
}

// maintain runs maintain once.
func (w *world) maintain(ctx context.Context, e *Maintain) error {
	m, err := maintain.New(ctx, w.config, slog.New(slog.DiscardHandler))
	if err != nil {
		return fmt.Errorf("maintain: %w", err)
	}
	m.Now = func() time.Time { return time.Now().Add(e.Later) }
	return m.Run(ctx, nil)
}
