package broker

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Client is a connection to a broker. It is safe for concurrent use.
type Client struct {
	kafka *kgo.Client
	admin *kadm.Client
}

// NewClient returns a client of the cluster that answers at addrs. It connects with its first call.
func NewClient(addrs ...string) (*Client, error) {
	kafka, err := kgo.NewClient(kgo.SeedBrokers(addrs...), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		return nil, fmt.Errorf("connect to broker: %w", err)
	}
	return &Client{kafka, kadm.NewClient(kafka)}, nil
}

// Close ends the connection.
func (c *Client) Close() { c.kafka.Close() }

// Ping waits until a broker answers or ctx ends.
func (c *Client) Ping(ctx context.Context) error { return c.kafka.Ping(ctx) }

// CreateTopic creates a topic with the cluster's default replication. One that exists already is an error.
func (c *Client) CreateTopic(ctx context.Context, topic string, partitions int32) error {
	const clusterDefault = -1
	if _, err := c.admin.CreateTopic(ctx, partitions, clusterDefault, nil, topic); err != nil {
		return fmt.Errorf("create topic %s: %w", topic, err)
	}
	return nil
}

// Produce writes records to the partitions they name, in order within each partition, and returns their offsets in
// the order of the records. Nil keys and values are Kafka's null, empty ones are empty; a zero timestamp is now.
// With an error some of the records may have been written.
func (c *Client) Produce(ctx context.Context, records ...*kgo.Record) ([]int64, error) {
	if err := c.kafka.ProduceSync(ctx, records...).FirstErr(); err != nil {
		return nil, fmt.Errorf("produce: %w", err)
	}
	offsets := make([]int64, len(records))
	for i, r := range records {
		offsets[i] = r.Offset
	}
	return offsets, nil
}

// EndOffsets returns, by partition, the offset that a topic's next record will have.
func (c *Client) EndOffsets(ctx context.Context, topic string) (map[int32]int64, error) {
	listed, err := c.admin.ListEndOffsets(ctx, topic)
	if err == nil {
		err = listed.Error()
	}
	if err != nil {
		return nil, fmt.Errorf("end offsets of %s: %w", topic, err)
	}
	ends := map[int32]int64{}
	listed.Each(func(o kadm.ListedOffset) { ends[o.Partition] = o.Offset })
	return ends, nil
}

// Committed returns, by partition, the next offset that a group has committed for a topic. Partitions without a
// commit are left out.
func (c *Client) Committed(ctx context.Context, group, topic string) (map[int32]int64, error) {
	fetched, err := c.admin.FetchOffsets(ctx, group)
	if err == nil {
		err = fetched.Error()
	}
	if err != nil && !errors.Is(err, kerr.GroupIDNotFound) { // a group that never committed may not exist yet
		return nil, fmt.Errorf("committed offsets of %s: %w", group, err)
	}
	committed := map[int32]int64{}
	for partition, o := range fetched[topic] {
		committed[partition] = o.At
	}
	return committed, nil
}
