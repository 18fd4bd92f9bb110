package maintain_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/maintain"
	"golang.org/x/sync/errgroup"
)

// engine answers as Athena's API does.
type engine struct {
	mu      sync.Mutex
	queries []query
	state   string // of all of them
	reason  string
	faults  []func(http.ResponseWriter) // of the next starts; nil is none
	asked   int
}

type query struct {
	QueryString, ClientRequestToken, WorkGroup string
	QueryExecutionContext                      struct{ Catalog, Database string }
	ResultConfiguration                        struct{ OutputLocation string }
}

func (e *engine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	if strings.HasSuffix(r.Header.Get("X-Amz-Target"), "GetQueryExecution") {
		fmt.Fprintf(w, `{"QueryExecution": {"Status": {"State": %q, "StateChangeReason": %q}}}`, e.state, e.reason)
		return
	}
	var q query
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	e.asked++
	id := -1
	for i, was := range e.queries {
		if was.ClientRequestToken == q.ClientRequestToken {
			id = i
		}
	}
	if id < 0 {
		id, e.queries = len(e.queries), append(e.queries, q)
	}
	if len(e.faults) > 0 {
		f := e.faults[0]
		e.faults = e.faults[1:]
		f(w)
		return
	}
	fmt.Fprintf(w, `{"QueryExecutionId": "query-%d"}`, id)
}

// delegating is a table of which everything is too much for a run, an engine for it, and what is said.
func delegating(t *testing.T) (*world, *engine, *bytes.Buffer) {
	t.Helper()
	e := &engine{state: "RUNNING"}
	server := httptest.NewServer(e)
	t.Cleanup(server.Close)
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL_ATHENA": server.URL, "AWS_REGION": "eu-west-1", "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b",
	} {
		t.Setenv(name, value)
	}
	w := newWorld(t, orders(2, nil), "position", "{compact: {files: 2}, budget: {bytes: 1KB}}")
	u := w.config.Maintain["*"]
	u.Athena = &config.Athena{Workgroup: "nightly", Output: "s3://lake/athena/", Catalog: "AwsDataCatalog"}
	w.config.Maintain["*"] = u
	for i := range 4 {
		w.put(i, i+1)
	}
	return w, e, &bytes.Buffer{}
}

// runSaying is a run of a new process.
func (w *world) runSaying(said *bytes.Buffer) error {
	w.Helper()
	said.Reset()
	m, err := maintain.New(w.Context(), w.config, slog.New(slog.NewTextHandler(said, nil)))
	w.must(err)
	return m.Run(w.Context(), nil)
}

// want checks the number of queries, and returns them. The server has its own goroutines: a client may have an answer before they are done.
func (e *engine) want(t *testing.T, queries int) []query {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.queries) != queries {
		t.Fatalf("%d queries, want %d: %v", len(e.queries), queries, e.queries)
	}
	return slices.Clone(e.queries)
}

// are says how all queries stand.
func (e *engine) are(state, reason string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.state, e.reason = state, reason
}

// fail has the next starts answered by f.
func (e *engine) fail(f ...func(http.ResponseWriter)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.faults = append(e.faults, f...)
}

func TestAnEngineDoesWhatIsTooMuchOnceAtATime(t *testing.T) {
	w, e, said := delegating(t)
	w.must(w.runSaying(said))
	q := e.want(t, 1)[0]
	if q.QueryString != `OPTIMIZE "shop"."orders" REWRITE DATA USING BIN_PACK` || q.WorkGroup != "nightly" || q.QueryExecutionContext.Database != "shop" ||
		q.QueryExecutionContext.Catalog != "AwsDataCatalog" || q.ResultConfiguration.OutputLocation != "s3://lake/athena/" || len(q.ClientRequestToken) < 32 {
		t.Errorf("it was asked for %+v", q)
	}
	files, _, err := w.lake.Files(t.Context(), name)
	w.must(err)

	u := w.config.Maintain["*"] // by now it would not be too much
	u.Bytes = 1 << 30
	w.config.Maintain["*"] = u
	w.must(w.runSaying(said))
	e.want(t, 1)
	if !strings.Contains(said.String(), "an engine is at work") {
		t.Errorf("it said %s", said)
	}
	w.wantFiles(files, 0)

	u.Bytes = 1000
	w.config.Maintain["*"] = u
	e.are("FAILED", "ICEBERG_OPTIMIZE_MORE_RUNS_NEEDED: of row 4711")
	w.must(w.runSaying(said))
	e.want(t, 2)
	for _, want := range []string{"an engine has ended", "query=query-0", "outcome=failed", "code=ICEBERG_OPTIMIZE_MORE_RUNS_NEEDED", "an engine was started", "query=query-1"} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("no word of %s in %s", want, said)
		}
	}
	if strings.Contains(said.String(), "4711") {
		t.Errorf("it says what Athena says of rows: %s", said)
	}

	e.are("SUCCEEDED", "")
	u.Bytes = 1 << 30
	w.config.Maintain["*"] = u
	w.must(w.runSaying(said))
	e.want(t, 2)
	w.wantFiles(1, 0)
	w.must(w.runSaying(said))
	if strings.Contains(said.String(), "an engine has ended") {
		t.Error("the outcome is told twice")
	}
	w.wantRows("1=0", "2=1", "3=2", "4=3")
}

// A process may end at any point, and two may be at it at once: the table says what was asked for, and Athena makes one query of it.
func TestAnEngineIsAskedOnceWhateverHappens(t *testing.T) {
	w, e, said := delegating(t)
	for range 2 {
		e.fail(slices.Repeat([]func(http.ResponseWriter){func(http.ResponseWriter) { panic(http.ErrAbortHandler) }}, 4)...) // all of the SDK's tries
		if err := w.runSaying(said); err == nil {
			t.Error("the answer was lost, and no error says so")
		}
		e.want(t, 1)
		w.put(9, 1) // the head moves on
	}
	var g errgroup.Group
	for range 2 {
		g.Go(func() error { return w.runSaying(&bytes.Buffer{}) })
	}
	w.must(g.Wait())
	e.want(t, 1)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.asked < 9 {
		t.Errorf("it was asked %d times", e.asked)
	}
}

// What Athena refuses is asked for anew, by another token.
func TestARefusedQueryIsNoQuery(t *testing.T) {
	w, e, said := delegating(t)
	refuse := func(w http.ResponseWriter) {
		w.Header().Set("X-Amzn-Errortype", "InvalidRequestException")
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `{"__type":"InvalidRequestException","Message":"no output location"}`)
	}
	e.fail(refuse)
	if err := w.runSaying(said); err == nil || !strings.Contains(err.Error(), "have Athena start a query: refused") {
		t.Errorf("got %v", err)
	}
	w.must(w.runSaying(said))
	if q := e.want(t, 2); q[0].ClientRequestToken == q[1].ClientRequestToken {
		t.Error("it was asked by the same token")
	}
}
