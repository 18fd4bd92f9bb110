// Package warehouse opens Iceberg REST catalogs and the object store that their tables live in.
//
// Requests to the catalog are signed as the configuration says, and go nowhere else. They are repeated here only where
// that cannot do harm (transport.go): whether another one may be is known to its caller. None waits for ever (moving.go).
// Addresses, tokens and credentials come from the configuration, from where it says that secrets are kept, and from the
// environment of the process; never from a table's properties, which its owner or a stranger may have set, nor from the
// catalog's own settings (P10).
package warehouse

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/catalog/rest"
	iceio "github.com/apache/iceberg-go/io"
	"github.com/apache/iceberg-go/table"
	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/frazil/frazil/internal/config"
)

// Warehouse is an open catalog with its store. It is safe for concurrent use.
type Warehouse struct {
	*Store
	catalog *rest.Catalog
	bounds  *bounds
}

// Open connects to a catalog. Secrets are read now; tokens and credentials that end are renewed later. The Warehouse
// writes under the locations of the tables that it has loaded, and under the given prefixes.
func Open(ctx context.Context, name string, c config.Catalog, prefixes ...string) (*Warehouse, error) {
	w, err := open(ctx, name, c)
	if err == nil {
		w.bounds, err = newBounds(c.Locations, prefixes)
	}
	if err != nil {
		return nil, fmt.Errorf("open catalog %s at %s: %w", name, c.URI, err)
	}
	return w, nil
}

func open(ctx context.Context, name string, c config.Catalog) (*Warehouse, error) {
	own, err := loadAWS(ctx)
	if err != nil {
		return nil, err
	}
	cfg, kept := assume(own, c.Role), secrets{own}
	properties, err := kept.properties(ctx, c.Properties)
	if err != nil {
		return nil, err
	}
	to, err := transport(cfg, kept, c)
	if err != nil {
		return nil, err
	}
	cat, err := rest.NewCatalog(ctx, name, c.URI,
		rest.WithCustomTransport(to),
		rest.WithWarehouseLocation(c.Warehouse),
		rest.WithAdditionalProps(maps.Clone(iceberg.Properties(properties)))) // the catalog takes its properties out of the map
	if err != nil {
		return nil, err
	}
	return &Warehouse{Store: newStore(cfg, properties), catalog: cat}, nil
}

// transport is the way of requests to a catalog.
func transport(cfg aws.Config, kept secrets, c config.Catalog) (http.RoundTripper, error) {
	origin, err := url.Parse(c.URI)
	if err != nil {
		return nil, err
	}
	wire := moving{http.DefaultTransport.(*http.Transport).Clone().RoundTrip, stall}
	to := signed{next: wire, origin: origin}
	switch c.Auth.Type {
	case "bearer":
		to.signer = newTokens(func(ctx context.Context) (token, error) {
			text, err := kept.read(ctx, c.Auth.Token)
			return token{text: text}, err
		})
	case "oauth2":
		to.signer = newTokens(oauth2{
			client:     &http.Client{Transport: patient{wire}, CheckRedirect: noRedirect},
			url:        cmp.Or(c.Auth.TokenURL, origin.JoinPath("v1/oauth/tokens").String()),
			scope:      c.Auth.Scope,
			credential: func(ctx context.Context) (string, error) { return kept.read(ctx, c.Auth.Credential) },
		}.fetch)
	case "sigv4":
		to.signer = sigV4{credentials: cfg.Credentials, region: cmp.Or(c.Auth.Region, cfg.Region), service: c.Auth.Service, v4: v4.NewSigner()}
	}
	return settings{brief{patient{to}}}, nil
}

// noRedirect keeps a secret at the address that it was meant for.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Catalog is the catalog's client, for what only tools do: make tables, list them.
func (w *Warehouse) Catalog() *rest.Catalog { return w.catalog }

// Load reads a table's current state. A table outside the configured locations is refused.
func (w *Warehouse) Load(ctx context.Context, ident table.Identifier) (*table.Table, error) {
	t, err := w.catalog.LoadTable(ctx, ident)
	if err != nil {
		return nil, fmt.Errorf("load table: %w", err)
	}
	if err := w.bounds.admit(t.Location()); err != nil {
		return nil, err
	}
	return w.table(ident, t.Metadata(), t.MetadataLocation()), nil
}

// Write stores a whole object of a table.
func (w *Warehouse) Write(ctx context.Context, path string, data []byte) error {
	if err := w.bounds.check(path); err != nil {
		return err
	}
	return w.Store.Write(ctx, path, data)
}

// Delete removes an object of a table; one that is not there is no error.
func (w *Warehouse) Delete(ctx context.Context, path string) error {
	if err := w.bounds.check(path); err != nil {
		return err
	}
	return w.Store.Delete(ctx, path)
}

// Commit sends one update request and returns the table after it, of its snapshots those that a branch or tag points at. The
// errors are those of iceberg-go's rest package.
func (w *Warehouse) Commit(ctx context.Context, t *table.Table, requirements []table.Requirement, updates []table.Update) (*table.Table, error) {
	ctx = context.WithValue(ctx, briefly{}, true)
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
