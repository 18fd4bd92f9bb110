// Package drain reads the topics of a configuration itself, from where the ledgers of their tables stand, and has package
// ingest apply what it reads.
//
// The ledgers alone say what is done: what a killed run has not committed the next one reads
// again, as it does what a roll-back took out of a table. Two runs at once are safe; a lease in the table (package lease) has one
// of them leave it to the other.
//
// It needs the brokers of every source. It makes no topic and no group, and moves no offset in Kafka.
package drain

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/frazil/frazil/internal/cluster"
	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/consume"
	"github.com/frazil/frazil/internal/ingest"
	"github.com/frazil/frazil/internal/kafka"
	"github.com/frazil/frazil/internal/lease"
	"github.com/frazil/frazil/internal/ledger"
	"github.com/frazil/frazil/internal/warehouse"
)

const (
	batchRecords = 500_000
	quiet        = 10 * time.Second // see consume.Limits
	leaseBatches = 3                // what a lease lasts, in commit_intervals: until the next commit, and time to spare
)

// Drain drains topics into their tables. It runs once at a time.
type Drain struct {
	// Follows says that there will be another run soon: others leave to this process what it drains, between its runs too, until End.
	Follows bool

	config   *config.Config
	pipeline *ingest.Pipeline
	account  cluster.Account
	clock    func() time.Time
	lanes    []*lane
}

// lane is the way from topics of one source to one table.
type lane struct {
	*Drain
	table  config.Table
	source string
	topics []string // names and patterns
	log    *slog.Logger
	limits consume.Limits
	claim  *lease.Claim

	// How far the runs have come since the table was last found to be changed by others: until then nothing is read again only
	// because it had no effect, which moves no ledger.
	passed  map[kafka.Partition]ledger.Mark
	changes int64
}

// New makes the lanes of a configuration. It connects to nothing.
func New(ctx context.Context, c *config.Config, log *slog.Logger) (*Drain, error) {
	own := *c
	own.Memory = c.Memory.OfDrain()
	pipeline, err := ingest.New(&own, log)
	if err != nil {
		return nil, err
	}
	account, err := warehouse.OpenAccount(ctx)
	if err != nil {
		return nil, err
	}
	d := &Drain{config: c, pipeline: pipeline, account: account, clock: time.Now}
	var errs []error
	for i, r := range c.Routes {
		if len(c.Sources[r.Source].Brokers) == 0 {
			errs = append(errs, fmt.Errorf("routes[%d]: to drain its topics, sources.%s has to say the brokers", i, r.Source))
		}
		at := slices.IndexFunc(d.lanes, func(l *lane) bool { return l.table.String() == r.Table.String() && l.source == r.Source })
		if at < 0 {
			at = len(d.lanes)
			d.lanes = append(d.lanes, &lane{Drain: d, table: r.Table, source: r.Source, log: log.With("table", r.Table.String(), "source", r.Source)})
		}
		d.lanes[at].topics = append(d.lanes[at].topics, r.Topics...)
	}
	holder := rand.Text()
	for _, l := range d.lanes {
		l.claim = lease.New(l.source, l.topics, holder, leaseBatches*c.CommitInterval(), d.now)
		l.limits = consume.Limits{Bytes: c.BatchBytes(len(d.lanes)), Records: batchRecords, Interval: c.CommitInterval(), Quiet: quiet}
	}
	return d, errors.Join(errs...)
}

// Run applies what Kafka has when it begins. It ends early, without an error, when stop is closed or the time of ctx gets
// short: what it has read by then is applied. A table that fails stops no other; the error is that of all that did.
func (d *Drain) Run(ctx context.Context, stop <-chan struct{}) error {
	errs := make([]error, len(d.lanes))
	var wg sync.WaitGroup
	for i, l := range d.lanes {
		wg.Go(func() {
			if err := l.run(ctx, stop); err != nil {
				errs[i] = fmt.Errorf("drain into %s from source %s: %w", l.table, l.source, err)
				l.log.LogAttrs(ctx, slog.LevelError, "not drained", slog.String("reason", err.Error()))
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// End ends the leases that a process which has followed still has, so that nobody waits for it.
func (d *Drain) End(ctx context.Context) {
	var wg sync.WaitGroup
	for _, l := range d.lanes {
		wg.Go(func() { l.release(ctx) })
	}
	wg.Wait()
}

func (d *Drain) now() time.Time { return d.clock() }

// Interval is the time from one run to the next of a process that follows.
func (d *Drain) Interval() time.Duration { return d.config.CommitInterval() }
