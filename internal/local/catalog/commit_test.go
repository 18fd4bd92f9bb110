package catalog_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"
	"github.com/google/go-cmp/cmp"
)

var schema = iceberg.NewSchema(0,
	iceberg.NestedField{ID: 1, Name: "id", Type: iceberg.PrimitiveTypes.Int64, Required: true},
	iceberg.NestedField{ID: 2, Name: "name", Type: iceberg.PrimitiveTypes.String},
)

// response is what a raw request was answered with: its status and, of an error, the type.
type response struct {
	Status int
	Type   string
	body   []byte
}

var (
	conflict   = response{Status: 409, Type: "CommitFailedException"}
	badRequest = response{Status: 400, Type: "BadRequestException"}
	invalid    = response{Status: 400, Type: "ValidationException"}
	exists     = response{Status: 409, Type: "AlreadyExistsException"}
	noTable    = response{Status: 404, Type: "NoSuchTableException"}
	noSpace    = response{Status: 404, Type: "NoSuchNamespaceException"}
)

func (p part) send(t *testing.T, method, path, body string) response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, p.url+"/v1/"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var failure struct{ Error struct{ Type string } }
	if resp.StatusCode >= 400 && method != http.MethodHead {
		if err := json.Unmarshal(data, &failure); err != nil {
			t.Fatalf("error body %q: %v", data, err)
		}
	}
	return response{resp.StatusCode, failure.Error.Type, data}
}

func (r response) want(t *testing.T, what string, want response) {
	t.Helper()
	if r.Status != want.Status || r.Type != want.Type {
		t.Errorf("%s: got %d %s, want %d %s: %.200s", what, r.Status, r.Type, want.Status, want.Type, r.body)
	}
}

// withTable starts a catalog that holds shop.orders.
func withTable(t *testing.T) (part, *table.Table) {
	t.Helper()
	p := start(t)
	if err := p.client.CreateNamespace(t.Context(), table.Identifier{"shop"}, nil); err != nil {
		t.Fatal(err)
	}
	tbl, err := p.client.CreateTable(t.Context(), table.Identifier{"shop", "orders"}, schema)
	if err != nil {
		t.Fatal(err)
	}
	return p, tbl
}

const orders = "namespaces/shop/tables/orders"

// snapshotCommit is a commit body that adds a snapshot to main, asserting what main was; parent 0 is none.
func snapshotCommit(id, parent int64, sequence int) string {
	expected, parentField := "null", ""
	if parent != 0 {
		expected, parentField = fmt.Sprint(parent), fmt.Sprintf(`"parent-snapshot-id":%d,`, parent)
	}
	return fmt.Sprintf(`{"requirements":[{"type":"assert-ref-snapshot-id","ref":"main","snapshot-id":%s}],"updates":[
		{"action":"set-properties","updates":{"last":"%d"}},
		{"action":"add-snapshot","snapshot":{"snapshot-id":%d,%s"sequence-number":%d,"timestamp-ms":4000000000000,
			"manifest-list":"s3://lake/none.avro","summary":{"operation":"append"},"schema-id":0}},
		{"action":"set-snapshot-ref","ref-name":"main","type":"branch","snapshot-id":%d}]}`, expected, id, id, parentField, sequence, id)
}

func TestEveryFailedRequirementIsAConflict(t *testing.T) {
	t.Parallel()
	p, _ := withTable(t)
	for _, requirement := range []string{
		`{"type":"assert-create"}`,
		`{"type":"assert-table-uuid","uuid":"9c12d441-03fe-4693-9a96-a0705ddf69c1"}`,
		`{"type":"assert-ref-snapshot-id","ref":"main","snapshot-id":77}`,
		`{"type":"assert-last-assigned-field-id","last-assigned-field-id":77}`,
		`{"type":"assert-current-schema-id","current-schema-id":77}`,
		`{"type":"assert-last-assigned-partition-id","last-assigned-partition-id":77}`,
		`{"type":"assert-default-spec-id","default-spec-id":77}`,
		`{"type":"assert-default-sort-order-id","default-sort-order-id":77}`,
	} {
		body := `{"requirements":[` + requirement + `],"updates":[{"action":"set-properties","updates":{"touched":"yes"}}]}`
		p.send(t, "POST", orders, body).want(t, requirement, conflict)
	}
	tbl, err := p.client.LoadTable(t.Context(), table.Identifier{"shop", "orders"})
	if err != nil || tbl.Properties()["touched"] != "" {
		t.Errorf("a refused commit left a trace: %v %v", tbl.Properties(), err)
	}
}

func TestBadCommitsAreBadRequests(t *testing.T) {
	t.Parallel()
	p, _ := withTable(t)
	p.send(t, "POST", orders, `{"requirements":[`).want(t, "broken JSON", badRequest)
	p.send(t, "POST", orders, `{"requirements":[{"type":"assert-moon"}],"updates":[]}`).want(t, "unknown requirement", badRequest)
	p.send(t, "POST", orders, `{"requirements":[],"updates":[{"action":"shine"}]}`).want(t, "unknown update", badRequest)
	p.send(t, "POST", orders, snapshotCommit(11, 0, 1)).want(t, "first snapshot", response{Status: 200})
	p.send(t, "POST", orders, snapshotCommit(11, 0, 1)).want(t, "the same bytes again", conflict)
	p.send(t, "POST", orders, snapshotCommit(11, 11, 2)).want(t, "a snapshot id that is taken", invalid)
	p.send(t, "POST", orders, `{"requirements":[],"updates":[{"action":"set-snapshot-ref","ref-name":"main","type":"branch","snapshot-id":5}]}`).
		want(t, "a missing snapshot", invalid)
}

func TestMissingAndExistingNames(t *testing.T) {
	t.Parallel()
	p, _ := withTable(t)
	create := `{"name":"orders","schema":{"type":"struct","fields":[]}}`
	p.send(t, "GET", "namespaces/shop/tables/none", "").want(t, "load", noTable)
	p.send(t, "DELETE", "namespaces/shop/tables/none", "").want(t, "drop", noTable)
	p.send(t, "POST", "namespaces/shop/tables/none", snapshotCommit(1, 0, 1)).want(t, "commit", noTable)
	p.send(t, "HEAD", "namespaces/shop/tables/none", "").want(t, "exists", response{Status: 404})
	p.send(t, "POST", "namespaces/shop/tables", create).want(t, "create", exists)
	p.send(t, "POST", "namespaces/none/tables", create).want(t, "create in no namespace", noSpace)
	p.send(t, "GET", "namespaces/none/tables", "").want(t, "list no namespace", noSpace)
	p.send(t, "POST", "namespaces", `{"namespace":["shop"]}`).want(t, "create namespace", exists)
	p.send(t, "POST", orders+"/metrics", `{}`).want(t, "metrics", response{Status: 204})
}

func TestOneOfManyRacingCommitsWins(t *testing.T) {
	t.Parallel()
	p, _ := withTable(t)
	var wins atomic.Int32
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			switch r := p.send(t, "POST", orders, snapshotCommit(int64(100+i), 0, 1)); r.Status {
			case 200:
				wins.Add(1)
			default:
				r.want(t, "loser", conflict)
			}
		})
	}
	all.Wait()
	if wins.Load() != 1 {
		t.Errorf("%d winners", wins.Load())
	}
	metadata := p.store.Keys("lake", "warehouse/shop/orders/metadata/")
	if len(metadata) != 2 {
		t.Errorf("losers left their files: %q", metadata)
	}
}

func TestUnassertedCommitsToOneTableAllLand(t *testing.T) {
	t.Parallel()
	p, _ := withTable(t)
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			body := fmt.Sprintf(`{"requirements":[],"updates":[{"action":"set-properties","updates":{"p%d":"x"}}]}`, i)
			p.send(t, "POST", orders, body).want(t, "commit", response{Status: 200})
		})
	}
	all.Wait()
	tbl, err := p.client.LoadTable(t.Context(), table.Identifier{"shop", "orders"})
	if err != nil || len(tbl.Properties()) != 16 {
		t.Errorf("%v %v", tbl.Properties(), err)
	}
}

func TestTransactionIsAllOrNothing(t *testing.T) {
	t.Parallel()
	p, _ := withTable(t)
	if _, err := p.client.CreateTable(t.Context(), table.Identifier{"shop", "lines"}, schema); err != nil {
		t.Fatal(err)
	}
	transaction := func(requirement string) string {
		return `{"table-changes":[
			{"identifier":{"namespace":["shop"],"name":"orders"},"requirements":[],"updates":[{"action":"set-properties","updates":{"n":"1"}}]},
			{"identifier":{"namespace":["shop"],"name":"lines"},"requirements":[` + requirement + `],"updates":[{"action":"set-properties","updates":{"n":"1"}}]}]}`
	}
	value := func(name string) string {
		tbl, err := p.client.LoadTable(t.Context(), table.Identifier{"shop", name})
		if err != nil {
			t.Fatal(err)
		}
		return tbl.Properties()["n"]
	}
	p.send(t, "POST", "transactions/commit", transaction(`{"type":"assert-create"}`)).want(t, "refused", conflict)
	if diff := cmp.Diff([]string{"", ""}, []string{value("orders"), value("lines")}); diff != "" {
		t.Errorf("after a refused transaction: %s", diff)
	}
	if files := p.store.Keys("lake", "warehouse/shop/orders/metadata/"); len(files) != 1 {
		t.Errorf("a refused transaction left files: %q", files)
	}
	p.send(t, "POST", "transactions/commit", transaction("")).want(t, "accepted", response{Status: 204})
	if diff := cmp.Diff([]string{"1", "1"}, []string{value("orders"), value("lines")}); diff != "" {
		t.Errorf("after a transaction: %s", diff)
	}
}
