package warehouse_test

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/apache/iceberg-go"
	icecatalog "github.com/apache/iceberg-go/catalog"
	"github.com/apache/iceberg-go/catalog/rest"
	"github.com/apache/iceberg-go/table"
	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/local/catalog"
	"github.com/frazil/frazil/internal/local/objects"
	"github.com/frazil/frazil/internal/local/stack"
	"github.com/frazil/frazil/internal/warehouse"
)

var ident = table.Identifier{"shop", "orders"}

// parts are a store and a catalog, and the configuration that names both.
type parts struct {
	objects *objects.Server
	catalog *catalog.Server
	config  config.Catalog
}

func start(t *testing.T) parts {
	t.Helper()
	s, err := stack.StartLake()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return parts{objects: s.Objects, catalog: s.Catalog, config: s.CatalogConfig()}
}

func (p parts) open(t *testing.T) *warehouse.Warehouse {
	t.Helper()
	w, err := warehouse.Open(t.Context(), "main", p.config, "s3://"+stack.Bucket)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func create(t *testing.T, w *warehouse.Warehouse, properties iceberg.Properties) *table.Table {
	t.Helper()
	if err := w.Catalog().CreateNamespace(t.Context(), ident[:1], nil); err != nil {
		t.Fatal(err)
	}
	schema := iceberg.NewSchema(0, iceberg.NestedField{ID: 1, Name: "id", Type: iceberg.PrimitiveTypes.Int64, Required: true})
	if _, err := w.Catalog().CreateTable(t.Context(), ident, schema, icecatalog.WithProperties(properties)); err != nil {
		t.Fatal(err)
	}
	loaded, err := w.Load(t.Context(), ident)
	if err != nil {
		t.Fatal(err)
	}
	return loaded
}

func TestObjectsAreKeptWhole(t *testing.T) {
	t.Parallel()
	w := start(t).open(t)
	const path = "s3://frazil/warehouse/a b/é+%25.parquet"
	data := bytes.Repeat([]byte("0123456789"), 200_000)
	if err := w.Write(t.Context(), path, data); err != nil {
		t.Fatal(err)
	}
	if got, err := w.Read(t.Context(), path); err != nil || !bytes.Equal(got, data) {
		t.Errorf("read %d bytes of %d, %v", len(got), len(data), err)
	}
	if got, err := w.ReadRange(t.Context(), path, 13, 4); err != nil || string(got) != "3456" {
		t.Errorf("range: %q, %v", got, err)
	}
	if _, err := w.ReadRange(t.Context(), path, int64(len(data))-2, 4); err == nil {
		t.Error("a range beyond the end is no error")
	}
	for range 2 { // the second time it is not there
		if err := w.Delete(t.Context(), path); err != nil {
			t.Errorf("delete: %v", err)
		}
	}
	if _, err := w.Read(t.Context(), path); err == nil {
		t.Error("read after delete: no error")
	}
}

func TestOnlyS3AddressesAreTaken(t *testing.T) {
	t.Parallel()
	w := start(t).open(t)
	for _, path := range []string{"file:///etc/passwd", "s3://frazil", "s3://frazil/", "s3:///a", "/a/b", ""} {
		if err := w.Write(t.Context(), path, nil); err == nil {
			t.Errorf("%q was written", path)
		}
		if _, err := w.Read(t.Context(), path); err == nil {
			t.Errorf("%q was read", path)
		}
	}
	if err := w.Write(t.Context(), "s3a://frazil/x", []byte("x")); err != nil {
		t.Errorf("s3a, as Hadoop names S3: %v", err)
	}
}

// A table's properties are its owner's or a stranger's: they do not say where the store is (P10).
func TestATableCannotRedirectTheStore(t *testing.T) {
	t.Parallel()
	var asked sync.Once
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		asked.Do(func() { t.Error("a request went to the address in the table's properties") })
	}))
	t.Cleanup(elsewhere.Close)
	p := start(t)
	w := p.open(t)
	loaded := create(t, w, iceberg.Properties{"s3.endpoint": elsewhere.URL, "s3.access-key-id": "other", "client.region": "eu-west-9"})
	if _, err := loaded.FS(t.Context()); err == nil {
		t.Error("the table has a file system of its own")
	}
	if err := w.Write(t.Context(), loaded.Location()+"/data/x", []byte("x")); err != nil {
		t.Fatal(err)
	}
	if keys := p.objects.Keys(stack.Bucket, "warehouse/shop/orders/data/"); len(keys) != 1 {
		t.Errorf("the configured store has %q", keys)
	}
}

func TestCommitGivesTheTableAfterIt(t *testing.T) {
	t.Parallel()
	w := start(t).open(t)
	loaded := create(t, w, nil)
	right := []table.Requirement{table.AssertTableUUID(loaded.Metadata().TableUUID()), table.AssertCurrentSchemaID(0)}
	after, err := w.Commit(t.Context(), loaded, right, []table.Update{table.NewSetPropertiesUpdate(iceberg.Properties{"a": "1"})})
	if err != nil || after.Properties()["a"] != "1" {
		t.Fatalf("%v, %v", after, err)
	}
	wrong := []table.Requirement{table.AssertCurrentSchemaID(7)}
	if _, err := w.Commit(t.Context(), after, wrong, []table.Update{table.NewSetPropertiesUpdate(iceberg.Properties{"a": "2"})}); !errors.Is(err, rest.ErrCommitFailed) {
		t.Errorf("a requirement that does not hold: %v, want ErrCommitFailed", err)
	}
	if now, err := w.Load(t.Context(), ident); err != nil || now.Properties()["a"] != "1" {
		t.Errorf("the refused commit is in: %v", err)
	}
}

func TestATableThatIsNotThereIsSaidSo(t *testing.T) {
	t.Parallel()
	if _, err := start(t).open(t).Load(t.Context(), ident); !errors.Is(err, icecatalog.ErrNoSuchTable) {
		t.Errorf("got %v, want ErrNoSuchTable", err)
	}
}

// The credentials come from the process's environment, so the test cannot run beside others.
func TestSigV4SignsForTheServiceAndRegion(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	p := start(t)
	var header http.Header
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header = r.Header.Clone()
		p.catalog.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	p.config.URI, p.config.Auth = server.URL, config.Auth{Type: "sigv4", Service: "s3tables", Region: "eu-central-2"}
	p.open(t)
	if got := header.Get("Authorization"); !strings.Contains(got, "Credential=AKIDEXAMPLE/") || !strings.Contains(got, "/eu-central-2/s3tables/aws4_request") {
		t.Errorf("Authorization is %q", got)
	}
}
