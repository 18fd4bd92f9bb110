package maintain_test

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/iceberg-go/table"
	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/ingest"
	"github.com/frazil/frazil/internal/kafka"
	"github.com/frazil/frazil/internal/local/catalog"
	"github.com/frazil/frazil/internal/local/lake"
	"github.com/frazil/frazil/internal/local/stack"
	"github.com/frazil/frazil/internal/maintain"
	"github.com/frazil/frazil/internal/warehouse"
)

// world is a store and a catalog with a table, that a pipeline writes.
type world struct {
	testing.TB
	parts  *stack.Stack
	lake   *lake.Lake
	config *config.Config
	writer *ingest.Pipeline
	part   *kafka.Partition
	offset int64
}

const name = "shop.orders"

// careless is a table whose writer cares for no file: everything is left to maintain.
var careless = map[string]string{
	"frazil.care.half-dead": "false", "frazil.care.dead-files": "false", "frazil.care.levels": "false", "frazil.care.manifests": "false",
}

func orders(version int, more map[string]string) lake.Spec {
	properties := maps.Clone(careless)
	properties["write.target-file-size-bytes"] = "100000"
	maps.Copy(properties, more)
	return lake.Spec{
		Name: name, Version: version, Key: []string{"id"}, Properties: properties,
		Columns: []lake.Column{{Name: "id", Type: "long", Required: true}, {Name: "n", Type: "int"}},
	}
}

func newWorld(t testing.TB, spec lake.Spec, deletes, policy string) *world {
	t.Helper()
	w := withoutTable(t, deletes, policy)
	w.must(w.lake.Create(t.Context(), spec))
	return w
}

func withoutTable(t testing.TB, deletes, policy string) *world {
	t.Helper()
	parts, err := stack.StartLake()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(parts.Close)
	w := &world{TB: t, parts: parts, part: &kafka.Partition{Source: kafka.MainSource, Topic: "orders"}}
	w.lake, err = lake.Open(t.Context(), parts.CatalogConfig())
	w.must(err)
	w.config, err = stack.Configure(parts.CatalogConfig(), fmt.Sprintf(
		"routes: [{topics: [orders], format: flat, table: \"main:shop.orders\", deletes: %s}]\nmaintain: {\"*\": %s}", deletes, policy))
	w.must(err)
	w.writer = w.pipeline()
	return w
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) pipeline() *ingest.Pipeline {
	w.Helper()
	p, err := ingest.New(w.config, slog.New(slog.DiscardHandler))
	w.must(err)
	return p
}

// put delivers rows of the given ids, each with n, as one commit; a negative id deletes its row.
func (w *world) put(n int, ids ...int) {
	w.Helper()
	var records []kafka.Record
	for _, id := range ids {
		r := kafka.Record{Part: w.part, Offset: w.offset, Time: 1_700_000_000_000 + w.offset, Key: fmt.Appendf(nil, `{"id":%d}`, max(id, -id))}
		if id > 0 {
			r.Value = fmt.Appendf(nil, `{"id":%d,"n":%d}`, id, n)
		}
		records = append(records, r)
		w.offset++
	}
	w.must(w.writer.Deliver(w.Context(), records))
}

func (w *world) maintain() *maintain.Maintain {
	w.Helper()
	m, err := maintain.New(w.Context(), w.config, slog.New(slog.DiscardHandler))
	w.must(err)
	return m
}

func (w *world) run() {
	w.Helper()
	w.must(w.maintain().Run(w.Context(), nil))
}

// runLater is a run some time from now.
func (w *world) runLater(d time.Duration) {
	w.Helper()
	m := w.maintain()
	m.Now = func() time.Time { return time.Now().Add(d) }
	w.must(m.Run(w.Context(), nil))
}

// beforeCommit has something happen when the next commit has arrived and nothing is done about it yet.
func (w *world) beforeCommit(do func()) {
	w.parts.Catalog.SetFault(catalog.Once(catalog.OpCommitTable, func() catalog.Fault {
		do()
		return catalog.Fault{}
	}))
}

func (w *world) load() *table.Table {
	w.Helper()
	t, err := w.lake.Load(w.Context(), name)
	w.must(err)
	return t
}

func (w *world) snapshots() int { return len(w.load().Metadata().Snapshots()) }

func (w *world) operation() table.Operation { return w.load().CurrentSnapshot().Summary.Operation }

// wantRows compares the table with rows as id=n.
func (w *world) wantRows(want ...string) {
	w.Helper()
	_, rows, err := w.lake.Rows(w.Context(), name)
	w.must(err)
	var got []string
	for _, r := range rows {
		got = append(got, r["id"]+"="+r["n"])
	}
	slices.Sort(got)
	if slices.Sort(want); !slices.Equal(got, want) {
		w.Errorf("the table has %q, want %q", got, want)
	}
}

func (w *world) wantFiles(data, deletes int) {
	w.Helper()
	gotData, gotDeletes, err := w.lake.Files(w.Context(), name)
	w.must(err)
	if gotData != data || gotDeletes != deletes {
		w.Errorf("%d data and %d delete files, want %d and %d", gotData, gotDeletes, data, deletes)
	}
}

// lineage are the rows with ids and the sequence numbers of their last changes.
func (w *world) lineage() []string {
	w.Helper()
	rows, err := w.lake.Lineage(w.Context(), name)
	w.must(err)
	var out []string
	for _, r := range rows {
		out = append(out, fmt.Sprint(r))
	}
	slices.Sort(out)
	return out
}

// objects are the keys of the table's files in the store.
func (w *world) objects(folder string) (out []string) {
	for _, key := range w.parts.Objects.Keys(stack.Bucket, "") {
		if strings.Contains(key, "/"+folder+"/") && !strings.HasSuffix(key, ".metadata.json") {
			out = append(out, key)
		}
	}
	return out
}

// flat is a delivery of one row.
func (w *world) flat(offset int64, id int) []kafka.Record {
	return []kafka.Record{{Part: w.part, Offset: offset, Time: 1_700_000_000_000 + offset, Value: fmt.Appendf(nil, `{"id":%d,"n":1}`, id)}}
}

// properties are those of a text as name=value.
func properties(text string) map[string]string {
	if key, value, ok := strings.Cut(text, "="); ok {
		return map[string]string{key: value}
	}
	return nil
}

// refer points a branch or tag at a snapshot; 0 leaves an age (in milliseconds) or a number of snapshots unsaid.
func (w *world) refer(ref string, snapshot int64, kind table.RefType, age int64, keep int) {
	w.Helper()
	open, err := warehouse.Open(w.Context(), "main", w.parts.CatalogConfig())
	w.must(err)
	t, err := open.Load(w.Context(), strings.Split(name, "."))
	w.must(err)
	_, err = open.Commit(w.Context(), t, nil, []table.Update{table.NewSetSnapshotRefUpdate(ref, snapshot, kind, age, 0, keep)})
	w.must(err)
}
