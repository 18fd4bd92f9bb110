package verify

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/apache/iceberg-go/table"
	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/consume"
	"github.com/frazil/frazil/internal/ingest"
	"github.com/frazil/frazil/internal/kafka"
	"github.com/frazil/frazil/internal/ledger"
	"github.com/frazil/frazil/internal/local/lake"
	"github.com/frazil/frazil/internal/local/owner"
	"github.com/frazil/frazil/internal/local/stack"
	"github.com/frazil/frazil/internal/warehouse"
)

var limits = consume.Limits{Bytes: 64 << 20, Records: 200_000, Interval: time.Minute, Quiet: 10 * time.Second}

// replay applies what a table has applied to an empty one of its schema, in memory: its topics from their beginnings up to where
// its ledger stands, which it prints: the table is ahead of a ledger that was set back.
func replay(ctx context.Context, o Options, t *table.Table, out io.Writer) ([]lake.Row, error) {
	s, err := stack.StartLake()
	if err != nil {
		return nil, err
	}
	defer s.Close()
	scratch, name := s.CatalogConfig(), strings.Join(o.Table.Path, ".")
	l, err := lake.Open(ctx, scratch)
	if err != nil {
		return nil, err
	}
	if err := l.Mimic(ctx, name, t); err != nil {
		return nil, err
	}
	c := *o.Config
	c.Catalogs = map[string]config.Catalog{o.Table.Catalog: scratch}
	if c.DeadLetter.To != "" { // what has become of such records the table shows; they are not to be written again
		c.DeadLetter.To = "s3://" + stack.Bucket + "/letters"
	}
	c.ReportFailures = false
	c.Routes = slices.DeleteFunc(slices.Clone(c.Routes), func(r config.Route) bool { return r.Table.String() != o.Table.String() })
	from, err := ingest.New(o.Config, slog.Default())
	if err != nil {
		return nil, err
	}
	held, err := from.Ledger(ctx, o.Table)
	if err != nil {
		return nil, err
	}
	owner.Print(out, held)
	into, err := ingest.New(&c, slog.Default())
	if err != nil {
		return nil, err
	}
	for _, source := range sources(held) {
		if err := apply(ctx, &c, source, held, into, out); err != nil {
			return nil, err
		}
	}
	_, rows, err := l.Rows(ctx, name)
	return rows, err
}

func sources(held *ledger.Ledger) []string {
	names := map[string]bool{}
	for _, topic := range held.Topics() {
		names[topic.Source] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// apply replays the topics of one source, and prints of what partitions Kafka does not have the beginning any more.
func apply(ctx context.Context, c *config.Config, source string, held *ledger.Ledger, into *ingest.Pipeline, out io.Writer) error {
	at, ok := c.Sources[source]
	if !ok || len(at.Brokers) == 0 {
		return fmt.Errorf("to replay its topics, sources.%s has to say the brokers", source)
	}
	account, err := warehouse.OpenAccount(ctx)
	if err != nil {
		return err
	}
	cluster, err := consume.Open(ctx, source, at, account, limits)
	if err != nil {
		return err
	}
	defer cluster.Close()
	var topics []string
	for _, topic := range held.Topics() {
		if topic.Source == source {
			topics = append(topics, topic.Name)
		}
	}
	logs, err := cluster.Logs(ctx, topics)
	if err != nil {
		return fmt.Errorf("the topics that the table has offsets of: %w", err)
	}
	var stretches []consume.Stretch
	for _, log := range logs {
		if mark, known := held.Mark(log.Part); known {
			if log.Start > 0 {
				_, _ = fmt.Fprintf(out, "topic %s, partition %d begins at offset %d: rows that only records before it speak of are missing in the replay\n",
					ledger.SourceAndTopic(source, log.Part.Topic), log.Part.Number, log.Start)
			}
			log.End = min(log.End, mark.Next)
			stretches = append(stretches, consume.Stretch{Log: log, From: log.Start})
		}
	}
	for b, err := range cluster.Batches(ctx, stretches) {
		if err != nil {
			return err
		}
		if err := into.Deliver(ctx, below(held, b.Records), b.Read...); err != nil {
			return err
		}
	}
	return nil
}

// below are the records that a ledger has: a batch may go beyond.
func below(held *ledger.Ledger, records []kafka.Record) []kafka.Record {
	return slices.DeleteFunc(records, func(r kafka.Record) bool {
		mark, _ := held.Mark(r.Part)
		return r.Offset >= mark.Next
	})
}
