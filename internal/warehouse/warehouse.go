// Package warehouse opens Iceberg REST catalogs and the object store that their tables live in.
//
// Requests to the catalog are signed as the configuration says. They are repeated here only where that cannot do harm
// (transport.go): whether another one may be is known to its caller. The store's address and credentials come from the
// configuration and the environment of the process, never from a table's properties, which its owner or a stranger may
// have set (P10).
package warehouse

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"time"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/catalog/rest"
	iceio "github.com/apache/iceberg-go/io"
	"github.com/apache/iceberg-go/table"
	awsconfig "github.com/aws/aws-sdk-go-v2/config"
	"github.com/frazil/frazil/internal/config"
)

// Warehouse is an open catalog with its store. It is safe for concurrent use.
type Warehouse struct {
	*Store
	catalog *rest.Catalog
}

// answerTime bounds the wait for a catalog's answer, once a request is sent.
const answerTime = 30 * time.Second

// Open connects to a catalog.
func Open(ctx context.Context, name string, c config.Catalog) (*Warehouse, error) {
	cfg, err := awsconfig.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, fmt.Errorf("catalog %s: load AWS configuration: %w", name, err)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = answerTime
	options := []rest.Option{
		rest.WithCustomTransport(patient{transport}),
		rest.WithWarehouseLocation(c.Warehouse),
		rest.WithAdditionalProps(maps.Clone(iceberg.Properties(c.Properties))), // the catalog takes its properties out of the map
	}
	if c.Auth.Type == "sigv4" {
		options = append(options, rest.WithAwsConfig(cfg), rest.WithSigV4RegionSvc(c.Auth.Region, c.Auth.Service))
	}
	cat, err := rest.NewCatalog(ctx, name, c.URI, options...)
	if err != nil {
		return nil, fmt.Errorf("open catalog %s: %w", name, err)
	}
	return &Warehouse{Store: newStore(cfg, c.Properties), catalog: cat}, nil
}

// Catalog is the catalog's client, for what only tools do: make tables, list them.
func (w *Warehouse) Catalog() *rest.Catalog { return w.catalog }

// Load reads a table's current state.
func (w *Warehouse) Load(ctx context.Context, ident table.Identifier) (*table.Table, error) {
	t, err := w.catalog.LoadTable(ctx, ident)
	if err != nil {
		return nil, fmt.Errorf("load table: %w", err)
	}
	return w.table(ident, t.Metadata(), t.MetadataLocation()), nil
}

// Commit sends one update request and returns the table after it. The errors are those of iceberg-go's rest
// package.
func (w *Warehouse) Commit(ctx context.Context, t *table.Table, requirements []table.Requirement, updates []table.Update) (*table.Table, error) {
	meta, location, err := w.catalog.CommitTable(ctx, t.Identifier(), requirements, updates)
	if err != nil {
		return nil, err
	}
	return w.table(t.Identifier(), meta, location), nil
}

// table is a table without a file system of its own: frazil's files go through the Store.
func (w *Warehouse) table(ident table.Identifier, meta table.Metadata, location string) *table.Table {
	none := func(context.Context) (iceio.IO, error) {
		return nil, fmt.Errorf("tables are read through the warehouse's store")
	}
	return table.New(ident, meta, location, none, w.catalog)
}
