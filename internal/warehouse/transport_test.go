package warehouse_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"
	"github.com/frazil/frazil/internal/local/catalog"
)

// first lets the first n requests of a kind meet a fault, and tells how many came.
func (p parts) first(n int, kind catalog.Op, f catalog.Fault) (came func() int) {
	var mu sync.Mutex
	count := 0
	p.catalog.SetFault(func(op catalog.Op, _ *http.Request) catalog.Fault {
		mu.Lock()
		defer mu.Unlock()
		if op != kind {
			return catalog.Fault{}
		}
		if count++; count > n {
			return catalog.Fault{}
		}
		return f
	})
	return func() int {
		mu.Lock()
		defer mu.Unlock()
		return count
	}
}

var setA = []table.Update{table.NewSetPropertiesUpdate(iceberg.Properties{"a": "1"})}

func TestWhatChangesNothingIsAskedAgain(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]catalog.Fault{
		"429": catalog.Refuse(http.StatusTooManyRequests), "500": catalog.Refuse(http.StatusInternalServerError), "504": catalog.Refuse(http.StatusGatewayTimeout),
		"503, which says when": catalog.RefuseUntil(http.StatusServiceUnavailable, 0), "Glue's throttling": catalog.Throttle(), "no answer": catalog.ApplyThenDrop(),
	} {
		p := start(t)
		w := p.open(t)
		create(t, w, nil)
		came := p.first(2, catalog.OpLoadTable, f)
		if _, err := w.Load(t.Context(), ident); err != nil || came() != 3 {
			t.Errorf("%s: %d requests, %v", name, came(), err)
		}
	}
}

// A commit that is repeated on its way could be refused although it landed. Only throttling says that nothing was done.
func TestACommitIsAskedAgainOnlyWhenItWasThrottled(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fault catalog.Fault
		again bool
	}{
		"429": {catalog.Refuse(http.StatusTooManyRequests), true}, "Glue's throttling": {catalog.Throttle(), true},
		"400": {catalog.Refuse(http.StatusBadRequest), false}, "409": {catalog.Refuse(http.StatusConflict), false},
		"500": {catalog.Refuse(http.StatusInternalServerError), false}, "503": {catalog.RefuseUntil(http.StatusServiceUnavailable, 0), false},
		"504": {catalog.ApplyThenStatus(http.StatusGatewayTimeout), false}, "no answer": {catalog.ApplyThenDrop(), false},
	} {
		p := start(t)
		w := p.open(t)
		loaded := create(t, w, nil)
		came := p.first(1, catalog.OpCommitTable, c.fault)
		after, err := w.Commit(t.Context(), loaded, nil, setA)
		if c.again && (err != nil || after.Properties()["a"] != "1" || came() != 2) || !c.again && (err == nil || came() != 1) {
			t.Errorf("%s: %d requests, %v", name, came(), err)
		}
	}
}

func TestWrongRequestsAreNotAskedAgain(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusBadRequest, http.StatusForbidden, http.StatusNotFound} {
		p := start(t)
		w := p.open(t)
		came := p.first(1, catalog.OpLoadTable, catalog.Refuse(status))
		if _, err := w.Load(t.Context(), ident); err == nil || came() != 1 {
			t.Errorf("%d: %d requests, %v", status, came(), err)
		}
	}
}

// Who has no time left for the wait that a catalog asks for is told at once.
func TestTheCallersTimeBoundsTheWait(t *testing.T) {
	t.Parallel()
	p := start(t)
	w := p.open(t)
	create(t, w, nil)
	came := p.first(9, catalog.OpLoadTable, catalog.RefuseUntil(http.StatusTooManyRequests, 3600))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := w.Load(ctx, ident); err == nil || errors.Is(err, context.DeadlineExceeded) || came() != 1 {
		t.Errorf("%d requests, %v", came(), err)
	}
}
