package soak

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	icetable "github.com/apache/iceberg-go/table"
	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/local/lake"
	"github.com/frazil/frazil/internal/maintain"
)

// others has an owner or another engine do something with a table.
func (r *round) others(ctx context.Context) error {
	t := pick(r, r.tables...)
	do := pick(r, r.append, r.publish, r.compact, r.expire, r.addColumn, r.dropColumn, r.repartition, r.resort, r.upgrade, r.rollBack, r.rollForward, r.remove, r.maintain)
	return do(ctx, t)
}

// meanwhile is others while a table's commit is on its way. It takes nothing away that the commit's delivery may have looked
// at: that is a race between two writers, in which both orders are right.
func (r *round) meanwhile(ctx context.Context, path string) error {
	i := slices.IndexFunc(r.tables, func(t *table) bool { return strings.HasSuffix(path, strings.TrimPrefix(t.spec.Name, "soak.")) })
	do := pick(r, r.append, r.publish, r.compact, r.expire, r.addColumn, r.repartition, r.resort, r.upgrade, r.maintain)
	r.note("  meanwhile:")
	return do(ctx, r.tables[i])
}

func (r *round) did(what string, t *table, err error) error {
	t.touched = true
	r.note("%s %s: %v", what, t.spec.Name, err)
	r.figures.count("others: " + what)
	if err != nil {
		return fmt.Errorf("%s %s: %w", what, t.spec.Name, err)
	}
	return nil
}

// append inserts a row of one of our keys that the table lacks.
func (r *round) append(ctx context.Context, t *table) error {
	return r.insert("append", t, func(rows []lake.Row) error { return r.lake.Append(ctx, t.spec.Name, rows) })
}

// publish is append by way of a branch, where the catalog keeps any.
func (r *round) publish(ctx context.Context, t *table) error {
	if r.profile.Catalog.CurrentOnly {
		return r.append(ctx, t)
	}
	branch := fmt.Sprintf("b%d", r.Uint32())
	return r.insert("publish", t, func(rows []lake.Row) error { return r.lake.Publish(ctx, t.spec.Name, branch, rows) })
}

func (r *round) insert(what string, t *table, how func([]lake.Row) error) error {
	id := pick(r, r.sources...).key(r.Rand)
	if _, there := t.rows[id]; there {
		return nil
	}
	t.rows[id] = values{"n": 5000}
	return r.did(what, t, how([]lake.Row{{"id": strconv.FormatInt(id, 10), "n": "5000"}}))
}

// remove deletes a row, from a table without delete files: iceberg-go brings back rows that they have deleted.
func (r *round) remove(ctx context.Context, t *table) error {
	kinds, err := r.lake.Deletes(ctx, t.spec.Name)
	if err != nil || len(kinds) > 0 || len(t.rows) == 0 {
		return err
	}
	id := slices.Sorted(maps.Keys(t.rows))[r.IntN(len(t.rows))]
	delete(t.rows, id)
	return r.did("delete", t, r.lake.Delete(ctx, t.spec.Name, []lake.Row{{"id": strconv.FormatInt(id, 10)}}, lake.Rewrite))
}

func (r *round) compact(ctx context.Context, t *table) error {
	if len(t.rows) == 0 {
		return nil
	}
	return r.did("compact", t, r.lake.Compact(ctx, t.spec.Name))
}

func (r *round) expire(ctx context.Context, t *table) error {
	if r.rolls || r.profile.KeepsAll || r.profile.Catalog.CurrentOnly {
		return nil
	}
	return r.did("expire", t, r.lake.Expire(ctx, t.spec.Name, 1+r.IntN(3)))
}

// maintain is a run of maintain, in a week if the table may be expired.
func (r *round) maintain(ctx context.Context, t *table) error {
	policy := config.Upkeep{Compact: &config.Compact{Dead: 10, Files: 2}, Bytes: 1 << 30, Time: time.Minute}
	if !r.rolls && !r.profile.KeepsAll && !r.profile.Catalog.CurrentOnly {
		policy.Expire = &config.Expire{Keep: 1 + r.IntN(3)}
	}
	c := *r.config
	c.Maintain = map[string]config.Upkeep{"main:" + t.spec.Name: policy}
	m, err := maintain.New(ctx, &c, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	m.Now = func() time.Time { return time.Now().Add(7 * 24 * time.Hour) }
	return r.did("maintain", t, m.Run(ctx, nil))
}

func (r *round) repartition(ctx context.Context, t *table) error {
	return r.did("repartition", t, r.lake.Repartition(ctx, t.spec.Name, r.partition()))
}

func (r *round) resort(ctx context.Context, t *table) error {
	return r.did("sort anew", t, r.lake.Resort(ctx, t.spec.Name, pick(r, nil, []string{"n desc nulls last"}, []string{"bucket(4, id) asc nulls first"})))
}

func (r *round) upgrade(ctx context.Context, t *table) error {
	if t.spec.Version == 3 || r.profile.Newest < 3 {
		return nil
	}
	t.spec.Version = 3
	return r.did("upgrade", t, r.lake.Upgrade(ctx, t.spec.Name, 3))
}

func (r *round) addColumn(ctx context.Context, t *table) error {
	t.columns = append(t.columns, fmt.Sprintf("c%d", r.Uint32())) // of a name that was not there before
	return r.did("add column", t, r.alter(ctx, t))
}

func (r *round) dropColumn(ctx context.Context, t *table) error {
	if len(t.columns) == 0 {
		return nil
	}
	t.columns = slices.Clone(t.columns[1:])
	return r.did("drop column", t, r.alter(ctx, t))
}

func (r *round) alter(ctx context.Context, t *table) error {
	columns := slices.Clone(t.spec.Columns)
	for _, c := range t.columns {
		columns = append(columns, lake.Column{Name: c, Type: "long"})
	}
	return r.lake.Alter(ctx, t.spec.Name, columns)
}

// rollBack takes the table to a snapshot before. Its oracle goes with it, and what has been applied since is delivered again.
func (r *round) rollBack(ctx context.Context, t *table) error {
	if !r.rolls {
		return nil
	}
	head, err := r.lake.Load(ctx, t.spec.Name)
	if err != nil {
		return err
	}
	ancestors := icetable.AncestorsOf(head.CurrentSnapshot().SnapshotID, head.Metadata().SnapshotByID)
	if len(ancestors) < 3 {
		return nil
	}
	n := 1 + r.IntN(min(3, len(ancestors)-2))
	was, known := t.past[ancestors[n].SnapshotID]
	if !known { // of the two commits of a step only the later is
		return nil
	}
	t.become(was)
	return r.did("roll back", t, r.lake.Rollback(ctx, t.spec.Name, n))
}

// rollForward makes main any snapshot that it ever was, also one that it was taken back from.
func (r *round) rollForward(ctx context.Context, t *table) error {
	if !r.rolls {
		return nil
	}
	id := pick(r, slices.Sorted(maps.Keys(t.past))...)
	t.become(t.past[id])
	return r.did("roll forward", t, r.lake.Return(ctx, t.spec.Name, id))
}

// become takes the oracle back.
func (t *table) become(was state) {
	t.rows = map[int64]values{}
	for id, row := range was.rows {
		t.rows[id] = maps.Clone(row)
	}
	t.next = maps.Clone(was.next)
	t.auditor.RolledBack = true
}
