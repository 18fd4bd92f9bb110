package soak

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// values are a row's columns but for id, by name.
type values map[string]int64

// event is a change of a source, and the record that tells of it.
type event struct {
	id, before int64 // before: the id that the row had, 0 for the same one
	row        values
	deletes    bool
	bad        bool // nobody can apply it
	record     *kgo.Record
}

// part is a partition of a topic with what its source did so far. Its keys are its own.
type part struct {
	topic  string
	number int32
	table  *table
	class  int64 // ids are class modulo classes
	events []event

	produced int // of them, to the broker
}

const classes = 16

func (p *part) name() string { return fmt.Sprintf("%s-%d", p.topic, p.number) }

func (p *part) key(r *rand.Rand) int64 { return p.class + classes*(1+r.Int64N(10)) }

// grow has the source do something more, by the table's columns of today. Its first event is a good insert: a topic of which
// all is bad is another story (rule 20).
func (p *part) grow(r *rand.Rand) {
	e := event{id: p.key(r), row: values{"n": r.Int64N(1000)}}
	for _, c := range p.table.columns {
		if r.IntN(4) > 0 {
			e.row[c] = r.Int64N(1000)
		}
	}
	if len(p.events) > 0 {
		switch r.IntN(20) {
		case 0, 1, 2, 3, 4:
			e.deletes = true
		case 5, 6, 7:
			e.before = p.key(r)
		case 8:
			e.bad = true
		}
	}
	e.record = e.kafka(r, p)
	p.events = append(p.events, e)
}

func (e event) kafka(r *rand.Rand, p *part) *kgo.Record {
	offset := int64(len(p.events))
	rec := &kgo.Record{Topic: p.topic, Partition: p.number, Offset: offset, Timestamp: time.UnixMilli(1_700_000_000_000 + offset)}
	rec.Key = fmt.Appendf(nil, `{"id":%d}`, e.id)
	row := map[string]any{"id": e.id}
	for c, v := range e.row {
		row[c] = v
	}
	change := map[string]any{"op": []string{"c", "u", "r"}[r.IntN(3)], "before": nil, "after": row}
	switch {
	case e.bad:
		row["n"] = "many"
	case e.deletes && r.IntN(2) == 0: // a tombstone alone
		return rec
	case e.deletes:
		change = map[string]any{"op": "d", "before": map[string]any{"id": e.id, "n": nil}, "after": nil}
	case e.before != 0:
		change["op"], change["before"] = "u", map[string]any{"id": e.before, "n": 0}
	}
	rec.Value, _ = json.Marshal(change) // texts and numbers
	return rec
}
