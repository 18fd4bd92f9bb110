package ingest_test

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"testing"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/catalog/rest"
	"github.com/apache/iceberg-go/table"
	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/ingest"
	"github.com/frazil/frazil/internal/kafka"
	"github.com/frazil/frazil/internal/ledger"
	"github.com/frazil/frazil/internal/local/audit"
	"github.com/frazil/frazil/internal/local/catalog"
	"github.com/frazil/frazil/internal/local/lake"
	"github.com/frazil/frazil/internal/local/objectio"
	"github.com/frazil/frazil/internal/local/objects"
	"github.com/frazil/frazil/internal/local/stack"
	"github.com/frazil/frazil/internal/warehouse"
)

// world is a store and a catalog of one test, with a table in it and what reads it.
type world struct {
	testing.TB
	parts   *stack.Stack
	objects *objects.Server
	catalog *catalog.Server
	client  *rest.Catalog
	lake    *lake.Lake
	config  *config.Config
	name    string // of the table

	processes int // that were begun with a memory of their own
}

var shopOrders = lake.Spec{
	Name:    "shop.orders",
	Columns: []lake.Column{{Name: "id", Type: "long", Required: true}, {Name: "n", Type: "int"}},
	Key:     []string{"id"},
}

// leftAlone is a table whose data files stay, whatever dies in them.
func leftAlone(spec lake.Spec) lake.Spec {
	spec.Properties = map[string]string{"frazil.care.half-dead": "false", "frazil.care.dead-files": "false"}
	return spec
}

// newWorld makes the table, with rows that another writer loaded, and the configuration of one route to it.
func newWorld(t testing.TB, spec lake.Spec, route string, rows ...lake.Row) *world {
	t.Helper()
	parts, err := stack.StartLake()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(parts.Close)
	w, main := &world{TB: t, parts: parts, objects: parts.Objects, catalog: parts.Catalog, name: spec.Name}, parts.CatalogConfig()
	open, err := warehouse.Open(t.Context(), "main", main)
	w.must(err)
	w.client = open.Catalog()
	w.lake, err = lake.Open(t.Context(), main)
	w.must(err)
	w.must(w.lake.Create(t.Context(), spec))
	if len(rows) > 0 {
		w.must(w.lake.Append(t.Context(), spec.Name, rows))
	}
	w.config, err = stack.Configure(main, fmt.Sprintf("routes: [{table: \"main:%s\", %s}]", spec.Name, route))
	w.must(err)
	return w
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// pipeline is what one process holds.
func (w *world) pipeline() *ingest.Pipeline {
	w.Helper()
	p, err := ingest.New(w.config, slog.New(slog.NewTextHandler(io.Discard, nil)))
	w.must(err)
	return p
}

// flat is a record of topic orders that puts a row.
func flat(part *kafka.Partition, offset int64, value string) kafka.Record {
	return kafka.Record{Part: part, Offset: offset, Time: 1_700_000_000_000 + offset, Value: []byte(value)}
}

// gone is a tombstone.
func gone(part *kafka.Partition, offset int64, key string) kafka.Record {
	return kafka.Record{Part: part, Offset: offset, Time: 1_700_000_000_000 + offset, Key: []byte(key)}
}

func partition(n int32) *kafka.Partition {
	return &kafka.Partition{Source: kafka.MainSource, Topic: "orders", Number: n}
}

// once makes the next commit meet a fault.
func (w *world) once(f catalog.Fault) {
	w.catalog.SetFault(catalog.Once(catalog.OpCommitTable, func() catalog.Fault { return f }))
}

// beforeCommit runs f once, when the next commit's request has arrived and nothing is done about it yet.
func (w *world) beforeCommit(f func()) {
	w.catalog.SetFault(catalog.Once(catalog.OpCommitTable, func() catalog.Fault {
		f()
		return catalog.Fault{}
	}))
}

func (w *world) load() *table.Table {
	w.Helper()
	t, err := w.lake.Load(w.Context(), w.name)
	w.must(err)
	return t
}

// rows are the table's rows as "column=value …", sorted.
func (w *world) rows() []string {
	w.Helper()
	out, err := w.lake.Lines(w.Context(), w.name)
	w.must(err)
	return out
}

func (w *world) wantRows(want ...string) {
	w.Helper()
	if got := w.rows(); !slices.Equal(got, want) {
		w.Errorf("the table has %q, want %q", got, want)
	}
}

func (w *world) wantSnapshots(want int) {
	w.Helper()
	if got := len(w.load().Metadata().Snapshots()); got != want {
		w.Errorf("%d snapshots, want %d", got, want)
	}
}

// next is the ledger's next offset by partition of topic orders.
func (w *world) next() map[int32]int64 {
	w.Helper()
	l, err := ledger.Read(w.load().Properties())
	w.must(err)
	out := map[int32]int64{}
	for _, t := range l.Topics() {
		for p, m := range t.Marks {
			out[p] = m.Next
		}
	}
	return out
}

// live counts what iceberg-go finds in the manifests of a snapshot.
type live struct{ dataFiles, deleteFiles, records, positionDeletes, size int64 }

func (w *world) count(s *table.Snapshot) (n live) {
	w.Helper()
	for _, e := range w.entries(s) {
		f := e.DataFile()
		n.size += f.FileSizeBytes()
		if f.ContentType() == iceberg.EntryContentData {
			n.dataFiles++
			n.records += f.Count()
		} else {
			n.deleteFiles++
			n.positionDeletes += f.Count()
		}
	}
	return n
}

func (w *world) entries(s *table.Snapshot) (all []iceberg.ManifestEntry) {
	w.Helper()
	for _, m := range w.manifests(s) {
		for e, err := range m.Entries(objectio.New(w.objects), true) {
			w.must(err)
			all = append(all, e)
		}
	}
	return all
}

// audit says what is wrong with the table and its files.
func (w *world) audit() *audit.Report {
	w.Helper()
	report, err := audit.New(w.lake, w.objects, w.name).Audit(w.Context())
	w.must(err)
	return report
}

// manifests are those that a snapshot lists.
func (w *world) manifests(s *table.Snapshot) []iceberg.ManifestFile {
	w.Helper()
	list, err := s.Manifests(objectio.New(w.objects))
	w.must(err)
	return list
}

func deliver(ctx context.Context, p *ingest.Pipeline, records ...kafka.Record) error {
	slices.SortStableFunc(records, func(a, b kafka.Record) int {
		return cmp.Or(cmp.Compare(a.Part.Number, b.Part.Number), cmp.Compare(a.Offset, b.Offset))
	})
	return p.Deliver(ctx, records)
}
