package warehouse_test

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/apache/iceberg-go"
	icecatalog "github.com/apache/iceberg-go/catalog"
	"github.com/frazil/frazil/internal/local/catalog"
	"github.com/frazil/frazil/internal/local/stack"
	"github.com/frazil/frazil/internal/warehouse"
)

// tableAt makes a table, and returns a warehouse that has loaded nothing yet and is bounded by locations.
func (p parts) tableAt(t *testing.T, location string, locations []string, prefixes ...string) *warehouse.Warehouse {
	t.Helper()
	tool := p.open(t)
	if err := tool.Catalog().CreateNamespace(t.Context(), ident[:1], nil); err != nil {
		t.Fatal(err)
	}
	schema := iceberg.NewSchema(0, iceberg.NestedField{ID: 1, Name: "id", Type: iceberg.PrimitiveTypes.Int64, Required: true})
	properties := iceberg.Properties{"write.data.path": "s3://frazil/elsewhere", "write.metadata.path": "s3://frazil/elsewhere"}
	if _, err := tool.Catalog().CreateTable(t.Context(), ident, schema, icecatalog.WithLocation(location), icecatalog.WithProperties(properties)); err != nil {
		t.Fatal(err)
	}
	p.config.Locations = locations
	w, err := warehouse.Open(t.Context(), "main", p.config, prefixes...)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestTablesOutsideTheLocationsAreRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		location, allowed string
		ok                bool
	}{
		{"s3://frazil/warehouse/shop/orders", "s3://frazil/", true},
		{"s3://frazil/warehouse/shop/orders", "s3://frazil", true},
		{"s3a://frazil/warehouse/shop/orders", "s3://frazil/warehouse", true},
		{"s3://frazil/warehouse", "s3://frazil/warehouse/", true},
		{"s3://frazil/ware", "s3://frazil/warehouse", false},
		{"s3://frazil/warehouse-evil/orders", "s3://frazil/warehouse", false},
		{"s3://frazil-evil/warehouse/orders", "s3://frazil", false},
		{"s3://other/warehouse/orders", "s3://frazil/", false},
		{"s3://frazil/warehouse/../secret", "s3://frazil/warehouse", false},
		{"s3://Frazil/warehouse", "s3://frazil/", false},
	} {
		p := start(t)
		w := p.tableAt(t, c.location, []string{"s3://unused/x/", c.allowed})
		_, err := w.Load(t.Context(), ident)
		if c.ok && err != nil || !c.ok && (err == nil || !strings.Contains(err.Error(), c.location)) {
			t.Errorf("%s, locations %s: %v", c.location, c.allowed, err)
		}
		path := strings.Replace(c.location, "s3a:", "s3:", 1) + "/data/x"
		if err := w.Write(t.Context(), path, nil); !c.ok && err == nil {
			t.Errorf("%s was written", path)
		} else if c.ok && err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// Whatever asks for it, no object is written or deleted but under a table's location and where dead letters go.
func TestOnlyTablesAndDeadLettersAreWritten(t *testing.T) {
	t.Parallel()
	p := start(t)
	w := p.tableAt(t, "s3://frazil/warehouse/shop/orders", nil, "s3://frazil/dead")
	const inside = "s3://frazil/warehouse/shop/orders/data/x"
	if err := w.Write(t.Context(), inside, nil); err == nil {
		t.Error("a table that nobody has loaded was written")
	}
	if _, err := w.Load(t.Context(), ident); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{inside, "s3a://frazil/warehouse/shop/orders/data/y", "s3://frazil/dead/2024/x"} {
		if err := w.Write(t.Context(), path, nil); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	for _, path := range []string{
		"s3://frazil/elsewhere/x", "s3://frazil/warehouse/shop/orders2/x", "s3://frazil/warehouse/shop/orders/../x", "s3://frazil/deadly/x", "s3://frazil/dead",
		"s3://frazil-evil/warehouse/shop/orders/x", "http://frazil/warehouse/shop/orders/x",
	} {
		if err := w.Write(t.Context(), path, nil); err == nil {
			t.Errorf("%s was written", path)
		}
		if err := w.Delete(t.Context(), path); err == nil {
			t.Errorf("%s was deleted", path)
		}
	}
	if keys := p.objects.Keys(stack.Bucket, "elsewhere/x"); len(keys) > 0 {
		t.Errorf("written: %q", keys)
	}
}

// Dead letters are no files that a table's snapshots reference.
func TestATableThatHasTheDeadLettersInsideIsRefused(t *testing.T) {
	t.Parallel()
	for prefix, ok := range map[string]bool{
		"s3://frazil/warehouse/shop/orders": false, "s3a://frazil/warehouse/shop/orders/dead": false, "s3://frazil/warehouse/shop/orders-dead": true, "s3://frazil/warehouse": true,
	} {
		w := start(t).tableAt(t, "s3://frazil/warehouse/shop/orders", nil, prefix)
		if _, err := w.Load(t.Context(), ident); ok != (err == nil) || !ok && !strings.Contains(err.Error(), "orphan files") {
			t.Errorf("%s: %v", prefix, err)
		}
	}
}

// A catalog may send settings and credentials with each table; they move nothing (P10).
func TestATablesSettingsCannotRedirectTheStore(t *testing.T) {
	t.Parallel()
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("%s %s went elsewhere", r.Method, r.URL) }))
	t.Cleanup(elsewhere.Close)
	p := start(t)
	p.config.URI = settle(t, p.catalog, map[string]string{
		"s3.endpoint": elsewhere.URL, "s3.access-key-id": "other", "s3.secret-access-key": "other", "token": "other", "uri": elsewhere.URL, "client.region": "other",
	})
	w := p.tableAt(t, "s3://frazil/warehouse/shop/orders", nil)
	loaded, err := w.Load(t.Context(), ident)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(t.Context(), loaded.Location()+"/data/x", nil); err != nil {
		t.Error(err)
	}
	if _, err := w.Commit(t.Context(), loaded, nil, setA); err != nil {
		t.Error(err)
	}
	if keys := p.objects.Keys(stack.Bucket, "warehouse/shop/orders/data/"); len(keys) != 1 {
		t.Errorf("the configured store has %q", keys)
	}
}

// settle serves a catalog that answers with settings for each table.
func settle(t *testing.T, c *catalog.Server, settings map[string]string) (url string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := httptest.NewRecorder()
		c.ServeHTTP(answer, r)
		text, _ := io.ReadAll(answer.Body)
		var all map[string]any
		if json.Unmarshal(text, &all) == nil && all["metadata"] != nil {
			all["config"] = settings
			all["storage-credentials"] = []any{map[string]any{"prefix": "s3://frazil", "config": settings}}
			text, _ = json.Marshal(all)
		}
		maps.Copy(w.Header(), answer.Header())
		w.Header().Del("Content-Length")
		w.WriteHeader(answer.Code)
		_, _ = w.Write(text)
	}))
	t.Cleanup(server.Close)
	return server.URL
}
