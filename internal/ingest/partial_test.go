package ingest_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/ingest"
	"github.com/frazil/frazil/internal/kafka"
	"github.com/frazil/frazil/internal/local/catalog"
	"github.com/frazil/frazil/internal/local/lake"
	"github.com/frazil/frazil/internal/local/stack"
	"github.com/frazil/frazil/internal/local/trial"
)

// notes are rows of two shops, each with a topic of its own.
var notes = lake.Spec{
	Name: "shop.notes", Key: []string{"shop", "id"},
	Columns: []lake.Column{
		{Name: "shop", Type: "string", Required: true}, {Name: "id", Type: "long", Required: true}, {Name: "kind", Type: "string", Required: true},
		{Name: "n", Type: "int"}, {Name: "body", Type: "string"}, {Name: "tags", Type: "list<string>"},
	},
}

// noteKey is of a note. Those of a shop are in its topic, in two partitions.
type noteKey struct {
	shop string
	id   int64
}

func (k noteKey) json() string { return fmt.Sprintf(`{"shop":%q,"id":%d}`, k.shop, k.id) }

func (k noteKey) lane() lane { return lane{k.shop, int32(k.id % 2)} }

type lane struct {
	topic string
	part  int32
}

// note is one's cells by column, as JSON; one that is not there is NULL, or was not sent.
type note map[string]string

// saying is a record: a row that is put, or a delete.
type saying struct {
	key     noteKey
	op      string // c or u; d; "": a tombstone
	sent    note
	before  *noteKey // of an update: the key that it had
	other   *noteKey // of a half of a change of key
	mark    int
	refused bool // a value does not fit
}

func (s saying) record(part *kafka.Partition, offset int64) kafka.Record {
	rec := kafka.Record{Part: part, Offset: offset, Time: 1_700_000_000_000 + offset, Key: []byte(s.key.json())}
	cells := []string{strings.Trim(s.key.json(), "{}")}
	for _, name := range slices.Sorted(maps.Keys(s.sent)) {
		cells = append(cells, fmt.Sprintf("%q:%s", name, s.sent[name]))
	}
	if s.refused {
		cells = append(cells, `"no such column":1`)
	}
	before, after := "null", "{"+strings.Join(cells, ",")+"}"
	if s.before != nil {
		before = s.before.json()
	}
	if s.op == "d" {
		before, after = s.key.json(), "null"
	}
	if s.op != "" {
		rec.Value = fmt.Appendf(nil, `{"op":%q,"before":%s,"after":%s,"source":{"ts_ms":1000,"lsn":%d}}`, s.op, before, after, s.mark)
	}
	if s.other != nil {
		name := map[bool]string{true: "__debezium.newkey", false: "__debezium.oldkey"}[s.op != "c"]
		rec.Headers = []kafka.Header{{Key: name, Value: []byte(s.other.json())}}
	}
	return rec
}

// author is a source whose notes change. What it says of a change is one record or, of a new key, those of two halves.
type author struct {
	r     *rand.Rand
	notes map[noteKey]note
	marks int
}

func (a *author) value(column string) string {
	switch n := a.r.IntN(4); {
	case column == "kind":
		return fmt.Sprintf(`"kind %d"`, n%3)
	case a.r.IntN(8) == 0:
		return "null"
	case column == "n":
		return fmt.Sprint(n)
	case column == "body":
		return fmt.Sprintf(`"body %d"`, n)
	default:
		return fmt.Sprintf(`["a","t%d"]`, n)
	}
}

func (a *author) key(shop string) noteKey { return noteKey{shop, 1 + a.r.Int64N(7)} }

func (a *author) change() []saying {
	a.marks++
	key := a.key([]string{"left", "right"}[a.r.IntN(2)])
	_, there := a.notes[key]
	s := saying{key: key, op: "u", sent: note{}, mark: a.marks, refused: a.r.IntN(25) == 0}
	whole := !there && a.r.IntN(12) > 0
	for _, c := range notes.Columns[2:] {
		switch n := a.r.IntN(4); {
		case n < 2 || whole && c.Required:
			s.sent[c.Name] = a.value(c.Name)
		case n == 2 && !whole:
			s.sent[c.Name] = unsentText
		}
	}
	to := a.key(key.shop)
	_, taken := a.notes[to]
	switch {
	case there && a.r.IntN(4) == 0:
		delete(a.notes, key)
		return []saying{{key: key, op: "d", mark: a.marks}, {key: key}}
	case there && !taken && a.r.IntN(3) == 0:
		delete(a.notes, key)
		a.notes[to] = nil
		s.key = to
		if key.lane() == to.lane() && a.r.IntN(2) == 0 {
			s.before = &key
			return []saying{s}
		}
		s.op, s.other = "c", &key
		if _, ok := s.sent["kind"]; !ok {
			s.sent["kind"] = unsentText
		}
		return []saying{{key: key, op: "d", other: &to, mark: a.marks}, {key: key, other: &to}, s}
	case whole:
		s.op = "c"
	}
	a.notes[key] = nil
	return []saying{s}
}

// notebook is the table as a map, which takes in what is said one by one. Halves of a delivery wait for each other.
type notebook map[noteKey]note

// left is what a row was when it went on under another key.
type left struct {
	known bool
	was   note
}

func (b notebook) deliver(lanes [][]saying) {
	gone := map[int]*left{} // by mark
	for _, lane := range lanes {
		for _, s := range lane {
			if s.op == "d" && s.other != nil {
				gone[s.mark] = &left{}
			}
		}
	}
	for moved := true; moved; {
		moved = false
		for i := range lanes {
			for len(lanes[i]) > 0 && b.say(lanes[i][0], gone) {
				lanes[i], moved = lanes[i][1:], true
			}
		}
	}
}

// say takes in one record, unless it has to wait.
func (b notebook) say(s saying, gone map[int]*left) bool {
	switch {
	case s.op == "d" && s.other != nil:
		if l := gone[s.mark]; !l.known {
			l.known, l.was = true, b[s.key]
		}
		delete(b, s.key)
	case s.op == "d" || s.op == "":
		delete(b, s.key)
	case s.refused:
	case s.other != nil:
		l := gone[s.mark]
		if l == nil {
			b.put(s, nil)
			return true
		}
		if !l.known {
			return false
		}
		under := b[s.key]
		if under == nil {
			under = l.was
		}
		b.put(s, under)
	case s.before != nil:
		under := b[s.key]
		if under == nil {
			under = b[*s.before]
		}
		if b.put(s, under) {
			delete(b, *s.before)
		}
	default:
		b.put(s, b[s.key])
	}
	return true
}

// put puts a row over another one, unless it needs one and there is none.
func (b notebook) put(s saying, under note) bool {
	row := note{}
	for _, c := range notes.Columns[2:] {
		v, sent := s.sent[c.Name]
		switch {
		case sent && v != unsentText:
			row[c.Name] = v
		case under == nil && (sent || c.Required):
			return false
		case under != nil && (sent || s.op == "u"):
			row[c.Name] = under[c.Name]
		}
	}
	b[s.key] = row
	return true
}

// desk is a table of notes and who writes it.
type desk struct {
	*world
	r        *rand.Rand
	author   *author
	book     notebook
	extra    map[noteKey]int // further rows of a key, by another writer
	pipeline *ingest.Pipeline
	lanes    []lane
	said     map[lane][]saying // all that was sent
	pending  map[lane][]saying
}

func newDesk(t *testing.T, seed uint64) *desk {
	t.Helper()
	spec := notes
	spec.Version, spec.Properties = 2+int(seed%2), trial.Cares[seed/2%4]
	spec.Partition = [][]string{nil, {"identity(kind)"}, {"bucket(2, id)"}, {"bucket(2, shop)", "truncate(2, n)"}}[seed%4]
	deletes := []string{"position", "rewrite", "auto"}[seed/2%3]
	d := &desk{
		r: rand.New(rand.NewPCG(seed, 9)), book: notebook{}, extra: map[noteKey]int{}, said: map[lane][]saying{}, pending: map[lane][]saying{},
		lanes: []lane{{"left", 0}, {"left", 1}, {"right", 0}, {"right", 1}},
	}
	d.author = &author{r: d.r, notes: map[noteKey]note{}}
	d.world = newWorld(t, spec, "topics: [left], format: debezium")
	var err error
	d.config, err = stack.Configure(d.parts.CatalogConfig(), fmt.Sprintf(`routes: [
		{topics: [left], format: debezium, table: "main:shop.notes", key: [shop, id], deletes: %s},
		{topics: [right], format: debezium, table: "main:shop.notes", key: [shop, id], deletes: %s}]`, deletes, deletes))
	d.must(err)
	d.config.DeadLetter = config.DeadLetter{To: "s3://frazil/dead", MaxRatio: 1, MinRecords: 1000}
	d.config.Memory.Bytes = memories[seed%3]
	d.pipeline = d.world.pipeline()
	return d
}

// write has the author change some notes, and its connector be killed now and then.
func (d *desk) write(changes int) {
	var list [][]saying
	for range changes {
		list = append(list, d.author.change())
	}
	for n := 0; n < len(list); n++ {
		for _, s := range list[n] {
			d.pending[s.key.lane()] = append(d.pending[s.key.lane()], s)
		}
		if d.r.IntN(15) == 0 {
			n -= 1 + d.r.IntN(n+1)
		}
	}
}

// take makes a delivery of what is pending: all, or some of each partition.
func (d *desk) take(all bool) (records []kafka.Record, lanes [][]saying) {
	for _, l := range d.lanes {
		n := len(d.pending[l])
		if !all {
			n = d.r.IntN(n + 1)
		}
		part := &kafka.Partition{Source: kafka.MainSource, Topic: l.topic, Number: l.part}
		sent := len(d.said[l])
		for i := max(0, sent-d.r.IntN(3)); n > 0 && i < sent; i++ { // which the ledger has
			records = append(records, d.said[l][i].record(part, int64(i)))
		}
		for i, s := range d.pending[l][:n] {
			records = append(records, s.record(part, int64(sent+i)))
		}
		lanes = append(lanes, slices.Clone(d.pending[l][:n]))
		d.said[l], d.pending[l] = append(d.said[l], d.pending[l][:n]...), d.pending[l][n:]
	}
	return records, lanes
}

// settle has the book take in a delivery.
func (d *desk) settle(lanes [][]saying) {
	for _, list := range lanes {
		for _, s := range list {
			d.touch(s)
		}
	}
	d.book.deliver(lanes)
}

// touch forgets further rows of a key.
func (d *desk) touch(s saying) {
	if s.refused {
		return
	}
	delete(d.extra, s.key)
	if s.before != nil {
		delete(d.extra, *s.before)
	}
}

// again has another writer append a row that is there already.
func (d *desk) again() (noteKey, bool) {
	keys := slices.Collect(maps.Keys(d.book))
	if len(keys) == 0 {
		return noteKey{}, false
	}
	slices.SortFunc(keys, func(a, b noteKey) int { return strings.Compare(a.json(), b.json()) })
	key := keys[d.r.IntN(len(keys))]
	row := lake.Row{"shop": key.shop, "id": fmt.Sprint(key.id)}
	for name, v := range d.book[key] {
		if v != "null" && v != "" {
			row[name] = strings.Trim(v, `"`)
		}
	}
	d.must(d.lake.Append(d.Context(), d.name, []lake.Row{row}))
	return key, true
}

func (d *desk) step(whole bool) {
	d.write(1 + d.r.IntN(12))
	switch d.r.IntN(12) {
	case 0:
		d.pipeline = d.world.pipeline()
	case 1:
		d.must(d.lake.Compact(d.Context(), d.name))
	case 2:
		if key, ok := d.again(); ok {
			d.extra[key]++
		}
	case 3:
		d.once(catalog.Refuse(http.StatusConflict))
	case 4:
		d.once(catalog.ApplyThenStatus(http.StatusGatewayTimeout))
	}
	records, lanes := d.take(whole)
	if d.r.IntN(3) > 0 {
		d.must(d.pipeline.Deliver(d.Context(), records))
		d.settle(lanes)
	} else { // the next one is decoded before this one is applied
		first, err := d.pipeline.Take(d.Context(), records)
		d.must(err)
		d.write(1 + d.r.IntN(12))
		more, next := d.take(whole)
		second, err := d.pipeline.Take(d.Context(), more)
		d.must(err)
		d.must(first.Apply(d.Context()))
		d.settle(lanes)
		d.must(second.Apply(d.Context()))
		d.settle(next)
	}
	d.catalog.SetFault(nil)
}

// lines are what the table has to have, in the form of world.rows.
func (d *desk) lines() []string {
	out := []string{}
	for key, row := range d.book {
		text := fmt.Sprintf("shop=%s id=%d", key.shop, key.id)
		for _, c := range notes.Columns[2:] {
			if v := row[c.Name]; v != "" && v != "null" {
				text += " " + c.Name + "=" + strings.Trim(v, `"`)
			}
		}
		out = append(out, slices.Repeat([]string{text}, 1+d.extra[key])...)
	}
	slices.Sort(out)
	return out
}

// Rules 13, 14 and 20 all at once: partial rows, keys that change in one record and in two, rows that another writer left twice,
// records that do not fit, changes that are sent again, topics that share a table, deliveries cut anywhere and repeated, conflicts.
func TestPartialRowsOfSeveralTopicsAreThoseOfThePlainMap(t *testing.T) {
	t.Parallel()
	for seed := range uint64(partialSeeds) {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, seed)
			for i := range 14 {
				d.step(seed/4%2 == 0)
				if want, got := d.lines(), d.rows(); !slices.Equal(got, want) {
					t.Fatalf("seed %d, step %d: the table has\n%s\nwant\n%s", seed, i, strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
			}
		})
	}
}

// partialSeeds is how many tables the test makes.
const partialSeeds = 16
