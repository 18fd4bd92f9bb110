package catalog_test

import (
	"testing"

	"github.com/frazil/frazil/internal/local/catalog"
)

const (
	staged = `{"name":"lines","stage-create":true,"schema":{"type":"struct","fields":[]}}`
	rename = `{"source":{"namespace":["shop"],"name":"orders"},"destination":{"namespace":["shop"],"name":"bills"}}`
)

func TestGlueAndS3TablesServeLessThanTheSpecification(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		profile catalog.Profile
		rename  int
	}{"strict": {rename: 204}, "glue": {catalog.Glue, 404}, "s3tables": {catalog.S3Tables, 204}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, _ := withTable(t)
			p.server.SetProfile(c.profile)
			deep, create := response{Status: 200}, response{Status: 200}
			if name != "strict" {
				deep, create = badRequest, badRequest
			}
			p.send(t, "POST", "namespaces", `{"namespace":["shop","eu"]}`).want(t, "a second level", deep)
			if got := p.send(t, "GET", "namespaces/shop%1Feu", ""); got.Status != deep.Status {
				t.Errorf("a look at a second level: got %d, want %d", got.Status, deep.Status)
			}
			p.send(t, "POST", "namespaces/shop/tables", staged).want(t, "a staged create", create)
			if got := p.send(t, "POST", "tables/rename", rename); got.Status != c.rename {
				t.Errorf("a rename: got %d, want %d", got.Status, c.rename)
			}
		})
	}
}

// What Nessie 0.99 was seen to do: real-world commits of two writers, one after the other.
func TestNessieKeepsOneSnapshotAndChecksNoNull(t *testing.T) {
	t.Parallel()
	p, _ := withTable(t)
	p.server.SetProfile(catalog.Nessie)
	p.send(t, "POST", orders, snapshotCommit(1, 0, 1)).want(t, "a first commit", response{Status: 200})
	p.send(t, "POST", orders, snapshotCommit(2, 0, 1)).want(t, "another first commit", response{Status: 200})
	if n := p.snapshots(t); n != 1 {
		t.Errorf("%d snapshots after two first commits, want that of the later", n)
	}
	p.send(t, "POST", orders, snapshotCommit(3, 1, 2)).want(t, "a commit to the past", response{Status: 409})
	p.send(t, "POST", orders, snapshotCommit(3, 2, 2)).want(t, "a commit", response{Status: 200})
	p.send(t, "POST", orders, snapshotCommit(4, 3, 3)).want(t, "a commit", response{Status: 200})
	if n := p.snapshots(t); n != 1 {
		t.Errorf("%d snapshots are kept, want 1", n)
	}
}
