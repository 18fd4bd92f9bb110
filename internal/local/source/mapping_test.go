package source_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/frazil/frazil/internal/local/broker"
	"github.com/frazil/frazil/internal/local/source"
	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"
)

const topic = "orders"

// delivered is a record as the function saw it.
type delivered struct {
	Partition int32
	Offset    int64
	Value     string
}

// function collects what it is invoked with; fail decides about each invocation, counted from 0.
type function struct {
	mu     sync.Mutex
	events [][]delivered
	sizes  []int
	fail   func(n int) error
}

func (f *function) invoke(_ context.Context, payload []byte) error {
	var event struct {
		Records map[string][]struct {
			Partition int32
			Offset    int64
			Value     []byte
		}
	}
	if err := json.Unmarshal(payload, &event); err != nil {
		return err
	}
	var batch []delivered
	for _, records := range event.Records {
		for _, r := range records {
			batch = append(batch, delivered{r.Partition, r.Offset, string(r.Value)})
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.events, f.sizes = append(f.events, batch), append(f.sizes, len(payload))
	if f.fail != nil {
		return f.fail(len(f.events) - 1)
	}
	return nil
}

// offsets returns the offsets of one partition in the order of delivery.
func (f *function) offsets(partition int32) []int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	var offsets []int64
	for _, batch := range f.events {
		for _, r := range batch {
			if r.Partition == partition {
				offsets = append(offsets, r.Offset)
			}
		}
	}
	return offsets
}

type cluster struct {
	addr   string
	client *broker.Client
}

func start(t *testing.T, partitions int32) cluster {
	t.Helper()
	b, err := broker.Start(broker.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	client, err := broker.NewClient(b.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	if err := client.CreateTopic(t.Context(), topic, partitions); err != nil {
		t.Fatal(err)
	}
	return cluster{b.Addr(), client}
}

// produce writes n records of that value to a partition.
func (c cluster) produce(t *testing.T, partition int32, n int, value []byte) {
	t.Helper()
	var records []*kgo.Record
	for range n {
		records = append(records, &kgo.Record{Topic: topic, Partition: partition, Value: value})
	}
	if _, err := c.client.Produce(t.Context(), records...); err != nil {
		t.Fatal(err)
	}
}

func (c cluster) mapping(f *function) *source.Mapping {
	return &source.Mapping{
		Brokers: []string{c.addr}, Topic: topic, Group: "mapping", BatchSize: 10_000,
		Invoke: f.invoke, RetryDelay: time.Nanosecond,
	}
}

// drain runs a mapping until it has committed all there is.
func (c cluster) drain(t *testing.T, m *source.Mapping) {
	t.Helper()
	ends, err := c.client.EndOffsets(t.Context(), topic)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- m.Run(ctx) }()
	if err := m.Drained(ctx, ends); err != nil {
		t.Error(err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	committed, err := c.client.Committed(t.Context(), m.Group, topic)
	for partition, end := range ends {
		if committed[partition] != end {
			t.Errorf("partition %d: committed %d of %d, %v", partition, committed[partition], end, err)
		}
	}
}

func upTo(n int) []int64 {
	offsets := make([]int64, n)
	for i := range offsets {
		offsets[i] = int64(i)
	}
	return offsets
}

func TestEveryRecordIsDeliveredInOrder(t *testing.T) {
	t.Parallel()
	c := start(t, 3)
	for partition := range int32(3) {
		c.produce(t, partition, 50, []byte("v"))
	}
	f := &function{}
	m := c.mapping(f)
	m.BatchSize = 7
	c.drain(t, m)
	for partition := range int32(3) {
		if diff := cmp.Diff(upTo(50), f.offsets(partition)); diff != "" {
			t.Errorf("partition %d: %s", partition, diff)
		}
	}
	for _, batch := range f.events {
		if len(batch) > 7 {
			t.Errorf("a batch of %d", len(batch))
		}
	}
}

func TestWindowGathersRecordsOfSeveralReads(t *testing.T) {
	t.Parallel()
	c := start(t, 1)
	c.produce(t, 0, 3, []byte("v"))
	f := &function{}
	m := c.mapping(f)
	m.Window, m.BatchSize = time.Hour, 6
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- m.Run(ctx) }()
	c.produce(t, 0, 3, []byte("v"))
	if err := m.Drained(ctx, map[int32]int64{0: 6}); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if len(f.events) != 1 || len(f.events[0]) != 6 {
		t.Errorf("events %v", f.events)
	}
}

func TestEventsAreFilledUpToSixMegabytes(t *testing.T) {
	t.Parallel()
	c := start(t, 2)
	c.produce(t, 0, 10, bytes.Repeat([]byte("x"), 700_000))
	c.produce(t, 1, 10, bytes.Repeat([]byte("x"), 700_000))
	f := &function{}
	m := c.mapping(f)
	m.Window = time.Hour // so that only the size ends a batch
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	m.Report = func(d source.Delivery) {
		if d.Batch == 2 {
			cancel()
		}
	}
	if err := m.Run(ctx); err != nil {
		t.Fatal(err)
	}
	for i, size := range f.sizes {
		if size > source.MaxEvent || len(f.events[i]) != 6 {
			t.Errorf("event %d: %d records, %d bytes", i, len(f.events[i]), size)
		}
	}
	for partition := range int32(2) {
		got := f.offsets(partition)
		if diff := cmp.Diff(upTo(len(got)), got); diff != "" {
			t.Errorf("partition %d: %s", partition, diff)
		}
	}
}

func TestTooLargeRecordStopsTheMappingAndLosesNothing(t *testing.T) {
	t.Parallel()
	c := start(t, 1)
	c.produce(t, 0, 2, []byte("small"))
	c.produce(t, 0, 1, bytes.Repeat([]byte("x"), 1000))
	c.produce(t, 0, 1, []byte("small"))
	f := &function{}
	m := c.mapping(f)
	m.MaxBytes = 1000
	err := m.Run(t.Context())
	if !errors.Is(err, source.ErrTooLarge) || !strings.Contains(err.Error(), "topic orders, partition 0, offset 2") {
		t.Error(err)
	}
	if diff := cmp.Diff(upTo(2), f.offsets(0)); diff != "" {
		t.Error(diff)
	}
	committed, err := c.client.Committed(t.Context(), m.Group, topic)
	if diff := cmp.Diff(map[int32]int64{0: 2}, committed); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

func TestFailedEventIsRetriedUntilItSucceeds(t *testing.T) {
	t.Parallel()
	c := start(t, 1)
	c.produce(t, 0, 4, []byte("v"))
	f := &function{fail: func(n int) error {
		if n == 1 || n == 2 {
			return errors.New("down")
		}
		return nil
	}}
	m := c.mapping(f)
	m.BatchSize = 2
	var reports []string
	m.Report = func(d source.Delivery) { reports = append(reports, fmt.Sprint(d.Batch, d.Records, d.Err)) }
	c.drain(t, m)
	if diff := cmp.Diff([]int64{0, 1, 2, 3, 2, 3, 2, 3}, f.offsets(0)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"0 2 <nil>", "1 2 down", "1 2 down", "1 2 <nil>"}, reports); diff != "" {
		t.Error(diff)
	}
}

func TestRedeliveryRepeatsABatchBeforeItsCommit(t *testing.T) {
	t.Parallel()
	c := start(t, 1)
	c.produce(t, 0, 4, []byte("v"))
	f := &function{}
	m := c.mapping(f)
	m.BatchSize = 2
	m.Redeliver = func(batch int) bool { return batch == 0 }
	c.drain(t, m)
	if diff := cmp.Diff([]int64{0, 1, 0, 1, 2, 3}, f.offsets(0)); diff != "" {
		t.Error(diff)
	}
}

func TestRestartContinuesAtTheCommittedOffsets(t *testing.T) {
	t.Parallel()
	c := start(t, 1)
	c.produce(t, 0, 3, []byte("v"))
	f := &function{}
	c.drain(t, c.mapping(f))
	c.produce(t, 0, 2, []byte("v"))
	c.drain(t, c.mapping(f))
	if diff := cmp.Diff(upTo(5), f.offsets(0)); diff != "" {
		t.Error(diff)
	}
	c.drain(t, c.mapping(f)) // nothing is left, and nothing to wait for
	if diff := cmp.Diff(upTo(5), f.offsets(0)); diff != "" {
		t.Error(diff)
	}
}

func TestUncommittedBatchIsDeliveredAgainAfterARestart(t *testing.T) {
	t.Parallel()
	c := start(t, 1)
	c.produce(t, 0, 3, []byte("v"))
	ctx, cancel := context.WithCancel(t.Context())
	f := &function{fail: func(n int) error {
		if n == 0 {
			cancel()
			return ctx.Err()
		}
		return nil
	}}
	if err := c.mapping(f).Run(ctx); err != nil {
		t.Fatal(err)
	}
	c.drain(t, c.mapping(f))
	if diff := cmp.Diff([]int64{0, 1, 2, 0, 1, 2}, f.offsets(0)); diff != "" {
		t.Error(diff)
	}
}
