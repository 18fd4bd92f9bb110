package maintain_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/frazil/frazil/internal/kafka"
	"github.com/frazil/frazil/internal/local/demo"
	"github.com/frazil/frazil/internal/local/lake"
	"github.com/frazil/frazil/internal/local/lambda"
	"github.com/frazil/frazil/internal/local/shop"
)

var (
	compacted = flag.Int("rows", 200_000, "of the tables that BenchmarkCompact compacts; of those of long texts a tenth")
	apart     = flag.Int("files", 40, "that they are in")
	memoryMB  = flag.Int("memory", 512, "of the function that compacts them, in MB")
)

// all is the policy of a run that leaves nothing.
const all = `{compact: {files: 2, dead: 1%}, budget: {bytes: 100GB, time: 14m}}`

// BenchmarkCompact has the function compact a table of many small files, one row in twenty of which is dead by deletion vectors. The
// function is a process of its own, which does nothing else: CPU and the peak of its memory are its alone. Store and catalog run
// beside it on the same cores, so the rate is theirs too. MB and GB are those of the files that are read.
//
// The marks are for -rows=4000000 -files=200.
func BenchmarkCompact(b *testing.B) {
	for _, table := range []struct {
		name string
		fill func(*world)
	}{
		{"unsorted", func(w *world) { w.shop() }},
		{"sorted", func(w *world) { w.shop("customer_id") }},
		{"text", (*world).texts},
	} {
		b.Run(table.name, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				w := withoutTable(b, "position", all)
				table.fill(w)
				function := w.function()
				b.StartTimer()
				w.compact(b, function)
				function.Close()
			}
		})
	}
}

// compact has the function compact the table, and gives the figures of that.
func (w *world) compact(b *testing.B, function *lambda.Function) {
	_, read := w.files()
	r, err := function.Invoke(b.Context(), []byte("{}"))
	w.must(err)
	if r.FunctionError != nil {
		b.Fatal(r.FunctionError)
	}
	after, size := w.files()
	if _, deletes, err := w.lake.Files(b.Context(), name); err != nil || deletes > 0 {
		b.Fatalf("%d delete files are left, %v", deletes, err)
	}
	b.ReportMetric(read/1e6, "MB")
	b.ReportMetric(read/1e6/r.Duration.Seconds(), "MB/s")
	b.ReportMetric(r.CPU.Seconds()/read*1e9, "cpu-s/GB")
	b.ReportMetric(float64(function.Peak())/1e6, "peak-MB")
	b.ReportMetric(size/1e6/float64(after), "MB/file")
}

// files is how many data files the table has, and their bytes.
func (w *world) files() (n int, size float64) {
	w.Helper()
	n, _, err := w.lake.Files(w.Context(), name)
	w.must(err)
	_, err = fmt.Sscan(w.load().CurrentSnapshot().Summary.Properties["total-files-size"], &size)
	w.must(err)
	return n, size
}

// function is the function, for the table.
func (w *world) function() *lambda.Function {
	w.Helper()
	bootstrap, err := demo.BuildFunction(w.Context(), "maintain", w.TempDir())
	w.must(err)
	main := w.parts.CatalogConfig()
	document := fmt.Sprintf("FRAZIL_CONFIG={catalogs: {main: {uri: %q, warehouse: %q}}, "+
		"routes: [{topics: [orders], format: flat, table: \"main:%s\"}], maintain: {\"*\": %s}}", main.URI, main.Warehouse, name, all)
	f, err := lambda.Start(context.WithoutCancel(w.Context()), lambda.Options{
		Bootstrap: bootstrap, MemoryMB: *memoryMB, Timeout: 15 * time.Minute, Env: append(w.parts.Env(), document), Log: io.Discard,
	})
	w.must(err)
	return f
}

// shop makes a table of a shop's orders, sorted by some columns from now on.
func (w *world) shop(order ...string) {
	w.Helper()
	base, err := shop.Write(w.Context(), w.lake, "base.orders", *compacted, *apart, shop.Long)
	w.must(err)
	w.must(base.Create(w.Context(), w.lake, name, 3, careless))
	if len(order) > 0 {
		w.must(w.lake.Resort(w.Context(), name, order))
	}
	changes := shop.NewChanges(base, shop.Uniform).Next(*compacted / 16)
	var records []kafka.Record
	for key, value := range changes.Records(shop.Flat) {
		records = append(records, w.record(key, value))
	}
	w.must(w.writer.Deliver(w.Context(), records))
}

// texts makes a table of which nearly all bytes are those of one column: of words, a kilobyte in each row.
func (w *world) texts() {
	w.Helper()
	w.must(w.lake.Create(w.Context(), lake.Spec{
		Name: name, Version: 3, Key: []string{"id"}, Properties: careless,
		Columns: []lake.Column{{Name: "id", Type: "long", Required: true}, {Name: "text", Type: "string"}},
	}))
	r := rand.New(rand.NewPCG(1, 2))
	put := func(id int) kafka.Record {
		text := fmt.Appendf(nil, `{"id":%d,"text":"`, id)
		for range 128 {
			text = fmt.Appendf(text, "%07x ", uint32(r.IntN(1024))*2_654_435_761>>4)
		}
		return w.record(nil, append(text, `"}`...))
	}
	rows := *compacted / 10
	for file := range *apart {
		var records []kafka.Record
		for id := file; id < rows; id += *apart {
			records = append(records, put(id))
		}
		w.must(w.writer.Deliver(w.Context(), records))
	}
	var records []kafka.Record
	for id := 0; id < rows; id += 20 {
		records = append(records, put(id))
	}
	w.must(w.writer.Deliver(w.Context(), records))
}

// record is the next record, of a key that may be its value's.
func (w *world) record(key, value []byte) kafka.Record {
	r := kafka.Record{Part: w.part, Offset: w.offset, Time: 1_700_000_000_000 + w.offset, Key: bytes.Clone(key), Value: bytes.Clone(value)}
	if w.offset++; len(value) == 0 {
		r.Value = nil
	}
	return r
}
