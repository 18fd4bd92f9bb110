package catalog_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/iceberg-go"
	icecatalog "github.com/apache/iceberg-go/catalog"
	"github.com/apache/iceberg-go/table"
	"github.com/frazil/frazil/internal/local/objectio"
	"github.com/google/go-cmp/cmp"
)

func TestPlaceholderSourceIDsBindByTheRequestsSchema(t *testing.T) {
	t.Parallel()
	p := start(t)
	p.send(t, "POST", "namespaces", `{"namespace":["shop"]}`).want(t, "create namespace", response{Status: 200})
	body := `{"name":"orders","schema":{"type":"struct","schema-id":0,"fields":[
		{"id":0,"name":"a","type":"long","required":true},{"id":1,"name":"b","type":"date","required":false}]},
		"partition-spec":{"spec-id":0,"fields":[{"source-id":0,"field-id":1000,"name":"a","transform":"identity"}]},
		"write-order":{"order-id":1,"fields":[{"source-id":1,"transform":"identity","direction":"desc","null-order":"nulls-last"}]}}`
	p.send(t, "POST", "namespaces/shop/tables", body).want(t, "create", response{Status: 200})
	tbl, err := p.client.LoadTable(t.Context(), table.Identifier{"shop", "orders"})
	if err != nil {
		t.Fatal(err)
	}
	partition, _ := tbl.Schema().FindColumnName(specSource(tbl.Spec()))
	sorted, _ := tbl.Schema().FindColumnName(tbl.SortOrder().Field(0).SourceID())
	if diff := cmp.Diff([]string{"a", "b"}, []string{partition, sorted}); diff != "" {
		t.Error(diff)
	}
}

func specSource(spec iceberg.PartitionSpec) int {
	field := spec.Field(0)
	return field.SourceID()
}

func TestStagedTableIsInvisibleUntilItsFirstCommit(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"1", "2", "3"} {
		t.Run("v"+version, func(t *testing.T) {
			t.Parallel()
			p := start(t)
			p.send(t, "POST", "namespaces", `{"namespace":["shop"]}`).want(t, "create namespace", response{Status: 200})
			staged := `{"name":"orders","stage-create":true,"schema":{"type":"struct","fields":[]},"properties":{"format-version":"` + version + `"}}`
			p.send(t, "POST", "namespaces/shop/tables", staged).want(t, "stage", response{Status: 200})
			p.send(t, "HEAD", orders, "").want(t, "exists", response{Status: 404})
			tbl, err := p.client.CreateTable(t.Context(), table.Identifier{"shop", "orders"}, schema,
				icecatalog.WithProperties(iceberg.Properties{"format-version": version}),
				icecatalog.WithStagedUpdates(table.NewSetPropertiesUpdate(iceberg.Properties{"k": "v"})))
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(tbl.Metadata().Version()); got != version || tbl.Properties()["k"] != "v" {
				t.Errorf("format version %s, properties %v", got, tbl.Properties())
			}
			if got := len(tbl.Metadata().Schemas()); got != 1 {
				t.Errorf("%d schemas", got)
			}
		})
	}
}

func TestListingsPage(t *testing.T) {
	t.Parallel()
	p, _ := withTable(t)
	want := []string{"lines", "orders", "parts"}
	for _, name := range []string{"parts", "lines"} {
		if _, err := p.client.CreateTable(t.Context(), table.Identifier{"shop", name}, schema); err != nil {
			t.Fatal(err)
		}
	}
	for _, size := range []int{0, 1, 2, 3} {
		var got []string
		for ident, err := range p.client.ListTables(p.client.SetPageSize(t.Context(), size), table.Identifier{"shop"}) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, ident[1])
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("pages of %d: %s", size, diff)
		}
	}
	first := p.send(t, "GET", "namespaces/shop/tables?pageSize=2", "")
	if !strings.Contains(string(first.body), "next-page-token") {
		t.Errorf("no token: %s", first.body)
	}
}

func TestNamespacesNest(t *testing.T) {
	t.Parallel()
	p := start(t)
	ctx := t.Context()
	for _, ns := range []table.Identifier{{"a"}, {"a", "b c"}, {"a", "b c", "d"}, {"z"}} {
		if err := p.client.CreateNamespace(ctx, ns, nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := p.client.CreateTable(ctx, table.Identifier{"a", "b c", "t"}, schema); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ parent, want []string }{
		{nil, []string{"a", "z"}}, {[]string{"a"}, []string{"a.b c"}}, {[]string{"a", "b c"}, []string{"a.b c.d"}},
	} {
		found, err := p.client.ListNamespaces(ctx, c.parent)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, ns := range found {
			got = append(got, strings.Join(ns, "."))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("below %q: %s", c.parent, diff)
		}
	}
	if err := p.client.DropNamespace(ctx, table.Identifier{"a"}); err == nil {
		t.Error("a namespace with namespaces was dropped")
	}
	if err := p.client.CreateNamespace(ctx, table.Identifier{"no", "parent"}, nil); err == nil {
		t.Error("a namespace without its parent was created")
	}
	if _, err := p.client.LoadTable(ctx, table.Identifier{"a", "b c", "t"}); err != nil {
		t.Error(err)
	}
}

func TestRenameAndRegisterKeepTheTable(t *testing.T) {
	t.Parallel()
	p, tbl := withTable(t)
	ctx := t.Context()
	moved, err := p.client.RenameTable(ctx, table.Identifier{"shop", "orders"}, table.Identifier{"shop", "moved"})
	if err != nil {
		t.Fatal(err)
	}
	p.send(t, "HEAD", orders, "").want(t, "the old name", response{Status: 404})
	registered, err := p.client.RegisterTable(ctx, table.Identifier{"shop", "again"}, moved.MetadataLocation())
	if err != nil {
		t.Fatal(err)
	}
	for _, got := range []*table.Table{moved, registered} {
		if got.Metadata().TableUUID() != tbl.Metadata().TableUUID() {
			t.Errorf("%v has another uuid", got.Identifier())
		}
	}
	if err := p.client.DropTable(ctx, table.Identifier{"shop", "again"}); err != nil {
		t.Error(err)
	}
	rename := `{"source":{"namespace":["shop"],"name":"moved"},"destination":{"namespace":["shop"],"name":"moved"}}`
	p.send(t, "POST", "tables/rename", rename).want(t, "rename to a taken name", exists)
}

func TestCompressedMetadataIsReadable(t *testing.T) {
	t.Parallel()
	p, _ := withTable(t)
	tbl, err := p.client.CreateTable(t.Context(), table.Identifier{"shop", "zipped"}, schema,
		icecatalog.WithProperties(iceberg.Properties{table.MetadataCompressionKey: table.MetadataCompressionCodecGzip}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.client.RegisterTable(t.Context(), table.Identifier{"shop", "again"}, tbl.MetadataLocation()); err != nil {
		t.Error(err)
	}
}

func TestRowsWrittenThroughTheCatalogComeBack(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"2", "3"} {
		t.Run("v"+version, func(t *testing.T) {
			t.Parallel()
			p, _ := withTable(t)
			ctx, ident := t.Context(), table.Identifier{"shop", "rows"}
			_, err := p.client.CreateTable(ctx, ident, schema, icecatalog.WithProperties(iceberg.Properties{"format-version": version}))
			if err != nil {
				t.Fatal(err)
			}
			for i := range int64(2) {
				tbl, err := objectio.Table(ctx, p.client, ident, p.fs)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := tbl.AppendTable(ctx, rowsOf(i), 10, nil); err != nil {
					t.Fatal(err)
				}
			}
			tbl, err := objectio.Table(ctx, p.client, ident, p.fs)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]int64{0, 1}, ids(t, tbl)); diff != "" {
				t.Error(diff)
			}
			if got := slices.Collect(maps.Keys(p.store.Stats())); len(got) != 0 {
				t.Errorf("the store was asked over HTTP: %q", got)
			}
		})
	}
}

func rowsOf(id int64) arrow.Table {
	s := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64}, {Name: "name", Type: arrow.BinaryTypes.String, Nullable: true},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, s)
	b.Field(0).(*array.Int64Builder).Append(id)
	b.Field(1).AppendNull()
	return array.NewTableFromRecords(s, []arrow.RecordBatch{b.NewRecordBatch()})
}

func ids(t *testing.T, tbl *table.Table) []int64 {
	t.Helper()
	rows, err := tbl.Scan().ToArrowTable(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []int64
	for _, chunk := range rows.Column(0).Data().Chunks() {
		got = append(got, chunk.(*array.Int64).Int64Values()...)
	}
	slices.Sort(got)
	return got
}
