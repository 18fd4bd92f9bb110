package coerce_test

import (
	"fmt"
	"syscall"
	"testing"

	"github.com/apache/iceberg-go"
	"github.com/frazil/frazil/internal/coerce"
	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/envelope"
	"github.com/frazil/frazil/internal/kafka"
	"github.com/frazil/frazil/internal/rows"
)

// BenchmarkAdd makes rows of a batch out of records of Debezium: updates of an order of thirteen columns.
func BenchmarkAdd(b *testing.B) {
	const records = 10_000
	var fields []iceberg.NestedField
	for i, f := range []iceberg.NestedField{
		{Name: "order_id", Type: prim.Int64, Required: true}, {Name: "customer_id", Type: prim.Int64}, {Name: "status", Type: prim.String},
		{Name: "country", Type: prim.String}, {Name: "sku", Type: prim.String}, {Name: "quantity", Type: prim.Int32},
		{Name: "amount", Type: iceberg.DecimalTypeOf(12, 2)}, {Name: "tax", Type: iceberg.DecimalTypeOf(12, 2)},
		{Name: "created_at", Type: prim.TimestampTz}, {Name: "updated_at", Type: prim.TimestampTz}, {Name: "gift", Type: prim.Bool},
		{Name: "address", Type: prim.String}, {Name: "note", Type: prim.String},
	} {
		f.ID = i + 1
		fields = append(fields, f)
	}
	schema, err := rows.NewSchema(iceberg.NewSchema(0, fields...), []string{"order_id"})
	if err != nil {
		b.Fatal(err)
	}
	table, err := coerce.New(schema, config.Route{}, true)
	if err != nil {
		b.Fatal(err)
	}
	decoder, err := envelope.New("debezium", envelope.Options{})
	if err != nil {
		b.Fatal(err)
	}
	list := make([]kafka.Record, records)
	size := 0
	for i := range list {
		r := &list[i]
		r.Key = fmt.Appendf(nil, `{"order_id":%d}`, i*97)
		r.Value = fmt.Appendf(nil, `{"before":null,"after":{"order_id":%d,"customer_id":%d,"status":"delivered","country":"DE","sku":"SKU-%d","quantity":%d,"amount":"%d.%02d","tax":"%d.%02d",`+
			`"created_at":"2025-03-%02dT10:%02d:00.%06dZ","updated_at":"2025-04-%02dT11:%02d:01.%06dZ","gift":%t,"address":"%d Long Street, %x, floor %d","note":"call before arrival; leave with neighbour; deliver to the side door; %x"},`+
			`"source":{"version":"2.7.3.Final","connector":"postgresql","name":"shop","ts_ms":17356896%05d,"snapshot":"false","db":"shop","schema":"public","table":"orders","txId":%d,"lsn":%d,"xmin":null},`+
			`"transaction":null,"op":"u","ts_ms":17356896%05d}`, i*97, i*31%200_000, 10_000_000+i, i%20, i*7919%1_000_000, i%100, i*13%20_000, i*7%100,
			1+i%28, i%60, i*7919%1_000_000, 1+i%28, i%60, i*613%1_000_000, i%10 == 0, i%900, uint64(i)*0x9E3779B97F4A7C15, i%30, uint64(i)*0xC2B2AE3D27D4EB4F, i, i, i*64, i)
		size += len(r.Key) + len(r.Value)
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	before := cpu()
	for b.Loop() {
		batch := rows.NewBatch(schema)
		batch.Reserve(records)
		for i := range list {
			c, _, err := decoder.Decode(&list[i])
			if err == nil {
				err = table.Add(batch, c)
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(cpu()-before)/float64(b.N)/records, "cpu-ns/record")
	b.ReportMetric(float64(size)/records, "B/record")
}

func cpu() int64 {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return u.Utime.Nano() + u.Stime.Nano()
}
