package broker_test

import (
	"context"
	"testing"
	"time"

	"github.com/frazil/frazil/internal/local/broker"
	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"
)

func connect(t *testing.T) (*broker.Broker, *broker.Client) {
	t.Helper()
	b, err := broker.Start(broker.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	c, err := broker.NewClient(b.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return b, c
}

// consume reads n records of a topic with a group and commits them.
func consume(t *testing.T, addr, group, topic string, n int) []*kgo.Record {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(addr), kgo.ConsumerGroup(group), kgo.ConsumeTopics(topic), kgo.DisableAutoCommit())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var got []*kgo.Record
	for len(got) < n {
		fetches := client.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			t.Fatal(err)
		}
		got = append(got, fetches.Records()...)
	}
	if err := client.CommitRecords(ctx, got...); err != nil {
		t.Fatal(err)
	}
	return got
}

func TestRecordsArriveInTheirPartitionAsProduced(t *testing.T) {
	t.Parallel()
	b, c := connect(t)
	ctx := t.Context()
	if err := c.CreateTopic(ctx, "orders", 3); err != nil {
		t.Fatal(err)
	}
	if err := c.CreateTopic(ctx, "orders", 3); err == nil {
		t.Error("a topic was created twice")
	}
	at := time.UnixMilli(1709618828123)
	offsets, err := c.Produce(ctx,
		&kgo.Record{Topic: "orders", Partition: 2, Timestamp: at, Key: []byte("k"), Value: []byte("v"), Headers: []kgo.RecordHeader{{Key: "h", Value: []byte{200}}}},
		&kgo.Record{Topic: "orders", Partition: 2, Timestamp: at, Key: nil, Value: []byte{}},
		&kgo.Record{Topic: "orders", Partition: 0, Timestamp: at, Key: []byte{}, Value: nil},
		&kgo.Record{Topic: "orders", Partition: 2, Timestamp: at, Key: []byte("last"), Value: nil},
	)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int64{0, 1, 0, 2}, offsets); diff != "" {
		t.Error(diff)
	}
	type place struct {
		Partition int32
		Offset    int64
	}
	type record struct {
		Key, Value []byte
		At         int64
	}
	got := map[place]record{}
	for _, r := range consume(t, b.Addr(), "readers", "orders", 4) {
		got[place{r.Partition, r.Offset}] = record{r.Key, r.Value, r.Timestamp.UnixMilli()}
	}
	want := map[place]record{
		{2, 0}: {[]byte("k"), []byte("v"), at.UnixMilli()},
		{2, 1}: {nil, []byte{}, at.UnixMilli()},
		{0, 0}: {[]byte{}, nil, at.UnixMilli()},
		{2, 2}: {[]byte("last"), nil, at.UnixMilli()},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestOffsetsTellEndsAndCommits(t *testing.T) {
	t.Parallel()
	b, c := connect(t)
	ctx := t.Context()
	if err := c.CreateTopic(ctx, "orders", 2); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Produce(ctx, &kgo.Record{Topic: "orders", Partition: 1}, &kgo.Record{Topic: "orders", Partition: 1}); err != nil {
		t.Fatal(err)
	}
	ends, err := c.EndOffsets(ctx, "orders")
	if diff := cmp.Diff(map[int32]int64{0: 0, 1: 2}, ends); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if _, err := c.EndOffsets(ctx, "none"); err == nil {
		t.Error("a missing topic has ends")
	}
	none, err := c.Committed(ctx, "readers", "orders")
	if err != nil || len(none) != 0 {
		t.Errorf("%v %v", none, err)
	}
	consume(t, b.Addr(), "readers", "orders", 2)
	committed, err := c.Committed(ctx, "readers", "orders")
	if diff := cmp.Diff(map[int32]int64{1: 2}, committed); err != nil || diff != "" {
		t.Error(err, diff)
	}
}
