package drain_test

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"hash/crc32"
	"io"
	"strconv"
	"testing"
	"time"

	"github.com/frazil/frazil/internal/local/broker"
	"github.com/frazil/frazil/internal/local/demo"
	"github.com/frazil/frazil/internal/local/lambda"
	"github.com/frazil/frazil/internal/local/shop"
	"github.com/frazil/frazil/internal/local/source"
	"github.com/twmb/franz-go/pkg/kgo"
)

var (
	drained = flag.Int("changes", 200_000, "that BenchmarkDrain and BenchmarkMergeEvents apply")
	loaded  = flag.Int("load", 200_000, "rows that BenchmarkInitialLoad loads")
	held    = flag.Int("rows", 1_000_000, "of the table that they change")
	memory  = flag.Int("memory", 512, "of the function that is measured, in MB")
)

const (
	spread = 12
	perSet = 50_000 // changes of different keys
)

// BenchmarkDrain has the function drain Debezium's changes (70 % updates, 20 % inserts, 10 % deletes) of twelve partitions into a
// table in ten files, whose keys it holds already. The function is a process of its own with the memory it is given: CPU and the peak of its
// memory are its alone. Broker, store and catalog run beside it on the same cores, so the rate is theirs too.
//
// The marks are for -changes=1000000 -rows=5000000.
func BenchmarkDrain(b *testing.B) {
	s := newStream(b, "drain", *held)
	s.put(10_000)
	s.drain()
	for b.Loop() {
		b.StopTimer()
		s.bytes = 0
		for left := *drained; left > 0; left -= perSet {
			s.put(min(left, perSet))
		}
		before := s.snapshots("shop.orders")
		b.StartTimer()
		r := s.drain()
		changes := float64(*drained)
		b.ReportMetric(changes/r.Duration.Seconds(), "changes/s")
		b.ReportMetric(r.CPU.Seconds()/changes*1e6, "cpu-s/M")
		b.ReportMetric(changes/float64(s.snapshots("shop.orders")-before), "changes/commit")
		b.ReportMetric(float64(s.bytes)/changes, "bytes/change")
	}
	b.ReportMetric(float64(s.function.Peak())/1e6, "peak-MB")
}

// BenchmarkInitialLoad has the same function drain new orders, as a source's snapshot has them, into an empty table. It also
// tells how often a row is written, and how large the files are in the end.
func BenchmarkInitialLoad(b *testing.B) {
	s := newStream(b, "drain", 0)
	for left := *loaded; left > 0; left -= perSet {
		s.send(s.changes.Inserts(min(left, perSet)))
	}
	for b.Loop() {
		r := s.drain()
		rows := float64(*loaded)
		b.ReportMetric(rows/r.Duration.Seconds(), "rows/s")
		b.ReportMetric(r.CPU.Seconds()/rows*1e6, "cpu-s/M")
		t, err := s.lake.Load(b.Context(), "shop.orders")
		s.must(err)
		var written, size int
		for _, snapshot := range t.Metadata().Snapshots() {
			n, err := strconv.Atoi(snapshot.Summary.Properties["added-records"])
			s.must(err)
			written += n
			size, err = strconv.Atoi(snapshot.Summary.Properties["total-files-size"])
			s.must(err)
		}
		files, _, err := s.lake.Files(b.Context(), "shop.orders")
		s.must(err)
		b.ReportMetric(float64(written)/rows, "written/row")
		b.ReportMetric(float64(size)/float64(files)/1e6, "MB/file")
		b.ReportMetric(float64(len(t.Metadata().Snapshots())), "commits")
	}
	b.ReportMetric(float64(s.function.Peak())/1e6, "peak-MB")
}

// BenchmarkMergeEvents has the other function, merge, apply the same changes, in events of 6 MB that an event source mapping makes.
// CPU is that of its process, the rate that of the time in which it had an event.
//
// The mark is for -changes=1000000 -rows=5000000.
func BenchmarkMergeEvents(b *testing.B) {
	s := newStream(b, "merge", *held)
	s.put(10_000)
	s.deliver()
	for b.Loop() {
		for left := *drained; left > 0; left -= perSet {
			s.put(min(left, perSet))
		}
		before := s.snapshots("shop.orders")
		cpu, duration := s.deliver()
		changes := float64(*drained)
		b.ReportMetric(changes/duration.Seconds(), "changes/s")
		b.ReportMetric(cpu.Seconds()/changes*1e6, "cpu-s/M")
		b.ReportMetric(changes/float64(s.snapshots("shop.orders")-before), "changes/commit")
	}
	b.ReportMetric(float64(s.function.Peak())/1e6, "peak-MB")
}

// deliver has an event source mapping give the function all there is.
func (s *stream) deliver() (cpu, duration time.Duration) {
	s.Helper()
	ctx, fail := context.WithCancelCause(s.Context())
	defer fail(nil)
	m := &source.Mapping{
		Brokers: []string{s.parts.Kafka}, Topic: "orders", Group: "merge", BatchSize: 10_000, Window: 300 * time.Millisecond,
		Invoke: func(ctx context.Context, event []byte) error {
			r, err := s.function.Invoke(ctx, event)
			if err == nil && r.FunctionError != nil {
				err = r.FunctionError
			}
			if err != nil {
				fail(err)
			}
			cpu, duration = cpu+r.CPU, duration+r.Duration
			return err
		},
	}
	ends, err := s.broker.EndOffsets(ctx, m.Topic)
	s.must(err)
	ended := make(chan error, 1)
	go func() { ended <- m.Run(ctx) }()
	err = m.Drained(ctx, ends)
	s.must(cmp.Or(context.Cause(ctx), err))
	fail(nil)
	s.must(<-ended)
	return cpu, duration
}

// stream is a topic of changes, and a function that applies it.
type stream struct {
	*world
	broker   *broker.Client
	changes  *shop.Changes
	bytes    int // of what was produced
	function *lambda.Function
}

// newStream makes both, with a table of so many rows.
func newStream(b *testing.B, function string, rows int) *stream {
	b.Helper()
	s := &stream{world: newWorld(b)}
	base, err := &shop.Base{Key: shop.Long}, error(nil)
	if rows > 0 {
		base, err = shop.Write(b.Context(), s.lake, "base.orders", rows, 10, shop.Long)
	}
	s.must(err)
	s.must(base.Create(b.Context(), s.lake, "shop.orders", 3, nil))
	s.changes = shop.NewChanges(base, shop.Uniform)
	s.broker, err = broker.NewClient(s.parts.Kafka)
	s.must(err)
	b.Cleanup(s.broker.Close)
	s.topic("orders", spread)
	bootstrap, err := demo.BuildFunction(b.Context(), function, b.TempDir())
	s.must(err)
	main := s.parts.CatalogConfig()
	document := fmt.Sprintf("FRAZIL_CONFIG={catalogs: {main: {uri: %q, warehouse: %q}}, sources: {main: {brokers: [%q]}}, "+
		"routes: [{topics: [orders], format: debezium, table: \"main:shop.orders\"}]}", main.URI, main.Warehouse, s.parts.Kafka)
	s.function, err = lambda.Start(context.Background(), lambda.Options{
		Bootstrap: bootstrap, Name: function, MemoryMB: *memory, Timeout: 15 * time.Minute, Env: append(s.parts.Env(), document), Log: io.Discard,
	})
	s.must(err)
	b.Cleanup(s.function.Close)
	return s
}

// put produces so many changes, all of a key to one partition.
func (s *stream) put(n int) { s.send(s.changes.Next(n)) }

func (s *stream) send(set *shop.Set) {
	s.Helper()
	var records []*kgo.Record
	for key, value := range set.Records(shop.Debezium) {
		s.bytes += len(key) + len(value)
		records = append(records, &kgo.Record{Topic: "orders", Key: key, Value: value, Partition: int32(crc32.ChecksumIEEE(key) % spread)})
	}
	_, err := s.broker.Produce(s.Context(), records...)
	s.must(err)
}

func (s *stream) drain() lambda.Result {
	s.Helper()
	r, err := s.function.Invoke(s.Context(), []byte(`{}`))
	s.must(err)
	if r.FunctionError != nil {
		s.Fatal(r.FunctionError)
	}
	return r
}
