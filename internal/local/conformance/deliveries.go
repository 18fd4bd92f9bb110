package conformance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"

	"github.com/frazil/frazil/internal/commit"
	"github.com/frazil/frazil/internal/ingest"
	"github.com/frazil/frazil/internal/kafka"
	"github.com/frazil/frazil/internal/local/catalog"
	"github.com/frazil/frazil/internal/local/stack"
	"golang.org/x/sync/errgroup"
)

// faults are how a commit's request may go wrong.
var faults = []struct {
	name string
	catalog.Fault
}{
	{"refused", catalog.Refuse(http.StatusConflict)},
	{"unavailable", catalog.Refuse(http.StatusServiceUnavailable)},
	{"throttled", catalog.Throttle()},
	{"applied then 504", catalog.ApplyThenStatus(http.StatusGatewayTimeout)},
	{"applied then 500", catalog.ApplyThenStatus(http.StatusInternalServerError)},
	{"applied then reset", catalog.ApplyThenDrop()},
}

// retries are what happens then. Each takes records 1 to 6 to the table, whatever the first delivery came to.
var retries = []struct {
	name string
	do   func(b *bench, name string, same *ingest.Pipeline) error
}{
	{"the same process", func(b *bench, _ string, same *ingest.Pipeline) error { return give(b.ctx, same, 1, 6) }},
	{"a new process", func(b *bench, name string, _ *ingest.Pipeline) error { return give(b.ctx, b.process(name), 1, 6) }},
	{"other slices", func(b *bench, name string, _ *ingest.Pipeline) error {
		return errors.Join(give(b.ctx, b.process(name), 1, 2), give(b.ctx, b.process(name), 3, 6))
	}},
	{"two at once", func(b *bench, name string, same *ingest.Pipeline) error {
		var g errgroup.Group
		g.Go(func() error { return give(b.ctx, same, 1, 6) })
		g.Go(func() error { return give(b.ctx, b.process(name), 1, 4) })
		if err := g.Wait(); err != nil {
			return err
		}
		return give(b.ctx, b.process(name), 1, 6)
	}},
}

// deliveries are the checks of whole deliveries with a fault in the commit, on a table with a snapshot.
func deliveries() (list []check) {
	for i, f := range faults {
		for j, r := range retries {
			version := 2 + (i+j)%2
			list = append(list, check{fmt.Sprintf("commit %s, then %s, version %d", f.name, r.name, version), func(b *bench) error {
				return b.through(version, f.Fault, r.do)
			}})
		}
	}
	return append(list, check{"of two first commits none is lost", (*bench).firstCommits})
}

func (b *bench) through(version int, f catalog.Fault, retry func(*bench, string, *ingest.Pipeline) error) error {
	name, err := b.table(version)
	if err != nil {
		return err
	}
	same := b.process(name)
	if err := give(b.ctx, same, 0, 0); err != nil {
		return err
	}
	b.SetFault(catalog.Once(catalog.OpCommitTable, func() catalog.Fault { return f }))
	defer b.SetFault(nil)
	first := give(b.ctx, same, 1, 4) // it may well succeed
	if err := retry(b, name, same); err != nil {
		return fmt.Errorf("%w; the first delivery: %w", err, first)
	}
	return b.has(name, 6)
}

// firstCommits lets a second writer commit while the first commit of a table is under way.
func (b *bench) firstCommits() error {
	name, err := b.table(2)
	if err != nil {
		return err
	}
	var other error
	b.SetFault(catalog.Once(catalog.OpCommitTable, func() catalog.Fault {
		other = give(b.ctx, b.process(name), 4, 6)
		return catalog.Fault{}
	}))
	defer b.SetFault(nil)
	err = deliver(b.ctx, b.process(name), 1, 0, 3) // of another partition
	if err := errors.Join(err, other); err != nil {
		return err
	}
	return b.has(name, 6)
}

// process is what one process holds, for a table.
func (b *bench) process(name string) *ingest.Pipeline {
	c, err := stack.Configure(b.Config, fmt.Sprintf("routes: [{topics: [t], format: flat, table: \"main:%s\"}]", name))
	if err != nil {
		panic(err) // the configuration is the same for all
	}
	p, err := ingest.New(c, slog.New(slog.NewTextHandler(io.Discard, nil)))
	if err != nil {
		panic(err)
	}
	return p
}

// give delivers records of partition 0.
func give(ctx context.Context, p *ingest.Pipeline, from, to int64) error {
	return deliver(ctx, p, 0, from, to)
}

// deliver gives the records from and to: record i writes the row i.
func deliver(ctx context.Context, p *ingest.Pipeline, partition int32, from, to int64) error {
	part := &kafka.Partition{Source: kafka.MainSource, Topic: "t", Number: partition}
	var records []kafka.Record
	for i := from; i <= to; i++ {
		records = append(records, kafka.Record{Part: part, Offset: i, Time: 1_700_000_000_000 + i, Value: fmt.Appendf(nil, `{"id":%d,"n":%d}`, i, i)})
	}
	return p.Deliver(ctx, records)
}

// has checks that the table has the rows 0 to last and some others, each once, as another reader sees it, and that its
// ledger says so.
func (b *bench) has(name string, last int64, others ...int64) error {
	_, rows, err := b.lake.Rows(b.ctx, name)
	if err != nil {
		return err
	}
	var ids, want []string
	for _, r := range rows {
		ids = append(ids, r["id"])
	}
	for i := range last + 1 {
		want = append(want, fmt.Sprint(i))
	}
	for _, id := range others {
		want = append(want, fmt.Sprint(id))
	}
	slices.Sort(ids)
	slices.Sort(want)
	if !slices.Equal(ids, want) {
		return fmt.Errorf("the table has the rows %v, want %v", ids, want)
	}
	head, err := b.load(name)
	if err != nil {
		return err
	}
	l, err := commit.Ledger(head)
	if err != nil {
		return err
	}
	mark, _ := l.Mark(&kafka.Partition{Source: kafka.MainSource, Topic: "t"})
	return differ("the next offset", mark.Next, last+1)
}
