// Package conformance says what frazil builds on in an Iceberg REST catalog, as tests that run on any: on the embedded one
// and the profiles that it plays, and in `make interop` on catalogs that nobody here wrote.
//
// What a catalog is known to do otherwise is expected by name: a check that is known to fail and passes fails the test, so
// that the list stays true.
package conformance

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/apache/iceberg-go/table"
	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/local/catalog"
	"github.com/frazil/frazil/internal/local/lake"
	"github.com/frazil/frazil/internal/warehouse"
)

// Subject is a catalog that is running, with a store for its tables.
type Subject struct {
	Config config.Catalog
	// SetFault has it, or a proxy before it, answer wrongly; nil: it cannot be made to, and the checks by fault are left out.
	SetFault func(catalog.FaultFunc)
	Known    map[string]string // what it does otherwise: a part of the error, by name of the check
}

// check is one thing that has to hold. An error says how it does not.
type check struct {
	name string
	hold func(*bench) error
}

// bench is a catalog with the clients of it, and tables for one check.
type bench struct {
	Subject
	ctx    context.Context
	lake   *lake.Lake
	client *warehouse.Warehouse
}

// serial makes the names of tables unique in a catalog that is used for several runs.
var serial atomic.Int64

// Run checks a catalog. The checks follow each other, since faults are for one at a time.
func Run(t *testing.T, s Subject) {
	t.Helper()
	list := requests
	if s.SetFault != nil {
		list = append(list, deliveries()...)
	}
	known := map[string]bool{}
	for _, c := range list {
		known[c.name] = true
		t.Run(c.name, func(t *testing.T) {
			b, err := open(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			if difference := verdict(c.hold(b), s.Known[c.name]); difference != "" {
				t.Error(difference)
			}
		})
	}
	for name := range s.Known {
		if !known[name] {
			t.Errorf("%s is expected to fail, and is no check", name)
		}
	}
}

// verdict compares how a check ended with how it is known to end.
func verdict(err error, known string) string {
	switch {
	case err == nil && known == "":
		return ""
	case err == nil:
		return fmt.Sprintf("it holds, and was known not to (%s)", known)
	case known == "" || !strings.Contains(err.Error(), known):
		return err.Error()
	}
	return ""
}

func open(ctx context.Context, s Subject) (*bench, error) {
	l, err := lake.Open(ctx, s.Config)
	if err != nil {
		return nil, err
	}
	w, err := warehouse.Open(ctx, "main", s.Config)
	return &bench{s, ctx, l, w}, err
}

// columns are those of every table here.
var columns = []lake.Column{{Name: "id", Type: "long", Required: true}, {Name: "n", Type: "int"}}

// table makes one.
func (b *bench) table(version int) (name string, err error) {
	name = fmt.Sprintf("conformance.t%d", serial.Add(1))
	return name, b.lake.Create(b.ctx, lake.Spec{Name: name, Version: version, Columns: columns, Key: []string{"id"}})
}

// filled makes a table with a snapshot and returns its state.
func (b *bench) filled(version int) (name string, head *table.Table, err error) {
	if name, err = b.table(version); err != nil {
		return "", nil, err
	}
	if err := b.lake.Append(b.ctx, name, []lake.Row{{"id": "1", "n": "1"}}); err != nil {
		return "", nil, err
	}
	head, err = b.load(name)
	return name, head, err
}

func (b *bench) load(name string) (*table.Table, error) {
	return b.client.Load(b.ctx, lake.Ident(name))
}

// differ is the error that something is not as wanted.
func differ[T comparable](what string, got, want T) error {
	if got != want {
		return fmt.Errorf("%s is %v, want %v", what, got, want)
	}
	return nil
}

// answered is the error that a request was not answered as it has to be.
func answered(request string, err error) error {
	if err == nil {
		return fmt.Errorf("%s: it is accepted", request)
	}
	return fmt.Errorf("%s: it is answered with %w", request, err)
}

// isAny reports whether err is one of the others.
func isAny(err error, others ...error) bool {
	for _, other := range others {
		if errors.Is(err, other) {
			return true
		}
	}
	return false
}
