package maintain

import (
	"context"
	"log/slog"
	"strings"

	"github.com/apache/iceberg-go/table"
	"github.com/frazil/frazil/internal/athena"
	"github.com/frazil/frazil/internal/coerce"
	"github.com/frazil/frazil/internal/commit"
	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/ledger"
	"github.com/frazil/frazil/internal/locate"
	"github.com/frazil/frazil/internal/rows"
	"github.com/frazil/frazil/internal/stage"
	"github.com/frazil/frazil/internal/warehouse"
)

// keeper keeps one table.
type keeper struct {
	*Maintain
	name    config.Table
	key     []string // columns; none: the table's identifier fields
	policy  config.Upkeep
	catalog config.Catalog
	pile    int64 // bytes of rows that may be in memory
	log     *slog.Logger
	store   *warehouse.Warehouse // nil until the catalog has answered
	cache   *locate.Cache
	engine  *athena.Client // nil: none

	// As of the last look.
	head   *table.Table
	live   *locate.Snapshot
	ledger *ledger.Ledger
}

// connect opens the table's catalog, unless this table or another one has. One that does not answer the next run asks again.
func (k *keeper) connect(ctx context.Context) (err error) {
	k.store = k.open[k.name.Catalog]
	if k.store == nil {
		if k.store, err = warehouse.Open(ctx, k.name.Catalog, k.catalog); err == nil {
			k.open[k.name.Catalog] = k.store
		}
	}
	return err
}

// look takes the table's head.
func (k *keeper) look(ctx context.Context) (err error) {
	head, err := k.store.Load(ctx, k.name.Path)
	if err != nil {
		return err
	}
	k.head = head
	if err := commit.Writable(k.head.Metadata()); err != nil {
		return err
	}
	if k.ledger, err = commit.Ledger(k.head); err != nil {
		return err
	}
	defaults, err := coerce.InitialDefaults(k.head.Schema())
	if err != nil {
		return err
	}
	source, err := commit.Source(k.head, defaults)
	if err != nil {
		return err
	}
	k.live, err = k.cache.Open(ctx, k.store, source)
	return err
}

func (k *keeper) base() commit.Base { return commit.Base{Table: k.head, Live: k.live} }

// target is what files are written for, and the schema of their rows. The policy's target size goes before the table's.
func (k *keeper) target() (stage.Target, *rows.Schema, error) {
	schema, err := rows.NewSchema(k.head.Schema(), k.key)
	if err != nil {
		return stage.Target{}, nil, err
	}
	var key []int
	for _, i := range schema.Key {
		key = append(key, schema.Columns[i].FieldID)
	}
	to, err := k.base().Target(key)
	if c := k.policy.Compact; err == nil && c.Target > 0 {
		to.Layout = to.Layout.Sized(c.Target)
	}
	return to, schema, err
}

// garbage reports whether the table lets files be removed that it does not need.
func (k *keeper) garbage() bool {
	return !strings.EqualFold(k.head.Properties()["gc.enabled"], "false")
}

// health is that of the head of the last look.
func (k *keeper) health() (Health, error) {
	layout, err := stage.NewLayout(k.head.Properties(), k.head.Schema(), nil)
	target := layout.TargetSize()
	if c := k.policy.Compact; c != nil && c.Target > 0 {
		target = c.Target
	}
	return Measure(k.live, target), err
}

// Examine is the health of a table as it is now.
func Examine(ctx context.Context, c config.Catalog, t config.Table) (Health, error) {
	w, err := warehouse.Open(ctx, t.Catalog, c)
	if err != nil {
		return Health{}, err
	}
	k := &keeper{name: t, store: w, cache: locate.NewCache(nil)}
	if err := k.look(ctx); err != nil {
		return Health{}, err
	}
	return k.health()
}
