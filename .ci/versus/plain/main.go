// Plain brings a topic of Debezium's changes into a table as a careful user of franz-go, encoding/json and iceberg-go would: a
// batch at a time, of which the last change of each key counts, by equality deletes and new rows in one snapshot. It knows the
// table's columns, and it ends with the topic.
//
//	plain CONFIG BROKERS TOPIC
//
// CONFIG is a configuration as JSON, with one route. Objects are written by frazil's client of the store.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/apache/iceberg-go/table"
	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/local/broker"
	"github.com/frazil/frazil/internal/local/lake"
	"github.com/twmb/franz-go/pkg/kgo"
)

// perCommit is how many changes a snapshot is of.
const perCommit = 50_000

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "plain:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) != 3 {
		return fmt.Errorf("%d arguments, want CONFIG BROKERS TOPIC", len(args))
	}
	t, err := open(ctx, args[0])
	if err != nil {
		return err
	}
	left, err := total(ctx, args[1], args[2])
	if err != nil {
		return err
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(args[1]), kgo.ConsumeTopics(args[2]), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		return err
	}
	defer client.Close()
	sink, err := newSink(t)
	if err != nil {
		return err
	}
	for left > 0 {
		fetches := client.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			return err
		}
		for r := range fetches.RecordsAll() {
			if err := sink.take(r); err != nil {
				return fmt.Errorf("partition %d, offset %d: %w", r.Partition, r.Offset, err)
			}
			if left--; sink.taken == perCommit || left == 0 {
				if err := sink.commit(ctx); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func open(ctx context.Context, document string) (*table.Table, error) {
	var c config.Config
	if err := json.Unmarshal([]byte(document), &c); err != nil {
		return nil, err
	}
	l, err := lake.Open(ctx, c.Catalogs["main"])
	if err != nil {
		return nil, err
	}
	return l.Load(ctx, strings.Join(c.Routes[0].Table.Path, "."))
}

// total is how many records a topic has.
func total(ctx context.Context, brokers, topic string) (n int64, err error) {
	client, err := broker.NewClient(brokers)
	if err != nil {
		return 0, err
	}
	defer client.Close()
	ends, err := client.EndOffsets(ctx, topic)
	for _, end := range ends {
		n += end
	}
	return n, err
}
