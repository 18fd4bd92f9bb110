package ingest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/iceberg-go/table"
	"github.com/frazil/frazil/internal/change"
	"github.com/frazil/frazil/internal/coerce"
	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/envelope"
	"github.com/frazil/frazil/internal/kafka"
	"github.com/frazil/frazil/internal/rows"
	"github.com/frazil/frazil/internal/stage"
	"github.com/frazil/frazil/internal/wire"
)

// decoded is what records say, as rows of a table.
type decoded struct {
	madeFor  *table.Table   // whose schema and properties it was made for
	route    int            // of the first record
	batch    *rows.Batch    // nil: there were no records
	encoding stage.Encoding // of what the batch takes away
	controls map[envelope.Control]int
	rejected []rejection
	leaning  map[int]*kafka.Record // by row of the batch: the records that keep cells which only the table may have
	sharing  sharing
	made     int64 // when the newest change was made at its source, in milliseconds since 1970
}

// fits reports whether the same would be made for another head of the table. The number of a schema that was removed may be that
// of another one by then.
func (d *decoded) fits(head *table.Table) bool {
	is, was := head.Metadata(), d.madeFor.Metadata()
	return is.TableUUID() == was.TableUUID() && is.Properties()[mergeMode] == was.Properties()[mergeMode] &&
		is.CurrentSchema().ID == was.CurrentSchema().ID && is.CurrentSchema().Equals(was.CurrentSchema())
}

// decodePart decodes records on one core.
func (s *share) decodePart(head *table.Table, records []routed) (*decoded, error) {
	d := &decoded{madeFor: head, controls: map[envelope.Control]int{}, leaning: map[int]*kafka.Record{}}
	decoders := make([]*decoder, len(s.config.Routes))
	for _, r := range records {
		by := decoders[r.route]
		if by == nil {
			var err error
			if by, err = newDecoder(s.config.Routes[r.route], head); err != nil {
				return nil, err
			}
			if err := d.admit(by, r.route, len(records)); err != nil {
				return nil, err
			}
			decoders[r.route] = by
		}
		err := s.groundless[r.Ref()]
		if err == nil {
			err = d.take(by, r.Record)
		}
		if err != nil {
			d.rejected = append(d.rejected, rejection{r.Record, err})
		}
	}
	return d, nil
}

// admit makes the batch, for so many records, when the first route comes, and refuses a further one that does not go with it.
func (d *decoded) admit(by *decoder, route, records int) error {
	if d.batch == nil {
		d.route, d.batch, d.encoding = route, rows.NewBatch(by.schema), by.encoding
		d.batch.Reserve(records)
		d.sharing.reserve(records)
		return nil
	}
	return d.agrees(route, by.schema, by.encoding)
}

// agrees refuses a further route that does not go with those before it.
func (d *decoded) agrees(route int, schema *rows.Schema, encoding stage.Encoding) error {
	switch {
	case !slices.Equal(d.batch.Schema.Key, schema.Key):
		return fmt.Errorf("routes[%d] gives it another key than the other routes do", route)
	case encoding != d.encoding:
		return fmt.Errorf("routes[%d] wants %s deletes, the other routes %s", route, encoding, d.encoding)
	}
	return nil
}

// take adds what a record changes to the batch.
func (d *decoded) take(by *decoder, r *kafka.Record) error {
	before := len(d.batch.Entries)
	err := d.add(by, r)
	added := d.batch.Entries[before:]
	d.sharing.note(r.Part, added)
	for _, e := range added {
		if _, must := d.batch.MustKeep(e.Row); must {
			d.leaning[e.Row] = r
		}
	}
	return err
}

func (d *decoded) add(by *decoder, r *kafka.Record) error {
	c, control, err := by.envelope.Decode(r)
	switch {
	case err != nil:
		return err
	case control != "":
		d.controls[control]++
		return nil
	case c.Op() == change.OpTruncate && by.route.Truncate == config.Ignore:
		d.controls["truncate_ignored"]++
		return nil
	case c.Op() == change.OpTruncate:
		return errors.New("a truncate (truncate: ignore lets it pass)")
	}
	d.made = max(d.made, cmp.Or(c.Time(), r.Time))
	return by.coerce.Add(d.batch, c)
}

// decoder turns the records of one route into rows of the table.
type decoder struct {
	schema   *rows.Schema
	envelope *envelope.Decoder
	coerce   *coerce.Table
	route    config.Route
	encoding stage.Encoding
}

func newDecoder(r config.Route, head *table.Table) (*decoder, error) {
	schema, err := rows.NewSchema(head.Schema(), r.Key)
	if err != nil {
		return nil, err
	}
	e, err := envelope.New(r.Format, envelope.Options{Wrapper: wrappers[r.Wrapper], NullValue: nullRules[r.NullValue]})
	if err != nil {
		return nil, err
	}
	how, err := encoding(r, head.Metadata())
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

// mergeMode is the table property that says how rows are taken away.
const mergeMode = "write.merge.mode"

// encoding is how a route has rows taken away: as it says, else as the table's properties do.
func encoding(r config.Route, m table.Metadata) (stage.Encoding, error) {
	if r.Deletes != "" {
		return stage.Encoding(r.Deletes), nil
	}
	switch strings.ToLower(m.Properties()[mergeMode]) {
	case "", "merge-on-read":
		return stage.Position, nil
	case "copy-on-write":
		return stage.Rewrite, nil
	default:
		return "", errors.New("table property " + mergeMode + ": must be merge-on-read or copy-on-write")
	}
}
