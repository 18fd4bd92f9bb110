// Package consume reads topics of Kafka from given offsets on, without a group: where to begin is the caller's to know.
//
// It reads what is there when it begins, and hands it out in batches of the order that package ingest wants, each partition's
// records by offset. Transactions that are open or were aborted are left out. What Kafka does not hold any more of what was
// asked for is an error, never a hole. It commits nothing and changes nothing.
package consume

import (
	"context"
	"fmt"
	"time"

	"github.com/frazil/frazil/internal/cluster"
	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/kafka"
	"github.com/frazil/frazil/internal/ledger"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Limits bound a batch, whichever is reached first.
type Limits struct {
	Bytes    int64 // of keys, values and headers, and perRecord for each record; the last poll may pass it
	Records  int
	Interval time.Duration // since its first record
	// Quiet is how long nothing comes of what Kafka says that is there until it is believed to hold no records: compaction may
	// have taken the last ones of a partition.
	Quiet time.Duration
}

// perRecord is about what a record takes beside its bytes.
const perRecord = 256

// Beside the batch that is used, the one that is being filled and one poll, memory holds responses that nobody
// has asked for yet, each of up to a part of a batch as it comes compressed.
const (
	fetches     = 2
	fetchPart   = 16
	leastFetch  = 1 << 20
	longestPoll = 1000 // records
)

// Cluster is a source that is read by one reader at a time.
type Cluster struct {
	name, arn string
	limits    Limits
	kafka     *kgo.Client
	admin     *kadm.Client
	order     *order
}

// Open makes a client of a source. Its caller closes it.
func Open(ctx context.Context, name string, s config.Source, a cluster.Account, l Limits) (*Cluster, error) {
	o := &order{newest: map[topicPartition]int64{}}
	client, err := cluster.Open(ctx, s, a,
		kgo.DisableFetchSessions(), // in which the broker keeps an order of its own
		kgo.ConsumePreferringLagFn(o.prefer),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.KeepControlRecords(),                    // the last offset of a partition may be one
		kgo.ConsumeResetOffset(kgo.NoResetOffset()), // offsets that are gone are an error
		kgo.MaxConcurrentFetches(fetches),
		kgo.WithPools(new(pool)),
		kgo.FetchMaxBytes(int32(min(max(l.Bytes/fetchPart, leastFetch), 50<<20))),
	)
	if err != nil {
		return nil, fmt.Errorf("open source %s: %w", name, err)
	}
	return &Cluster{name, s.ARN, l, client, kadm.NewClient(client), o}, nil
}

// Close ends the connections.
func (c *Cluster) Close() { c.kafka.Close() }

// Topics are the names of all topics that are not Kafka's own.
func (c *Cluster) Topics(ctx context.Context) ([]string, error) {
	all, err := c.admin.ListTopics(ctx)
	if err != nil {
		return nil, fmt.Errorf("list topics of source %s: %w", c.name, err)
	}
	return all.Names(), nil
}

// Log is what a cluster holds of a partition.
type Log struct {
	Part  *kafka.Partition
	Start int64 // the first offset that is still there
	End   int64 // behind the last one before the first open transaction
	High  int64 // behind the last one
}

// Logs are the partitions of topics, of which each has to exist, in the order of topic and partition.
func (c *Cluster) Logs(ctx context.Context, topics []string) ([]Log, error) {
	if len(topics) == 0 { // to Kafka that would be all
		return nil, nil
	}
	var listed [3]kadm.ListedOffsets
	// The end comes last: what is between start and end must not be more than there is.
	for i, list := range []func(context.Context, ...string) (kadm.ListedOffsets, error){
		c.admin.ListStartOffsets, c.admin.ListCommittedOffsets, c.admin.ListEndOffsets,
	} {
		var err error
		if listed[i], err = list(ctx, topics...); err == nil {
			err = firstError(listed[i])
		}
		if err != nil {
			return nil, fmt.Errorf("list offsets of source %s: %w", c.name, err)
		}
	}
	var logs []Log
	for _, start := range sorted(listed[0]) {
		end, ok := listed[1].Lookup(start.Topic, start.Partition)
		high, too := listed[2].Lookup(start.Topic, start.Partition)
		if !ok || !too {
			return nil, fmt.Errorf("list offsets of source %s: topic %s, partition %d: some are missing", c.name, start.Topic, start.Partition)
		}
		part := &kafka.Partition{Source: c.name, Topic: start.Topic, Number: start.Partition, Cluster: c.arn}
		logs = append(logs, Log{part, start.Offset, end.Offset, high.Offset})
	}
	return logs, nil
}

func firstError(listed kadm.ListedOffsets) error {
	for _, o := range sorted(listed) {
		if o.Err != nil {
			return fmt.Errorf("topic %s: %w", o.Topic, o.Err)
		}
	}
	return nil
}

// Holds checks that the log has what comes from an offset on.
func (l Log) Holds(next int64) error {
	switch {
	case next < l.Start:
		return &Lost{l.Part, next, l.Start}
	case next > l.High:
		return fmt.Errorf("topic %s, partition %d: offset %d is expected next, but Kafka has only those below %d; if the topic was made anew, "+
			"set the ledger to where it begins (%s)", l.Part.Topic, l.Part.Number, next, l.High, ledger.SetCommand(l.Part, l.Start))
	}
	return nil
}

// Lost are offsets that Kafka does not hold any more, from From up to To.
type Lost struct {
	Part     *kafka.Partition
	From, To int64
}

func (e *Lost) Error() string {
	return fmt.Sprintf("topic %s, partition %d: the offsets %d to %d were not applied, and Kafka does not have them any more; to go on without them, "+
		"set the ledger to what follows (%s)", e.Part.Topic, e.Part.Number, e.From, e.To-1, ledger.SetCommand(e.Part, e.To))
}
