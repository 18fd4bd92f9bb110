package ingest_test

import (
	"strings"
	"testing"

	"github.com/frazil/frazil/internal/ingest"
	"github.com/frazil/frazil/internal/local/lake"
)

// A record may change nothing because another writer has done so. Who takes that writer's snapshot back takes the record's
// effect too, though no snapshot of frazil's goes.
func TestARollBackOfAnothersChangeTakesWhatItHasAnticipated(t *testing.T) {
	t.Parallel()
	for name, known := range map[string]bool{"of a known topic": true, "of a topic that is new": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, shopOrders, flatRoute, lake.Row{"id": "1", "n": "1"}, lake.Row{"id": "2", "n": "2"})
			part, first, p := partition(0), int64(0), w.pipeline()
			if known {
				w.must(deliver(t.Context(), p, gone(part, 0, `{"id":2}`)))
				first = 1
			}
			w.must(w.lake.Delete(t.Context(), w.name, []lake.Row{{"id": "1"}}, lake.Rewrite))
			for range 2 { // which is enough to know
				w.must(deliver(t.Context(), p, gone(part, first, `{"id":1}`)))
			}
			w.must(w.lake.Rollback(t.Context(), w.name, 2)) // behind the other's
			for _, p := range []*ingest.Pipeline{p, w.pipeline()} {
				if err := deliver(t.Context(), p, flat(part, first+1, `{"id":3,"n":3}`)); err == nil || !strings.Contains(err.Error(), "not in it any more") {
					t.Errorf("what was lost is left out: %v", err)
				}
			}
			w.must(deliver(t.Context(), p, gone(part, first, `{"id":1}`), flat(part, first+1, `{"id":3,"n":3}`)))
			w.must(deliver(t.Context(), w.pipeline(), gone(part, first+2, `{"id":2}`)))
			w.wantRows("id=3 n=3")
		})
	}
}
