package catalog_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/apache/iceberg-go"
	icecatalog "github.com/apache/iceberg-go/catalog"
	"github.com/apache/iceberg-go/catalog/rest"
	"github.com/frazil/frazil/internal/local/catalog"
)

// A request that the catalog refuses was not applied: its own answer passes.
func TestAProxyAnswersInTheCatalogsPlace(t *testing.T) {
	t.Parallel()
	p := start(t)
	at, err := url.Parse(p.url)
	if err != nil {
		t.Fatal(err)
	}
	proxy := catalog.NewProxy(at)
	web := httptest.NewServer(proxy)
	t.Cleanup(web.Close)
	client, err := rest.NewCatalog(t.Context(), "proxied", web.URL)
	if err != nil {
		t.Fatal(err)
	}
	schema := iceberg.NewSchema(0, iceberg.NestedField{ID: 1, Name: "id", Type: iceberg.PrimitiveTypes.Int64})
	create := func(name string) error {
		_, err := client.CreateTable(t.Context(), []string{"shop", name}, schema)
		return err
	}
	if err := errors.Join(client.CreateNamespace(t.Context(), []string{"shop"}, nil), create("a")); err != nil {
		t.Fatal(err)
	}
	on := func(op catalog.Op, f catalog.Fault) {
		proxy.SetFault(func(at catalog.Op, _ *http.Request) (answer catalog.Fault) {
			if at == op {
				answer = f
			}
			return answer
		})
	}
	on(catalog.OpCreateTable, catalog.Refuse(http.StatusServiceUnavailable))
	if err := create("b"); !errors.Is(err, rest.ErrServiceUnavailable) {
		t.Errorf("refused: %v", err)
	}
	on(catalog.OpCreateTable, catalog.ApplyThenStatus(http.StatusServiceUnavailable))
	if err := create("a"); !errors.Is(err, icecatalog.ErrTableAlreadyExists) {
		t.Errorf("not applied: %v", err)
	}
	if err := create("c"); !errors.Is(err, rest.ErrServiceUnavailable) {
		t.Errorf("applied: %v", err)
	}
	proxy.SetFault(nil)
	for name, want := range map[string]bool{"a": true, "b": false, "c": true} {
		if there, err := client.CheckTableExists(t.Context(), []string{"shop", name}); err != nil || there != want {
			t.Errorf("table %s exists: %v, %v; want %v", name, there, err, want)
		}
	}
}
