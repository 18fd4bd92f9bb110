// Package ingest takes one delivery of records to one snapshot per table. It is the only package that knows the
// whole flow:
//
//	records -> route -> ledger -> envelope -> coerce -> merge -> locate -> resolve -> stage -> commit
//
// A delivery is all or nothing per table (P4). What becomes of a record that cannot be applied the configuration says
// (failures.go): it fails the delivery before anything is committed, goes to the dead letters, or cuts its partition
// off. When one table fails the delivery fails; tables that have committed skip its records by their ledger when it
// comes again.
package ingest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/frazil/frazil/internal/cluster"
	"github.com/frazil/frazil/internal/commit"
	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/kafka"
	"github.com/frazil/frazil/internal/kafkaevent"
	"github.com/frazil/frazil/internal/lease"
	"github.com/frazil/frazil/internal/locate"
	"github.com/frazil/frazil/internal/report"
	"github.com/frazil/frazil/internal/route"
	"github.com/frazil/frazil/internal/tablefile"
	"github.com/frazil/frazil/internal/warehouse"
)

// Catalog is a catalog with the store of its tables.
type Catalog interface {
	commit.Catalog
	commit.Store
	tablefile.Store
}

var _ Catalog = (*warehouse.Warehouse)(nil)

// Pipeline applies deliveries to the tables of a configuration. It may be called concurrently, and then each table takes one
// delivery at a time: it takes one commit after the other anyway.
type Pipeline struct {
	config *config.Config
	routes *route.Routes
	log    *slog.Logger
	now    func() time.Time
	memory *tablefile.Memory // for all tables

	applying atomic.Int32 // deliveries

	mu       sync.Mutex // of what follows; a target has its own
	catalogs map[string]Catalog
	topic    *cluster.Letters   // of dead letters; nil until it is needed
	tables   map[string]*target // by name
}

// New makes the pipeline of a configuration. It opens no connection: catalogs are opened when the first record for
// one arrives.
func New(c *config.Config, log *slog.Logger) (*Pipeline, error) {
	routes, err := route.New(c.Routes)
	if err != nil {
		return nil, err
	}
	p := &Pipeline{
		config: c, routes: routes, log: log, now: time.Now, memory: tablefile.NewMemory(c.Memory.Budget()),
		catalogs: map[string]Catalog{}, tables: map[string]*target{},
	}
	return p, nil
}

// EventError says that an event is no Kafka event, is cut off, or comes from a cluster that is not configured.
type EventError struct{ err error }

func (e *EventError) Error() string { return fmt.Sprintf("read event: %v", e.err) }

// Event applies the event of a Kafka event source mapping, as Deliver does its records. The payload is overwritten.
func (p *Pipeline) Event(ctx context.Context, payload []byte) error {
	event, err := kafkaevent.Scan(payload)
	if err != nil {
		return &EventError{err}
	}
	source, err := p.config.SourceOf(event.ARN, event.Brokers)
	if err != nil {
		return &EventError{err}
	}
	event.SetSource(source)
	return p.Deliver(ctx, event.Records)
}

// Deliver applies a delivery. The records have to be in partition and offset order; they are borrowed until it
// returns. Who reads Kafka itself says what was read for them: what is not there then was not left out. After an error the
// delivery may be repeated, whole or in other slices, by anyone. A *CutOff says that it was applied but for some partitions
// from a record on.
func (p *Pipeline) Deliver(ctx context.Context, records []kafka.Record, read ...kafka.Range) error {
	d, err := p.Take(ctx, records, read...)
	if err != nil {
		return err
	}
	return d.Apply(ctx)
}

// Delivery is one that was taken, and waits to be applied.
type Delivery struct {
	pipeline *Pipeline
	shares   []*share
}

// Take is the first half of Deliver, and Apply the other. It decodes the records for the tables as the process saw them last,
// and may do so while the delivery before this one is applied. It writes nothing, and refuses only topics without a route: what
// else there is to say needs the tables as they are when the turn of the delivery comes.
func (p *Pipeline) Take(ctx context.Context, records []kafka.Record, read ...kafka.Range) (*Delivery, error) {
	shares, err := p.assign(ctx, records)
	if err != nil {
		return nil, err
	}
	ranges := map[kafka.Partition]kafka.Range{}
	for _, r := range read {
		ranges[*r.Part] = r
	}
	var wg sync.WaitGroup
	cores := p.cores(len(shares))
	for _, s := range shares {
		s.read, s.cores = maps.Clone(ranges), cores
		wg.Go(s.decodeAhead)
	}
	wg.Wait()
	return &Delivery{p, shares}, nil
}

// Claim has the commits of the delivery say that its reader holds the lease of c, or end it with the last one that the reader
// means to make. Where another one holds it by then, the delivery fails with a *lease.Taken.
func (d *Delivery) Claim(c *lease.Claim, last bool) {
	for _, s := range d.shares {
		s.claim, s.last = c, last
	}
}

// Apply applies the delivery, once.
func (d *Delivery) Apply(ctx context.Context) error {
	for _, s := range d.shares { // in one order for all: two deliveries do not wait for each other
		s.mu.Lock()
		defer s.mu.Unlock()
	}
	cores := d.pipeline.cores(len(d.shares))
	for _, s := range d.shares {
		s.cores = cores
	}
	d.pipeline.applying.Add(1)
	defer d.pipeline.applying.Add(-1)
	err := d.apply(ctx)
	if err != nil {
		for _, s := range d.shares {
			s.head = nil // whatever went wrong, the next delivery looks again
		}
	}
	return err
}

func (d *Delivery) apply(ctx context.Context) error {
	if err := each(ctx, d.shares, (*share).prepare); err != nil {
		return err
	}
	if err := d.pipeline.judge(d.shares); err != nil {
		for _, s := range d.shares {
			if len(s.rejected) > 0 {
				s.fail(ctx, err)
			}
		}
		return err
	}
	if err := each(ctx, d.shares, (*share).commit); err != nil {
		return err
	}
	return cutOff(ctx, d.shares)
}

// each runs a step for all tables at once. A table that fails stops no other.
func each(ctx context.Context, shares []*share, step func(*share, context.Context) error) error {
	errs := make([]error, len(shares))
	var wg sync.WaitGroup
	for i, s := range shares {
		wg.Go(func() {
			if err := step(s, ctx); err != nil {
				s.fail(ctx, err)
				errs[i] = fmt.Errorf("table %s: %w", s.name, err)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// assign gives every record to its table. The shares are in the order of the tables' names.
func (p *Pipeline) assign(ctx context.Context, records []kafka.Record) ([]*share, error) {
	var shares []*share
	var part *kafka.Partition
	var current *share
	index := 0
	for i := range records {
		if r := &records[i]; r.Part != part {
			part = r.Part
			var err error
			if index, err = p.routes.Of(part.Source, part.Topic); err != nil {
				return nil, fmt.Errorf("%s: %w", r.Ref(), err)
			}
			t, err := p.target(ctx, p.config.Routes[index].Table)
			if err != nil {
				return nil, err
			}
			at := slices.IndexFunc(shares, func(s *share) bool { return s.target == t })
			if at < 0 {
				at, shares = len(shares), append(shares, &share{target: t})
			}
			if i == 0 { // mostly there is one table
				shares[0].records = make([]routed, 0, len(records))
			}
			current = shares[at]
		}
		current.records = append(current.records, routed{&records[i], index})
	}
	slices.SortFunc(shares, func(a, b *share) int { return strings.Compare(a.name.String(), b.name.String()) })
	return shares, nil
}

func (p *Pipeline) target(ctx context.Context, name config.Table) (*target, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := name.String()
	if t := p.tables[key]; t != nil {
		return t, nil
	}
	cat, err := p.catalog(ctx, name.Catalog)
	if err != nil {
		return nil, err
	}
	letters, err := p.sink(ctx, cat)
	if err != nil {
		return nil, err
	}
	t := &target{
		name: name, catalog: cat, letters: letters, config: p.config, log: p.log.With(report.Dimension, key), now: p.now,
		cache:  locate.NewCache(p.memory),
		newest: map[kafka.Partition]int64{}, passed: map[kafka.Partition]int64{},
	}
	p.tables[key] = t
	return t, nil
}

func (p *Pipeline) catalog(ctx context.Context, name string) (Catalog, error) {
	if c := p.catalogs[name]; c != nil {
		return c, nil
	}
	configured, ok := p.config.Catalogs[name]
	if !ok {
		return nil, fmt.Errorf("there is no catalog %s", name)
	}
	var letters []string
	if p.config.DeadLetter.To != "" && p.config.DeadLetter.Topic() == "" {
		letters = append(letters, p.config.DeadLetter.To)
	}
	c, err := warehouse.Open(ctx, name, configured, letters...)
	if err != nil {
		return nil, err
	}
	p.catalogs[name] = remembering{c, p.memory}
	return p.catalogs[name], nil
}
