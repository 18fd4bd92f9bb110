package consume_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/consume"
	"github.com/frazil/frazil/internal/kafka"
	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
)

// world is a broker and a producer to it.
type world struct {
	testing.TB
	brokers []string
	kafka   *kgo.Client
}

func newWorld(t *testing.T, partitions int32, topics ...string) *world {
	t.Helper()
	return newWorldOf(t, 2, partitions, topics...)
}

func newWorldOf(t *testing.T, brokers int, partitions int32, topics ...string) *world {
	t.Helper()
	c, err := kfake.NewCluster(kfake.NumBrokers(brokers), kfake.SeedTopics(partitions, topics...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	w := &world{TB: t, brokers: c.ListenAddrs()}
	w.kafka = w.producer()
	return w
}

func (w *world) producer(more ...kgo.Opt) *kgo.Client {
	w.Helper()
	client, err := kgo.NewClient(append(more, kgo.SeedBrokers(w.brokers...), kgo.RecordPartitioner(kgo.ManualPartitioner()))...)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(client.Close)
	return client
}

// produce writes records whose values are texts.
func (w *world) produce(client *kgo.Client, topic string, partition int32, values ...string) {
	w.Helper()
	var records []*kgo.Record
	for _, v := range values {
		records = append(records, &kgo.Record{Topic: topic, Partition: partition, Value: []byte(v)})
	}
	if err := client.ProduceSync(w.Context(), records...).FirstErr(); err != nil {
		w.Fatal(err)
	}
}

// drop has Kafka forget the records of partition 0 below an offset.
func (w *world) drop(topic string, below int64) {
	w.Helper()
	offsets := kadm.Offsets{}
	offsets.AddOffset(topic, 0, below, -1)
	if _, err := kadm.NewClient(w.kafka).DeleteRecords(w.Context(), offsets); err != nil {
		w.Fatal(err)
	}
}

func large() consume.Limits {
	return consume.Limits{Bytes: 1 << 20, Records: 1 << 20, Interval: time.Minute, Quiet: time.Minute}
}

func (w *world) open(l consume.Limits) *consume.Cluster {
	w.Helper()
	c, err := consume.Open(w.Context(), "main", config.Source{Brokers: w.brokers, ARN: "arn:aws:kafka:main"}, nil, l)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(c.Close)
	return c
}

// stretches are all of some topics, from the starts of their logs on.
func (w *world) stretches(c *consume.Cluster, topics ...string) (all []consume.Stretch) {
	w.Helper()
	logs, err := c.Logs(w.Context(), topics)
	if err != nil {
		w.Fatal(err)
	}
	for _, l := range logs {
		all = append(all, consume.Stretch{Log: l, From: l.Start})
	}
	return all
}

// read is what batches hold, as lines: records, and what was read for them.
func (w *world) read(ctx context.Context, c *consume.Cluster, all []consume.Stretch) (batches [][]string, err error) {
	last := false
	for b, err := range c.Batches(ctx, all) {
		if last {
			w.Errorf("batch %d comes behind the last one", len(batches))
		}
		if last = b.Last; err != nil {
			return batches, err
		}
		var lines []string
		for _, r := range b.Records {
			lines = append(lines, fmt.Sprintf("%s-%d@%d=%s", r.Part.Topic, r.Part.Number, r.Offset, r.Value))
		}
		for _, r := range b.Read {
			lines = append(lines, fmt.Sprintf("%s-%d[%d,%d)", r.Part.Topic, r.Part.Number, r.From, r.Next))
		}
		batches = append(batches, lines)
	}
	if !last && len(batches) > 0 {
		w.Errorf("batch %d was the last one, and did not say so", len(batches)-1)
	}
	return batches, nil
}

func (w *world) wantBatches(c *consume.Cluster, all []consume.Stretch, want ...[]string) {
	w.Helper()
	got, err := w.read(w.Context(), c, all)
	if err != nil {
		w.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		w.Error(diff)
	}
}

func TestRecordsComeInPartitionAndOffsetOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2, "b", "a", "other")
	for _, topic := range []string{"b", "a", "other"} {
		for partition := range int32(2) {
			w.produce(w.kafka, topic, partition, "x", "y", "z")
		}
	}
	c := w.open(large())
	all := w.stretches(c, "b", "a")
	all[3].From = 2
	slices.Reverse(all)
	w.wantBatches(c, all, []string{
		"a-0@0=x", "a-0@1=y", "a-0@2=z", "a-1@0=x", "a-1@1=y", "a-1@2=z", "b-0@0=x", "b-0@1=y", "b-0@2=z", "b-1@2=z",
		"a-0[0,3)", "a-1[0,3)", "b-0[0,3)", "b-1[2,3)",
	})
}

func TestRecordsAreWhole(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, "a")
	at := time.UnixMilli(1_700_000_000_123)
	for _, r := range []*kgo.Record{
		{Topic: "a", Timestamp: at, Key: []byte{}, Value: nil, Headers: []kgo.RecordHeader{{Key: "h", Value: []byte("v")}, {Key: "null"}}},
		{Topic: "a", Timestamp: at, Key: nil, Value: []byte{}},
	} {
		if err := w.kafka.ProduceSync(t.Context(), r).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	c := w.open(large())
	part := &kafka.Partition{Source: "main", Topic: "a", Cluster: "arn:aws:kafka:main"}
	want := []kafka.Record{
		{Part: part, Offset: 0, Time: 1_700_000_000_123, Key: []byte{}, Headers: []kafka.Header{{Key: "h", Value: []byte("v")}, {Key: "null"}}},
		{Part: part, Offset: 1, Time: 1_700_000_000_123, Value: []byte{}},
	}
	for b, err := range c.Batches(t.Context(), w.stretches(c, "a")) {
		if diff := cmp.Diff(want, b.Records); err != nil || diff != "" {
			t.Errorf("%v %s", err, diff)
		}
	}
}

func TestBatchesAreCutByRecordsAndBytes(t *testing.T) {
	t.Parallel()
	values := slices.Repeat([]string{strings.Repeat("v", 1000)}, 3500)
	for name, cut := range map[string]func(*consume.Limits){
		"records": func(l *consume.Limits) { l.Records = 500 },
		"bytes":   func(l *consume.Limits) { l.Bytes = 500_000 },
		"time":    func(l *consume.Limits) { l.Interval = time.Nanosecond },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 1, "a")
			w.produce(w.kafka, "a", 0, values...)
			limits := large()
			limits.Bytes = 1 << 30
			cut(&limits)
			c := w.open(limits)
			got, err := w.read(t.Context(), c, w.stretches(c, "a"))
			next := 0
			for _, b := range got {
				for _, line := range b[:len(b)-1] {
					if !strings.HasPrefix(line, fmt.Sprintf("a-0@%d=", next)) {
						t.Fatalf("%.20s where offset %d is next", line, next)
					}
					next++
				}
			}
			if err != nil || len(got) < 3 || next != len(values) {
				t.Errorf("%d batches of %d records, %v", len(got), next, err)
			}
		})
	}
}

// Of transactions there is what was committed. Their markers are read, and nothing behind an open one.
func TestTransactionsAreReadWhenTheyAreCommitted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, "a")
	end := func(name string, commit kgo.TransactionEndTry, values ...string) {
		client := w.producer(kgo.TransactionalID(name))
		if err := client.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		w.produce(client, "a", 0, values...)
		if err := client.EndTransaction(t.Context(), commit); err != nil {
			t.Fatal(err)
		}
	}
	end("first", kgo.TryAbort, "no")
	end("second", kgo.TryCommit, "yes", "yes")
	w.produce(w.kafka, "a", 0, "plain")
	end("third", kgo.TryAbort, "no")
	open := w.producer(kgo.TransactionalID("open"))
	if err := open.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	w.produce(open, "a", 0, "who knows")
	w.produce(w.kafka, "a", 0, "behind")
	c := w.open(large())
	w.wantBatches(c, w.stretches(c, "a"), []string{"a-0@2=yes", "a-0@3=yes", "a-0@5=plain", "a-0[0,8)"})
}

func TestWhatKafkaHasNoMoreIsAnError(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, "a")
	w.produce(w.kafka, "a", 0, "0", "1", "2", "3")
	c := w.open(large())
	early := w.stretches(c, "a")
	early[0].From = 1
	w.drop("a", 3)
	late := w.stretches(c, "a")[0].Log
	for next, want := range map[int64]string{
		1: "partition 0: the offsets 1 to 2 were not applied", 3: "", 4: "", 5: "offset 5 is expected next, but Kafka has only those below 4",
	} {
		if err := late.Holds(next); (want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("from %d on: %v", next, err)
		}
	}
	// It had them when the logs were listed.
	if got, err := w.read(t.Context(), c, early); err == nil || len(got) > 0 {
		t.Errorf("dropped before they were read: %q, %v", got, err)
	}
}

// A part of the fetched records is used while the log goes away below the rest.
func TestWhatGoesWhileItIsReadIsAnError(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, "a")
	noise := make([]byte, 100_000)
	rand.NewChaCha8([32]byte{}).Read(noise) // which does not compress
	for range 100 {
		w.produce(w.kafka, "a", 0, string(noise))
	}
	limits := large()
	limits.Records = 1
	c := w.open(limits)
	var read []int64
	var last error
	for b, err := range c.Batches(t.Context(), w.stretches(c, "a")) {
		if len(read) == 0 {
			w.drop("a", 100)
		}
		for _, r := range b.Records {
			read = append(read, r.Offset)
		}
		last = err
	}
	if last == nil || len(read) == 0 || len(read) == 100 {
		t.Errorf("read %d records, then %v", len(read), last)
	}
}

// The last offsets of a log need not hold records.
func TestALogWhoseEndIsEmptyEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, "a")
	w.produce(w.kafka, "a", 0, "0", "1")
	limits := large()
	limits.Quiet = 2 * time.Second
	c := w.open(limits)
	all := w.stretches(c, "a")
	all[0].Log.End = 5
	w.wantBatches(c, all, []string{"a-0@0=0", "a-0@1=1", "a-0[0,2)"})
}

func TestAReaderThatIsToldToEndGivesWhatItHas(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, "a")
	w.produce(w.kafka, "a", 0, "0", "1")
	c := w.open(large())
	all := w.stretches(c, "a")
	all[0].Log.End = 5
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	got, err := w.read(ctx, c, all)
	if diff := cmp.Diff([][]string{{"a-0@0=0", "a-0@1=1", "a-0[0,2)"}}, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
}

func TestTopicsHaveToExist(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, "a", "b")
	c := w.open(large())
	if _, err := c.Logs(t.Context(), []string{"a", "none"}); err == nil || !strings.Contains(err.Error(), "source main") {
		t.Errorf("got %v", err)
	}
	if logs, err := c.Logs(t.Context(), nil); err != nil || len(logs) > 0 {
		t.Errorf("no topics: %v, %v", logs, err)
	}
	if names, err := c.Topics(t.Context()); err != nil || !slices.Equal(names, []string{"a", "b"}) {
		t.Errorf("topics %q, %v", names, err)
	}
}
