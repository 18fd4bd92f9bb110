package ingest_test

import (
	"strings"
	"testing"

	"github.com/apache/iceberg-go/table"
	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/ingest"
	"github.com/frazil/frazil/internal/kafka"
	"github.com/frazil/frazil/internal/local/lake"
)

// A delivery that was taken waits, and is applied to the table as it is then.
func TestATakenDeliveryMeetsTheTableOfItsTurn(t *testing.T) {
	t.Parallel()
	part := partition(0)
	waiting := []kafka.Record{flat(part, 2, `{"id":1,"n":12}`), flat(part, 3, `{"id":4,"n":4}`)}
	last := flat(part, 1, `{"id":2,"n":2}`)
	for name, test := range map[string]struct {
		meanwhile func(*world, *ingest.Pipeline)
		fails     string
		want      []string
	}{
		"the one before it lands": {func(w *world, p *ingest.Pipeline) { w.must(deliver(w.Context(), p, last)) }, "", []string{"id=1 n=12", "id=2 n=2", "id=4 n=4"}},
		"another process applies it": {func(w *world, _ *ingest.Pipeline) {
			w.must(deliver(w.Context(), w.pipeline(), append([]kafka.Record{last}, waiting...)...))
			w.must(deliver(w.Context(), w.pipeline(), flat(part, 4, `{"id":1,"n":21}`)))
		}, "", []string{"id=1 n=21", "id=2 n=2", "id=4 n=4"}},
		"another process applies a part of it": {func(w *world, _ *ingest.Pipeline) {
			w.must(deliver(w.Context(), w.pipeline(), last, waiting[0]))
			w.must(w.lake.Append(w.Context(), w.name, []lake.Row{{"id": "3", "n": "3"}}))
		}, "", []string{"id=1 n=12", "id=2 n=2", "id=3 n=3", "id=4 n=4"}},
		"the one before it fails, and another process goes on": {func(w *world, p *ingest.Pipeline) {
			if deliver(w.Context(), p, flat(part, 1, `{}`)) == nil {
				w.Error("a record without a key is applied")
			}
			w.must(deliver(w.Context(), w.pipeline(), last, waiting[0]))
			w.must(deliver(w.Context(), w.pipeline(), flat(partition(1), 0, `{"id":1,"n":21}`)))
		}, "", []string{"id=1 n=21", "id=2 n=2", "id=4 n=4"}},
		"the schema becomes another one": {func(w *world, p *ingest.Pipeline) {
			w.must(w.lake.Alter(w.Context(), w.name, []lake.Column{{Name: "id", Type: "long", Required: true}, {Name: "n", Type: "long"}, {Name: "more", Type: "int"}}))
			w.must(deliver(w.Context(), p, flat(part, 1, `{"id":2,"n":2,"more":5}`)))
		}, "", []string{"id=1 n=12", "id=2 n=2 more=5", "id=4 n=4"}},
		"a column goes": {func(w *world, p *ingest.Pipeline) {
			w.must(w.lake.Alter(w.Context(), w.name, []lake.Column{{Name: "id", Type: "long", Required: true}}))
			w.must(deliver(w.Context(), p, flat(part, 1, `{"id":2}`)))
		}, "column n", []string{"id=1", "id=2"}},
		"the encoding becomes another one": {func(w *world, p *ingest.Pipeline) {
			w.must(w.lake.SetProperties(w.Context(), w.name, map[string]string{"write.merge.mode": "copy-on-write"}))
			w.must(deliver(w.Context(), w.pipeline(), last))
		}, "", []string{"id=1 n=12", "id=2 n=2", "id=4 n=4"}},
		"the table is rolled back": {func(w *world, _ *ingest.Pipeline) {
			w.must(deliver(w.Context(), w.pipeline(), last))
			w.must(w.lake.Rollback(w.Context(), w.name, 1))
		}, "the table was rolled back", []string{"id=1 n=1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, shopOrders, flatRoute)
			p := w.pipeline()
			w.must(deliver(t.Context(), p, flat(part, 0, `{"id":1,"n":1}`)))
			d, err := p.Take(t.Context(), waiting)
			w.must(err)
			test.meanwhile(w, p)
			switch err := d.Apply(t.Context()); {
			case test.fails == "":
				w.must(err)
			case err == nil || !strings.Contains(err.Error(), test.fails):
				t.Errorf("got %v, want %s", err, test.fails)
			}
			w.wantRows(test.want...)
			if report := w.audit(); len(report.Faults) > 0 && test.fails == "" {
				t.Errorf("%v", report.Faults)
			}
		})
	}
}

// What a record of an older head's columns says may not be refused by it.
func TestATakenDeliveryIsRefusedByTheHeadOfItsTurnOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t, shopOrders, flatRoute)
	p, part := w.pipeline(), partition(0)
	w.must(deliver(t.Context(), p, flat(part, 0, `{"id":1,"n":1}`)))
	d, err := p.Take(t.Context(), []kafka.Record{flat(part, 1, `{"id":2,"n":2,"more":2}`)})
	w.must(err)
	w.must(w.lake.Alter(w.Context(), w.name, []lake.Column{{Name: "id", Type: "long", Required: true}, {Name: "n", Type: "int"}, {Name: "more", Type: "int"}}))
	w.must(d.Apply(t.Context()))
	w.wantRows("id=1 n=1", "id=2 n=2 more=2")
}

// A schema that nothing uses any more may go, and another one gets its number.
func TestATakenDeliveryIsDecodedAnewForAnotherSchemaOfTheSameNumber(t *testing.T) {
	t.Parallel()
	w := newWorld(t, shopOrders, flatRoute)
	w.alter(addNote)
	p, part := w.pipeline(), partition(0)
	w.must(deliver(t.Context(), p, flat(part, 0, `{"id":1,"note":"a"}`)))
	d, err := p.Take(t.Context(), []kafka.Record{flat(part, 1, `{"id":2,"note":"b"}`)})
	w.must(err)
	w.renewNote()
	if deliver(t.Context(), p, flat(part, 1, `{}`)) == nil { // so the process looks at the table again
		t.Error("a record without a key is applied")
	}
	w.must(d.Apply(t.Context()))
	w.wantRows("id=1", "id=2 note=b")
}

// Dead letters and cuts are those of its turn too.
func TestBadRecordsOfATakenDeliveryAreCutOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t, shopOrders, flatRoute)
	w.config.ReportFailures = true
	p, part := w.pipeline(), partition(0)
	_, err := p.Ledger(t.Context(), config.Table{Catalog: "main", Path: []string{"shop", "orders"}})
	w.must(err)
	d, err := p.Take(t.Context(), []kafka.Record{flat(part, 0, `{"id":1,"n":1}`), flat(part, 1, `{}`), flat(part, 2, `{"id":2,"n":2}`)})
	w.must(err)
	if err := d.Apply(t.Context()); err == nil || !strings.Contains(err.Error(), "offset 1") {
		t.Errorf("got %v", err)
	}
	w.wantRows("id=1 n=1")
}

// Nor is a row of another schema of the same number one that stays as it is.
func TestARowIsWrittenAgainForAnotherSchemaOfTheSameNumber(t *testing.T) {
	t.Parallel()
	w := newWorld(t, shopOrders, flatRoute)
	w.alter(addNote)
	p, part := w.pipeline(), partition(0)
	w.must(deliver(t.Context(), p, flat(part, 0, `{"id":1,"note":"a"}`)))
	w.renewNote()
	w.must(deliver(t.Context(), w.pipeline(), flat(part, 1, `{"id":2,"note":"b"}`)))
	w.must(deliver(t.Context(), p, flat(part, 1, `{"id":2,"note":"b"}`), flat(part, 2, `{"id":1,"note":"a"}`)))
	w.wantRows("id=1 note=a", "id=2 note=b")
}

// renewNote has a column made anew, and the schema with it get the number of the one before.
func (w *world) renewNote() {
	w.Helper()
	before := w.load()
	w.alter(func(tx *table.Transaction) error {
		return tx.UpdateSchema(true, false).DeleteColumn([]string{"note"}).Commit()
	})
	_, _, err := w.client.CommitTable(w.Context(), before.Identifier(), nil, []table.Update{table.NewRemoveSchemasUpdate([]int{before.Schema().ID})})
	w.must(err)
	w.alter(addNote)
	if w.load().Schema().ID != before.Schema().ID {
		w.Fatal("the number is not taken again")
	}
}
