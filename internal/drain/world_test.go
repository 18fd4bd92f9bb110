package drain_test

import (
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/consume"
	"github.com/frazil/frazil/internal/drain"
	"github.com/frazil/frazil/internal/kafka"
	"github.com/frazil/frazil/internal/ledger"
	"github.com/frazil/frazil/internal/local/lake"
	"github.com/frazil/frazil/internal/local/stack"
	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// world is a broker with topics, and a store and a catalog with tables.
type world struct {
	testing.TB
	parts *stack.Stack
	lake  *lake.Lake
	kafka *kgo.Client
	admin *kadm.Client
	log   *slog.Logger
}

func newWorld(t testing.TB, tables ...string) *world {
	t.Helper()
	parts, err := stack.Start(false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(parts.Close)
	w := &world{TB: t, parts: parts, log: slog.New(slog.DiscardHandler)}
	w.kafka = w.producer()
	w.admin = kadm.NewClient(w.kafka)
	w.lake, err = lake.Open(t.Context(), parts.CatalogConfig())
	w.must(err)
	for _, name := range tables {
		w.must(w.lake.Create(t.Context(), lake.Spec{
			Name: name, Key: []string{"id"},
			Columns: []lake.Column{{Name: "id", Type: "long", Required: true}, {Name: "n", Type: "int"}},
		}))
	}
	return w
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) producer(more ...kgo.Opt) *kgo.Client {
	w.Helper()
	client, err := kgo.NewClient(append(more, kgo.SeedBrokers(w.parts.Kafka), kgo.RecordPartitioner(kgo.ManualPartitioner()))...)
	w.must(err)
	w.Cleanup(client.Close)
	return client
}

func (w *world) topic(name string, partitions int32) {
	w.Helper()
	_, err := w.admin.CreateTopic(w.Context(), partitions, -1, nil, name)
	w.must(err)
}

// put produces flat rows to a partition, each n of id n.
func (w *world) put(topic string, partition int32, ids ...int) {
	w.Helper()
	for _, id := range ids {
		w.produce(w.kafka, topic, partition, fmt.Sprintf(`{"id":%d,"n":%d}`, id, id))
	}
}

func (w *world) produce(client *kgo.Client, topic string, partition int32, value string) {
	w.Helper()
	w.must(client.ProduceSync(w.Context(), &kgo.Record{Topic: topic, Partition: partition, Value: []byte(value)}).FirstErr())
}

// anew makes a topic of one partition again, with so many records that are newer than all that it had.
func (w *world) anew(topic string, records int) {
	w.Helper()
	_, err := w.admin.DeleteTopics(w.Context(), topic)
	w.must(err)
	w.topic(topic, 1)
	producer := w.producer() // the other one knows the old topic
	for id := range records {
		r := &kgo.Record{Topic: topic, Value: fmt.Appendf(nil, `{"id":%d}`, 100+id), Timestamp: time.Now().Add(time.Minute)}
		w.must(producer.ProduceSync(w.Context(), r).FirstErr())
	}
}

// end is the offset that the next record of partition 0 will have.
func (w *world) end(topic string) int64 {
	w.Helper()
	ends, err := w.admin.ListEndOffsets(w.Context(), topic)
	w.must(err)
	end, _ := ends.Lookup(topic, 0)
	return end.Offset
}

// drop has Kafka forget the records of partition 0 below an offset.
func (w *world) drop(topic string, below int64) {
	w.Helper()
	offsets := kadm.Offsets{}
	offsets.AddOffset(topic, 0, below, -1)
	_, err := w.admin.DeleteRecords(w.Context(), offsets)
	w.must(err)
}

// config is a document's, with the broker as source main.
func (w *world) config(document string) *config.Config {
	w.Helper()
	c, err := stack.Configure(w.parts.CatalogConfig(), fmt.Sprintf("sources: {main: {brokers: [%q]}}\n%s", w.parts.Kafka, document))
	w.must(err)
	return c
}

// drain is what one process holds.
func (w *world) drain(c *config.Config) *drain.Drain {
	w.Helper()
	d, err := drain.New(w.Context(), c, w.log)
	w.must(err)
	return d
}

func (w *world) run(d *drain.Drain) {
	w.Helper()
	w.must(d.Run(w.Context(), nil))
}

const oneRoute = `routes: [{topics: [orders], format: flat, table: "main:shop.orders"}]`

// wantIDs compares a table with the rows of put.
func (w *world) wantIDs(table string, want ...string) {
	w.Helper()
	var got []string
	_, rows, err := w.lake.Rows(w.Context(), table)
	w.must(err)
	for _, r := range rows {
		if r["n"] != r["id"] {
			w.Errorf("row %v", r)
		}
		got = append(got, r["id"])
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		w.Errorf("%s: %s", table, diff)
	}
}

func (w *world) snapshots(table string) int {
	w.Helper()
	t, err := w.lake.Load(w.Context(), table)
	w.must(err)
	return len(t.Metadata().Snapshots())
}

// next is the next offset of a partition by the table's ledger, -1 if it knows none.
func (w *world) next(table, topic string, partition int32) int64 {
	w.Helper()
	t, err := w.lake.Load(w.Context(), table)
	w.must(err)
	l, err := ledger.Read(t.Properties())
	w.must(err)
	m, ok := l.Mark(&kafka.Partition{Source: kafka.MainSource, Topic: topic, Number: partition})
	if !ok {
		return -1
	}
	return m.Next
}

// inSmallBatches makes a batch of each record.
func inSmallBatches(d *drain.Drain) *drain.Drain {
	d.Limit(func(l *consume.Limits) { l.Records = 1 })
	return d
}
