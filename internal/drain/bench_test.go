package drain_test

import (
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
	"github.com/twmb/franz-go/pkg/kgo"
)

var (
	drained = flag.Int("changes", 200_000, "that BenchmarkDrain drains")
	loaded  = flag.Int("load", 200_000, "rows that BenchmarkInitialLoad loads")
	held    = flag.Int("rows", 1_000_000, "of the table that BenchmarkDrain drains into")
)

const (
	spread   = 12
	memoryMB = 512
	perSet   = 50_000 // changes of different keys
)

// BenchmarkDrain has the function drain Debezium's changes (70 % updates, 20 % inserts, 10 % deletes) of twelve partitions into a
// table in ten files, whose keys it holds already. The function is a process of its own with 512 MB: CPU and the peak of its
// memory are its alone. Broker, store and catalog run beside it on the same cores, so the rate is theirs too.
//
// The marks are for -changes=1000000 -rows=5000000.
func BenchmarkDrain(b *testing.B) {
	s := newStream(b, *held)
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
	s := newStream(b, 0)
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

// stream is a topic of changes, and the function that drains it.
type stream struct {
	*world
	broker   *broker.Client
	changes  *shop.Changes
	bytes    int // of what was produced
	function *lambda.Function
}

// newStream makes both, with a table of so many rows.
func newStream(b *testing.B, rows int) *stream {
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
	bootstrap, err := demo.BuildFunction(b.Context(), "drain", b.TempDir())
	s.must(err)
	main := s.parts.CatalogConfig()
	document := fmt.Sprintf("FRAZIL_CONFIG={catalogs: {main: {uri: %q, warehouse: %q}}, sources: {main: {brokers: [%q]}}, "+
		"routes: [{topics: [orders], format: debezium, table: \"main:shop.orders\"}]}", main.URI, main.Warehouse, s.parts.Kafka)
	s.function, err = lambda.Start(context.Background(), lambda.Options{
		Bootstrap: bootstrap, Name: "drain", MemoryMB: memoryMB, Timeout: 15 * time.Minute, Env: append(s.parts.Env(), document), Log: io.Discard,
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
