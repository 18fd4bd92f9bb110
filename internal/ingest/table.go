package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/apache/iceberg-go/catalog"
	"github.com/apache/iceberg-go/table"
	"github.com/frazil/frazil/internal/change"
	"github.com/frazil/frazil/internal/coerce"
	"github.com/frazil/frazil/internal/commit"
	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/deadletter"
	"github.com/frazil/frazil/internal/envelope"
	"github.com/frazil/frazil/internal/kafka"
	"github.com/frazil/frazil/internal/ledger"
	"github.com/frazil/frazil/internal/locate"
	"github.com/frazil/frazil/internal/rows"
	"github.com/frazil/frazil/internal/stage"
	"github.com/frazil/frazil/internal/wire"
)

// routed is a record and the index of its route.
type routed struct {
	*kafka.Record
	route int
}

// target is a table that records go to, with what stays warm between deliveries: its head.
type target struct {
	name    config.Table
	catalog Catalog
	letters deadletter.Sink
	config  *config.Config
	log     *slog.Logger
	now     func() time.Time
	cache   *locate.Cache

	mu    sync.Mutex   // held for one delivery, or one word of its owner's
	head  *table.Table // as of the last commit or load; nil: not known
	fresh bool         // the head was loaded during this delivery
	// Others wrote the table since the last delivery: a head that is kept would be an old one, and an attempt on it in vain.
	crowded bool
	// The newest time of deliveries without effect, in milliseconds since 1970.
	newest map[kafka.Partition]int64
	passed map[kafka.Partition]int64 // the offset behind the last record of the deliveries that are done
	warned bool                      // that keys come from several partitions (rule 10)

	// Of the delivery at hand.
	records  []routed
	read     map[kafka.Partition]kafka.Range // what was read for them, where the deliverer knows
	ledger   *ledger.Ledger                  // of the head
	batch    *rows.Batch                     // made for the head's schema
	encoding stage.Encoding                  // of what the batch takes away
	spans    ledger.Spans
	controls map[envelope.Control]int
	rejected []rejection
	cut      map[*kafka.Partition]rejection // the first bad record of partitions that end there
	buried   map[kafka.Ref]bool             // records whose dead letters are written
	skipped  int                            // records that the ledger has
	leaning  map[int]*kafka.Record          // by row of the batch: the records that keep cells which only the table may have
	// Those of them that turned out to have no row to keep from in the head (rule 13).
	groundless map[kafka.Ref]error
	sharing    sharing
	made       int64 // when the newest change was made at its source, in milliseconds since 1970
	lost       int   // attempts that lost against another writer
	unknown    int   // and those of which nobody knew whether they landed
}

// load takes the table's current state from the catalog.
func (t *target) load(ctx context.Context) error {
	head, err := t.catalog.Load(ctx, t.name.Path)
	if err != nil {
		return err
	}
	t.fresh = true
	return t.use(head)
}

// use makes a table's state the head.
func (t *target) use(head *table.Table) (err error) {
	if err := commit.Writable(head.Metadata()); err != nil {
		return err
	}
	before := t.ledger
	if t.ledger, err = commit.Ledger(head); err != nil {
		return err
	}
	t.rewind(before)
	t.head = head
	return nil
}

// encoding is how a route has rows taken away: as it says, else as the table's properties do.
func encoding(r config.Route, m table.Metadata) (stage.Encoding, error) {
	if r.Deletes != "" {
		return stage.Encoding(r.Deletes), nil
	}
	switch strings.ToLower(m.Properties()["write.merge.mode"]) {
	case "", "merge-on-read":
		return stage.Position, nil
	case "copy-on-write":
		return stage.Rewrite, nil
	default:
		return "", errors.New("table property write.merge.mode: must be merge-on-read or copy-on-write")
	}
}

// prepare makes the batch of the delivery: what the table's ledger does not have is decoded and coerced. Records
// that cannot be applied are gathered in rejected. None is refused or skipped by a head that may be old: the owner may
// have changed the table, or set its ledger back.
func (t *target) prepare(ctx context.Context) error {
	t.fresh = false
	last := t.head
	if last != nil && !t.crowded {
		if err := t.decode(); err == nil && len(t.rejected) == 0 && t.skipped == 0 {
			return nil
		}
	}
	err := t.load(ctx)
	switch {
	case errors.Is(err, catalog.ErrNoSuchTable): // the topic may be the wrong one as well
		return fmt.Errorf("%s: %w", t.records[0].Ref(), err)
	case err != nil:
		return err
	}
	t.crowded = t.crowded && (last == nil || t.head.MetadataLocation() != last.MetadataLocation())
	return t.decode()
}

func (t *target) decode() error {
	t.rejected, t.skipped, t.spans, t.controls = nil, 0, ledger.Spans{}, map[envelope.Control]int{}
	t.sharing, t.made, t.leaning = sharing{}, 0, map[int]*kafka.Record{}
	if err := t.follow(); err != nil {
		return err
	}
	decoders := map[int]*decoder{}
	for _, r := range t.records {
		applied, err := t.ledger.Check(r.Record)
		if err != nil {
			return err
		}
		if applied {
			t.skipped++
			continue
		}
		d := decoders[r.route]
		if d == nil {
			if d, err = t.decoder(r.route); err != nil {
				return err
			}
			if err := t.admit(d, len(decoders) == 0, r.route); err != nil {
				return err
			}
			decoders[r.route] = d
		}
		t.spans.Add(r.Record)
		if err := t.take(d, r.Record); err != nil {
			t.rejected = append(t.rejected, rejection{r.Record, err})
		}
	}
	if len(decoders) == 0 {
		t.batch = nil
	}
	for p, span := range t.spans {
		span.Next, span.Time = max(span.Next, t.read[p].Next), max(span.Time, t.newest[p])
		t.spans[p] = span
	}
	return nil
}

// admit makes the batch for the delivery's first route, and refuses a further one that does not go with it.
func (t *target) admit(d *decoder, first bool, route int) error {
	switch {
	case first:
		t.batch, t.encoding = rows.NewBatch(d.schema), d.encoding
		t.batch.Reserve(len(t.records))
	case !slices.Equal(t.batch.Schema.Key, d.schema.Key):
		return fmt.Errorf("routes[%d] gives it another key than the other routes do", route)
	case d.encoding != t.encoding:
		return fmt.Errorf("routes[%d] wants %s deletes, the other routes %s", route, d.encoding, t.encoding)
	}
	return nil
}

// decoder turns the records of one route into rows of the table.
type decoder struct {
	schema   *rows.Schema
	envelope *envelope.Decoder
	coerce   *coerce.Table
	route    config.Route
	encoding stage.Encoding
}

func (t *target) decoder(route int) (*decoder, error) {
	r := t.config.Routes[route]
	schema, err := rows.NewSchema(t.head.Schema(), r.Key)
	if err != nil {
		return nil, err
	}
	e, err := envelope.New(r.Format, envelope.Options{Wrapper: wrappers[r.Wrapper], NullValue: nullRules[r.NullValue]})
	if err != nil {
		return nil, err
	}
	how, err := encoding(r, t.head.Metadata())
	if err != nil {
		return nil, err
	}
	c, err := coerce.New(schema, r, how != stage.Equality)
	if err != nil {
		return nil, err
	}
	return &decoder{schema: schema, envelope: e, coerce: c, route: r, encoding: how}, nil
}

var (
	wrappers  = map[string]wire.Wrapper{"auto": wire.Auto, "none": wire.None, "schema_payload": wire.SchemaPayload}
	nullRules = map[config.Rule]envelope.NullRule{config.Delete: envelope.NullDelete, config.Ignore: envelope.NullIgnore, config.Error: envelope.NullError}
)

// take adds what a record changes to the batch.
func (t *target) take(d *decoder, r *kafka.Record) error {
	if err := t.groundless[r.Ref()]; err != nil {
		return err
	}
	before := len(t.batch.Entries)
	err := t.add(d, r)
	added := t.batch.Entries[before:]
	t.sharing.note(r.Part, added)
	for _, e := range added {
		if _, must := t.batch.MustKeep(e.Row); must {
			t.leaning[e.Row] = r
		}
	}
	return err
}

func (t *target) add(d *decoder, r *kafka.Record) error {
	c, control, err := d.envelope.Decode(r)
	switch {
	case err != nil:
		return err
	case control != "":
		t.controls[control]++
		return nil
	case c.Op() == change.OpTruncate && d.route.Truncate == config.Ignore:
		t.controls["truncate_ignored"]++
		return nil
	case c.Op() == change.OpTruncate:
		return errors.New("a truncate (truncate: ignore lets it pass)")
	}
	t.made = max(t.made, cmp.Or(c.Time(), r.Time))
	return d.coerce.Add(t.batch, c)
}
