package ingest_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"
	"github.com/frazil/frazil/internal/coerce"
	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/envelope"
	"github.com/frazil/frazil/internal/ingest"
	"github.com/frazil/frazil/internal/kafka"
	"github.com/frazil/frazil/internal/kafkaevent"
	"github.com/frazil/frazil/internal/local/lake"
	"github.com/frazil/frazil/internal/local/source"
	"github.com/frazil/frazil/internal/local/stack"
	"github.com/frazil/frazil/internal/merge"
	"github.com/frazil/frazil/internal/rows"
	"github.com/frazil/frazil/internal/wire"
	"github.com/twmb/franz-go/pkg/kgo"
)

// orders is a table as a shop has it, and the Debezium envelope of a row of it.
var orders = lake.Spec{
	Name: "shop.orders", Key: []string{"id"},
	Columns: []lake.Column{
		{Name: "id", Type: "long", Required: true}, {Name: "customer", Type: "string"}, {Name: "amount", Type: "decimal(12,2)"},
		{Name: "quantity", Type: "int"}, {Name: "note", Type: "string"}, {Name: "created", Type: "timestamp"},
	},
}

func debezium(id int64, op string) string {
	return fmt.Sprintf(`{"before":null,"after":{"id":%d,"customer":"customer-%d","amount":"AY/J","quantity":%d,"note":"left at the door of the neighbour","created":%d},`+
		`"source":{"version":"3.2.0.Final","connector":"postgresql","name":"shop","ts_ms":1709618828200,"snapshot":"false","db":"shop","sequence":"[\"28165912\",\"28183080\"]",`+
		`"ts_us":1709618828200000,"ts_ns":1709618828200000000,"schema":"public","table":"orders","txId":512,"lsn":%d,"xmin":null},`+
		`"transaction":null,"op":%q,"ts_ms":1709618828300,"ts_us":1709618828300111,"ts_ns":1709618828300111000}`,
		id, id%1000, id%7, 1709618828123456+id, 28183080+id, op)
}

func orderRoute() config.Route {
	c, err := config.Parse([]byte(`
catalogs: {main: {uri: "http://localhost"}}
routes: [{topics: [shop.public.orders], format: debezium, table: "main:shop.orders", decimal_encoding: base64, timestamp_unit: us}]`))
	if err != nil {
		panic(err)
	}
	return c.Routes[0]
}

// fullEvent is an event as large as Lambda lets it be: six partitions, 2 % tombstones.
func fullEvent(b *testing.B) (event []byte, n int) {
	b.Helper()
	var records []*kgo.Record
	for ; ; n++ {
		r := &kgo.Record{
			Topic: "shop.public.orders", Partition: int32(n % 6), Offset: int64(n / 6), Timestamp: time.UnixMilli(1709618828123),
			Key: []byte(fmt.Sprintf(`{"id":%d}`, n)), Value: []byte(debezium(int64(n), "u")),
		}
		if n%50 == 49 {
			r.Value = nil
		}
		records = append(records, r)
		if n%500 != 499 {
			continue
		}
		next, err := source.Event(records, source.Origin{Brokers: "b-1:9098"})
		if err != nil {
			return event, n
		}
		event = next
	}
}

// BenchmarkEvent is what an invocation does before it needs the table: scan, decode and coerce a full event.
func BenchmarkEvent(b *testing.B) {
	event, n := fullEvent(b)
	schema, err := rows.NewSchema(icebergSchema(b), []string{"id"})
	if err != nil {
		b.Fatal(err)
	}
	decoder, err := envelope.New("debezium", envelope.Options{Wrapper: wire.Auto})
	if err != nil {
		b.Fatal(err)
	}
	table, err := coerce.New(schema, orderRoute(), true)
	if err != nil {
		b.Fatal(err)
	}
	payload := make([]byte, len(event))
	b.SetBytes(int64(len(event)))
	b.ReportAllocs()
	for b.Loop() {
		copy(payload, event) // scanning decodes in place
		e, err := kafkaevent.Scan(payload)
		if err != nil {
			b.Fatal(err)
		}
		batch := rows.NewBatch(schema)
		for i := range e.Records {
			r := &e.Records[i]
			c, control, err := decoder.Decode(r)
			if err == nil && control == "" {
				err = table.Add(batch, c)
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(n), "records/op")
}

func icebergSchema(b *testing.B) *iceberg.Schema {
	b.Helper()
	var fields []iceberg.NestedField
	types := map[string]iceberg.Type{
		"long": iceberg.PrimitiveTypes.Int64, "string": iceberg.PrimitiveTypes.String, "int": iceberg.PrimitiveTypes.Int32,
		"timestamp": iceberg.PrimitiveTypes.Timestamp, "decimal(12,2)": iceberg.DecimalTypeOf(12, 2),
	}
	for i, c := range orders.Columns {
		fields = append(fields, iceberg.NestedField{ID: i + 1, Name: c.Name, Type: types[c.Type], Required: c.Required})
	}
	return iceberg.NewSchema(0, fields...)
}

// BenchmarkPlan reduces ten thousand changes to one effect per key.
func BenchmarkPlan(b *testing.B) {
	schema, err := rows.NewSchema(icebergSchema(b), []string{"id"})
	if err != nil {
		b.Fatal(err)
	}
	batch := rows.NewBatch(schema)
	r := rand.New(rand.NewPCG(1, 2))
	var key rows.Parts
	for range 10_000 {
		key.Reset()
		key.Int(r.Int64N(5000))
		batch.Put(batch.Keys.Intern(&key), make([]rows.Cell, len(schema.Columns)))
	}
	b.ReportAllocs()
	for b.Loop() {
		if p := merge.Make(batch); len(p.Effects) == 0 {
			b.Fatal("no effects")
		}
	}
}

// BenchmarkCommit applies a thousand keys (70 % updates, 20 % inserts, 10 % deletes) to a million rows in ten files, on a
// store and a catalog behind HTTP on this machine, by each encoding of deletes. Every commit adds to the table, as in life.
func BenchmarkCommit(b *testing.B) {
	for _, c := range []struct {
		deletes string
		version int
	}{{"position", 2}, {"position", 3}, {"rewrite", 2}, {"rewrite", 3}, {"equality", 2}} {
		b.Run(fmt.Sprintf("%s-v%d", c.deletes, c.version), func(b *testing.B) { benchmarkCommit(b, c.deletes, c.version) })
	}
}

func benchmarkCommit(b *testing.B, deletes string, version int) {
	parts, err := stack.Start(false)
	if err != nil {
		b.Fatal(err)
	}
	defer parts.Close()
	const files, perFile = 10, 100_000
	prepare(b, parts, files, perFile, version)
	route := orderRoute()
	route.Deletes = deletes
	p, err := ingest.New(&config.Config{Catalogs: map[string]config.Catalog{"main": parts.CatalogConfig()}, Routes: []config.Route{route}},
		slog.New(slog.NewTextHandler(io.Discard, nil)))
	if err != nil {
		b.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	part := &kafka.Partition{Source: "main", Topic: "shop.public.orders"}
	offset, next := int64(0), int64(files*perFile)
	b.ReportAllocs()
	for b.Loop() {
		var records []kafka.Record
		for i := range 1000 {
			id, op := r.Int64N(files*perFile), "u"
			rec := kafka.Record{Part: part, Offset: offset, Time: 1709618828123 + offset}
			switch {
			case i%10 < 2:
				id, op = next, "c"
				next++
			case i%10 == 2:
				op = "d"
			}
			rec.Key = []byte(fmt.Sprintf(`{"id":%d}`, id))
			if op != "d" {
				rec.Value = []byte(debezium(id, op))
			}
			records = append(records, rec)
			offset++
		}
		if err := p.Deliver(context.Background(), records); err != nil {
			b.Fatal(err)
		}
	}
}

func prepare(b *testing.B, parts *stack.Stack, files, perFile, version int) {
	b.Helper()
	l, err := lake.Open(b.Context(), parts.CatalogConfig())
	if err != nil {
		b.Fatal(err)
	}
	spec := orders
	spec.Version = version
	if err := l.Create(b.Context(), spec); err != nil {
		b.Fatal(err)
	}
	for f := range files {
		t, err := l.Load(b.Context(), orders.Name)
		if err != nil {
			b.Fatal(err)
		}
		schema, err := table.SchemaToArrowSchema(t.Schema(), nil, true, false)
		if err != nil {
			b.Fatal(err)
		}
		rb := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		for i := range perFile {
			id := int64(i*files + f) // every file spans all keys: bounds prune nothing
			rb.Field(0).(*array.Int64Builder).Append(id)
			for _, c := range rb.Fields()[1:] {
				c.AppendNull()
			}
		}
		reader, err := array.NewRecordReader(schema, []arrow.RecordBatch{rb.NewRecordBatch()})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := t.Append(b.Context(), reader, nil); err != nil {
			b.Fatal(err)
		}
	}
}
