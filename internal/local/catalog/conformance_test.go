package catalog_test

import (
	"net/http/httptest"
	"testing"

	icecatalog "github.com/apache/iceberg-go/catalog"
	"github.com/apache/iceberg-go/catalog/catalogtest"
	"github.com/apache/iceberg-go/catalog/rest"
	"github.com/frazil/frazil/internal/local/catalog"
	"github.com/frazil/frazil/internal/local/objectio"
	"github.com/frazil/frazil/internal/local/objects"
)

// part is a catalog with its store and a client of it.
type part struct {
	server *catalog.Server
	store  *objects.Server
	fs     *objectio.FS
	client *rest.Catalog
	url    string
}

func start(t *testing.T) part {
	t.Helper()
	store := objects.New("lake")
	fsys := objectio.New(store)
	server := catalog.New("s3://lake/warehouse", fsys)
	web := httptest.NewServer(server)
	t.Cleanup(web.Close)
	client, err := rest.NewCatalog(t.Context(), "local", web.URL)
	if err != nil {
		t.Fatal(err)
	}
	return part{server, store, fsys, client, web.URL}
}

func TestServerPassesTheConformanceSuite(t *testing.T) {
	t.Parallel()
	catalogtest.RunCatalogTests(t, catalogtest.Config{
		NewCatalog:                  func(t *testing.T) icecatalog.Catalog { return start(t).client },
		SupportsNamespaceProperties: true,
	})
}
