package catalog_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/apache/iceberg-go/table"
	"github.com/frazil/frazil/internal/local/catalog"
	"github.com/google/go-cmp/cmp"
)

// only returns a fault function that answers op with f and lets everything else pass.
func only(op catalog.Op, f catalog.Fault) catalog.FaultFunc {
	return func(got catalog.Op, _ *http.Request) catalog.Fault {
		if got == op {
			return f
		}
		return catalog.Fault{}
	}
}

func (p part) snapshots(t *testing.T) int {
	t.Helper()
	tbl, err := p.client.LoadTable(t.Context(), table.Identifier{"shop", "orders"})
	if err != nil {
		t.Fatal(err)
	}
	return len(tbl.Metadata().Snapshots())
}

func TestRefusedCommitChangesNothing(t *testing.T) {
	t.Parallel()
	p, _ := withTable(t)
	p.server.SetFault(only(catalog.OpCommitTable, catalog.Refuse(http.StatusConflict)))
	p.send(t, "POST", orders, snapshotCommit(1, 0, 1)).want(t, "commit", conflict)
	if n := p.snapshots(t); n != 0 {
		t.Errorf("%d snapshots", n)
	}
}

func TestLostAnswerOfACommitHidesThatItLanded(t *testing.T) {
	t.Parallel()
	p, _ := withTable(t)
	p.server.SetFault(only(catalog.OpCommitTable, catalog.ApplyThenStatus(http.StatusGatewayTimeout)))
	p.send(t, "POST", orders, snapshotCommit(1, 0, 1)).want(t, "commit", response{Status: 504, Type: "CommitStateUnknownException"})
	if n := p.snapshots(t); n != 1 {
		t.Errorf("%d snapshots", n)
	}
	p.send(t, "POST", orders, snapshotCommit(2, 0, 1)).want(t, "a commit that is refused by itself", conflict)
}

func TestDroppedConnectionOfACommitHidesThatItLanded(t *testing.T) {
	t.Parallel()
	p, _ := withTable(t)
	p.server.SetFault(only(catalog.OpCommitTable, catalog.ApplyThenDrop()))
	if resp, err := http.Post(p.url+"/v1/"+orders, "", strings.NewReader(snapshotCommit(1, 0, 1))); err == nil {
		resp.Body.Close()
		t.Errorf("answered %d", resp.StatusCode)
	}
	if n := p.snapshots(t); n != 1 {
		t.Errorf("%d snapshots", n)
	}
}

func TestHangingCommitEndsWithItsClient(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fault catalog.Fault
		want  int
	}{"before": {catalog.Hang(), 0}, "after": {catalog.ApplyThenHang(), 1}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, _ := withTable(t)
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan struct{})
			web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				defer close(ended)
				p.server.ServeHTTP(w, r)
			}))
			defer web.Close()
			p.server.SetFault(func(op catalog.Op, _ *http.Request) catalog.Fault {
				if op != catalog.OpCommitTable {
					return catalog.Fault{}
				}
				cancel()
				return c.fault
			})
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, web.URL+"/v1/"+orders, strings.NewReader(snapshotCommit(1, 0, 1)))
			if err != nil {
				t.Fatal(err)
			}
			if resp, err := http.DefaultClient.Do(req); err == nil {
				resp.Body.Close()
				t.Errorf("answered %d", resp.StatusCode)
			}
			<-ended
			if n := p.snapshots(t); n != c.want {
				t.Errorf("%d snapshots, want %d", n, c.want)
			}
		})
	}
}

func TestLoadsCanBeRefusedAndAreCounted(t *testing.T) {
	t.Parallel()
	p, _ := withTable(t)
	p.server.SetFault(only(catalog.OpLoadTable, catalog.Refuse(http.StatusServiceUnavailable)))
	p.send(t, "GET", orders, "").want(t, "load", response{Status: 503, Type: "ServiceUnavailableException"})
	p.server.SetFault(nil)
	p.send(t, "GET", orders, "").want(t, "load", response{Status: 200})
	want := map[catalog.Op]int{catalog.OpConfig: 1, catalog.OpCreateNamespace: 1, catalog.OpCreateTable: 1, catalog.OpLoadTable: 2}
	if diff := cmp.Diff(want, p.server.Stats()); diff != "" {
		t.Error(diff)
	}
}
