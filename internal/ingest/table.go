package ingest

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/apache/iceberg-go/table"
	"github.com/frazil/frazil/internal/commit"
	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/deadletter"
	"github.com/frazil/frazil/internal/kafka"
	"github.com/frazil/frazil/internal/ledger"
	"github.com/frazil/frazil/internal/locate"
)

// target is a table that records go to, with what stays warm between deliveries: its head.
type target struct {
	name    config.Table
	catalog Catalog
	letters deadletter.Sink
	config  *config.Config
	log     *slog.Logger
	now     func() time.Time
	cache   *locate.Cache
	seen    atomic.Pointer[table.Table] // the last head of all, for who does not hold mu
	changes atomic.Int64                // how often others were found to have changed the table

	mu     sync.Mutex     // held for one delivery, or one word of its owner's
	head   *table.Table   // as of the last commit or load; nil: not known
	ledger *ledger.Ledger // of the head
	fresh  bool           // the head was loaded during this delivery
	// Others wrote the table since the last delivery: a head that is kept would be an old one, and an attempt on it in vain.
	crowded bool
	// The newest time of deliveries without effect, in milliseconds since 1970.
	newest map[kafka.Partition]int64
	passed map[kafka.Partition]int64 // the offset behind the last record of the deliveries that are done
	warned bool                      // that keys come from several partitions (rule 10)
}

// load takes the table's current state from the catalog.
func (t *target) load(ctx context.Context) error {
	head, err := t.catalog.Load(ctx, t.name.Path)
	if err != nil {
		return err
	}
	t.fresh = true
	if seen := t.seen.Load(); seen == nil || seen.MetadataLocation() != head.MetadataLocation() {
		t.changes.Add(1)
	}
	return t.use(head)
}

// use makes a table's state the head.
func (t *target) use(head *table.Table) (err error) {
	if err := commit.Writable(head.Metadata()); err != nil {
		return err
	}
	before := t.ledger
	if t.ledger, err = commit.Ledger(head); err != nil {
		return err
	}
	t.rewind(before)
	t.head = head
	t.seen.Store(head)
	return nil
}
