package commit_test

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/frazil/frazil/internal/commit"
	"github.com/frazil/frazil/internal/local/catalog"
	"github.com/frazil/frazil/internal/warehouse"
)

// front stands before the catalog. Its own answers to requests that load or commit a table, where it has some, come
// in place of the catalog's.
type front struct {
	mu           sync.Mutex
	load, commit func(w http.ResponseWriter, r *http.Request, behind http.Handler)
}

func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request, behind http.Handler) {
	f.mu.Lock()
	defer f.mu.Unlock()
	own := map[string]func(http.ResponseWriter, *http.Request, http.Handler){http.MethodGet: f.load, http.MethodPost: f.commit}[r.Method]
	if own == nil || !strings.Contains(r.URL.Path, "/tables/") {
		behind.ServeHTTP(w, r)
		return
	}
	own(w, r, behind)
}

// behind opens the world's catalog behind a front.
func (w world) behind(f *front) world {
	w.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) { f.ServeHTTP(out, r, w.catalog) }))
	w.Cleanup(server.Close)
	at := w.at
	at.URI = server.URL
	var err error
	w.Warehouse, err = warehouse.Open(w.Context(), "main", at)
	w.must(err)
	return w
}

// kept is an answer of the catalog to the request that a front has got.
func kept(r *http.Request, behind http.Handler) *httptest.ResponseRecorder {
	answer := httptest.NewRecorder()
	behind.ServeHTTP(answer, r)
	return answer
}

func replay(w http.ResponseWriter, answer *httptest.ResponseRecorder) {
	maps.Copy(w.Header(), answer.Header())
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes())
}

// A proxy that moves paths turns a POST into a GET on its way: the answer is a table, but not one with the attempt.
func TestAnAnswerThatShowsTheTableWithoutTheAttemptIsNoSuccess(t *testing.T) {
	t.Parallel()
	loaded := func(r *http.Request) *http.Request {
		get := r.Clone(r.Context())
		get.Method, get.Body = http.MethodGet, http.NoBody
		return get
	}
	for name, c := range map[string]struct {
		commit func(http.ResponseWriter, *http.Request, http.Handler)
		landed bool
	}{
		"the table as it was": {func(w http.ResponseWriter, r *http.Request, behind http.Handler) {
			replay(w, kept(loaded(r), behind))
		}, false},
		"the table as it was, once it had landed": {func(w http.ResponseWriter, r *http.Request, behind http.Handler) {
			before := kept(loaded(r), behind)
			kept(r, behind)
			replay(w, before)
		}, true},
		"half of the table": {func(w http.ResponseWriter, r *http.Request, behind http.Handler) {
			answer := kept(r, behind)
			_, _ = w.Write(answer.Body.Bytes()[:answer.Body.Len()/2])
		}, true},
		"nothing": {func(w http.ResponseWriter, r *http.Request, behind http.Handler) {
			kept(r, behind)
			_, _ = w.Write([]byte(`{}`))
		}, true},
		"an empty table": {func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
			_, _ = w.Write([]byte(`{"metadata-location":"s3://frazil/x","metadata":{"format-version":2}}`))
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			f := &front{commit: c.commit}
			w = w.behind(f)
			a := w.attempt(w.head(), 1)
			after, err := a.Publish(t.Context(), w, w)
			switch {
			case c.landed && (err != nil || after.CurrentSnapshot() == nil || after.CurrentSnapshot().SnapshotID != a.Snapshot):
				t.Errorf("it has landed: %v", err)
			case !c.landed && !errors.Is(err, commit.ErrUnknown):
				t.Errorf("got %v, want ErrUnknown", err)
			}
			if n := w.stored(a); n != len(a.Objects) {
				t.Errorf("%d of %d files are there", n, len(a.Objects))
			}
		})
	}
}

// The request was sent twice on its way: the first one landed, the second one was refused, and the table is read from a copy
// that has not heard of either. That the table would still take the attempt disproves the refusal.
func TestFilesStayWhereTheTableAsItIsReadDoesNotExplainARefusal(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusConflict, http.StatusBadRequest} {
		w := newWorld(t)
		f := &front{}
		w = w.behind(f)
		_, err := w.attempt(w.head(), 0).Publish(t.Context(), w, w)
		w.must(err)
		head := w.head()
		old := httptest.NewRecorder()
		f.load = func(out http.ResponseWriter, r *http.Request, behind http.Handler) {
			replay(out, old)
		}
		f.commit = func(out http.ResponseWriter, r *http.Request, behind http.Handler) {
			get := r.Clone(r.Context())
			get.Method, get.Body = http.MethodGet, http.NoBody
			old = kept(get, behind)
			kept(r, behind)
			out.WriteHeader(status)
			_, _ = out.Write([]byte(`{"error":{"message":"again","type":"CommitFailedException","code":409}}`))
		}
		a := w.attempt(head, 1)
		_, err = a.Publish(t.Context(), w, w)
		if err == nil {
			t.Errorf("%d: no error", status)
		}
		if n := w.stored(a); n != len(a.Objects) {
			t.Errorf("%d: %d of %d files of an attempt that landed are there", status, n, len(a.Objects))
		}
	}
}

// A commit that is never answered is given up while there is time to look.
func TestAnOutcomeIsLearntBeforeTheDeadline(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.attempt(w.head(), 1)
	w.catalog.SetFault(func(op catalog.Op, _ *http.Request) catalog.Fault {
		if op == catalog.OpCommitTable {
			return catalog.ApplyThenHang()
		}
		return catalog.Fault{}
	})
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Second)
	defer cancel()
	if after, err := a.Publish(ctx, w, w); err != nil || after.CurrentSnapshot().SnapshotID != a.Snapshot {
		t.Errorf("it has landed: %v", err)
	}
}
