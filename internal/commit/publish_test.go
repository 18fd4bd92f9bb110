package commit_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/apache/iceberg-go/table"
	"github.com/frazil/frazil/internal/commit"
	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/kafka"
	"github.com/frazil/frazil/internal/ledger"
	"github.com/frazil/frazil/internal/local/catalog"
	"github.com/frazil/frazil/internal/local/lake"
	"github.com/frazil/frazil/internal/local/objects"
	"github.com/frazil/frazil/internal/local/stack"
	"github.com/frazil/frazil/internal/locate"
	"github.com/frazil/frazil/internal/resolve"
	"github.com/frazil/frazil/internal/rows"
	"github.com/frazil/frazil/internal/stage"
	"github.com/frazil/frazil/internal/warehouse"
)

// world is one table with what it lives in.
type world struct {
	testing.TB
	objects *objects.Server
	catalog *catalog.Server
	at      config.Catalog
	*warehouse.Warehouse
}

func newWorld(t *testing.T) world {
	t.Helper()
	parts, err := stack.StartLake()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(parts.Close)
	w := world{TB: t, objects: parts.Objects, catalog: parts.Catalog, at: parts.CatalogConfig()}
	l, err := lake.Open(t.Context(), w.at)
	w.must(err)
	w.must(l.Create(t.Context(), lake.Spec{Name: "shop.orders", Columns: []lake.Column{{Name: "id", Type: "long", Required: true}}, Key: []string{"id"}}))
	w.Warehouse, err = warehouse.Open(t.Context(), "main", w.at)
	w.must(err)
	return w
}

func (w world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w world) head() *table.Table {
	w.Helper()
	head, err := w.Load(w.Context(), lake.Ident("shop.orders"))
	w.must(err)
	return head
}

// attempt is a commit of one row on a head, of the delivery up to an offset.
func (w world) attempt(head *table.Table, offset int64) *commit.Attempt {
	w.Helper()
	schema, err := rows.NewSchema(head.Schema(), nil)
	w.must(err)
	b := rows.NewBatch(schema)
	b.Put(0, []rows.Cell{{Int: offset}})
	l, err := ledger.Read(head.Properties())
	w.must(err)
	source, err := commit.Source(head, nil)
	w.must(err)
	live, err := locate.NewCache(nil).Open(w.Context(), w, source)
	w.must(err)
	base := commit.Base{Table: head, Live: live}
	target, err := base.Target(nil)
	w.must(err)
	o := &resolve.Outcome{Batch: b, Write: []resolve.Row{{Index: 0, ID: locate.NoID}}, Found: &locate.Found{}}
	files, err := stage.Write(w.Context(), w, live, o, stage.Position, target)
	w.must(err)
	move, err := l.Advance(ledger.Spans{{Source: kafka.MainSource, Topic: "t"}: {From: offset, Next: offset + 1}})
	w.must(err)
	a, err := commit.New(base, files, move, time.UnixMilli(1_700_000_000_000))
	w.must(err)
	return a
}

// stored counts the attempt's files that are in the store.
func (w world) stored(a *commit.Attempt) (n int) {
	for _, o := range a.Objects {
		if _, ok := w.objects.Read(stack.Bucket, strings.TrimPrefix(o.Path, "s3://"+stack.Bucket+"/")); ok {
			n++
		}
	}
	return n
}

func TestOfTwoAttemptsOnOneHeadOneLandsAndTheOtherLeavesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	head := w.head()
	first, second := w.attempt(head, 1), w.attempt(head, 2)
	after, err := first.Publish(t.Context(), w, w)
	w.must(err)
	if got := after.CurrentSnapshot().SnapshotID; got != first.Snapshot {
		t.Errorf("the table after it is at snapshot %d, want %d", got, first.Snapshot)
	}
	if _, err := second.Publish(t.Context(), w, w); !errors.Is(err, commit.ErrRejected) {
		t.Errorf("got %v, want ErrRejected", err)
	}
	if a, b := w.stored(first), w.stored(second); a != len(first.Objects) || b != 0 {
		t.Errorf("%d of %d files of the first are there, and %d of the second", a, len(first.Objects), b)
	}
}

// The catalog refuses it, since main has moved: by this very attempt. Others may have committed on top.
func TestAnAttemptPublishedTwiceHasLanded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.attempt(w.head(), 1)
	after, err := a.Publish(t.Context(), w, w)
	w.must(err)
	_, err = w.attempt(after, 2).Publish(t.Context(), w, w)
	w.must(err)
	again, err := a.Publish(t.Context(), w, w)
	if err != nil {
		t.Fatalf("a landed attempt is said not to have: %v", err)
	}
	if n := len(again.Metadata().Snapshots()); n != 2 || w.stored(a) != len(a.Objects) {
		t.Errorf("%d snapshots, want 2; %d of %d files are there", n, w.stored(a), len(a.Objects))
	}
}

func TestHowAnAttemptThatDidNotLandEnds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		commit, load catalog.Fault
		want         error // nil: neither rejected nor unknown
		kept         bool
	}{
		"refused, and the table cannot be seen": {catalog.Refuse(http.StatusConflict), catalog.Refuse(http.StatusServiceUnavailable), commit.ErrUnknown, true},
		"refused by a head that has not moved":  {catalog.Refuse(http.StatusConflict), catalog.Fault{}, commit.ErrRejected, true},
		"no answer":                             {catalog.Refuse(http.StatusGatewayTimeout), catalog.Fault{}, commit.ErrUnknown, true},
		"throttled":                             {catalog.Refuse(http.StatusTooManyRequests), catalog.Fault{}, commit.ErrUnknown, true},
		"not allowed":                           {catalog.Refuse(http.StatusForbidden), catalog.Fault{}, nil, true},
		"not understood":                        {catalog.Refuse(http.StatusBadRequest), catalog.Fault{}, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			a := w.attempt(w.head(), 1)
			w.catalog.SetFault(func(op catalog.Op, _ *http.Request) catalog.Fault {
				switch op {
				case catalog.OpCommitTable:
					return c.commit
				case catalog.OpLoadTable:
					return c.load
				}
				return catalog.Fault{}
			})
			_, err := a.Publish(t.Context(), w, w)
			rejected, unknown := errors.Is(err, commit.ErrRejected), errors.Is(err, commit.ErrUnknown)
			if err == nil || rejected != (c.want == commit.ErrRejected) || unknown != (c.want == commit.ErrUnknown) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			if kept := w.stored(a) == len(a.Objects); kept != c.kept {
				t.Errorf("its files are kept: %v, want %v", kept, c.kept)
			}
			w.catalog.SetFault(nil)
			if n := len(w.head().Metadata().Snapshots()); n != 0 {
				t.Errorf("%d snapshots, want none", n)
			}
		})
	}
}

// The spec lets a table's time only go forward, whatever this machine's clock says.
func TestASnapshotIsNeverOlderThanItsTable(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	head := w.head() // made now; the attempt's clock says 2023
	after, err := w.attempt(head, 1).Publish(t.Context(), w, w)
	w.must(err)
	if got, least := after.CurrentSnapshot().TimestampMs, head.Metadata().LastUpdatedMillis(); got < least {
		t.Errorf("the snapshot is of %d, the table was updated at %d", got, least)
	}
}
