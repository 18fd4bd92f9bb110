package ingest_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/kafka"
	"github.com/frazil/frazil/internal/local/lake"
	"github.com/frazil/frazil/internal/local/trial"
)

// documents have columns that their source does not send again when they have not changed.
var documents = lake.Spec{
	Name: "shop.documents", Key: []string{"id"},
	Columns: []lake.Column{
		{Name: "id", Type: "long", Required: true}, {Name: "size", Type: "int"}, {Name: "body", Type: "string"},
		{Name: "tags", Type: "list<string>"}, {Name: "owner", Type: "struct<name: string, since: date>"}, {Name: "kind", Type: "string", Required: true},
	},
}

// document is a row of theirs by column, as JSON.
type document map[string]string

const unsentText = `"__debezium_unavailable_value"`

// edits makes the messages of a source that edits documents, and what it has after each.
func edits(r *rand.Rand, n int) (messages []string, after []map[int64]document) {
	rows := map[int64]document{}
	value := map[string]func() string{
		"size":  func() string { return fmt.Sprint(r.IntN(1000)) },
		"body":  func() string { return fmt.Sprintf(`"body %d"`, r.IntN(1000)) },
		"tags":  func() string { return fmt.Sprintf(`["a","t%d"]`, r.IntN(1000)) },
		"owner": func() string { return fmt.Sprintf(`{"name":"o%d","since":"2024-01-0%d"}`, r.IntN(1000), 1+r.IntN(9)) },
		"kind":  func() string { return fmt.Sprintf(`"kind %d"`, r.IntN(3)) },
	}
	for len(messages) < n {
		id := 1 + r.Int64N(8)
		old, there := rows[id]
		switch {
		case !there:
			row := document{}
			sent := document{}
			for name, make := range value {
				if name == "kind" || r.IntN(3) > 0 { // what an insert does not send is NULL
					row[name] = make()
					sent[name] = row[name]
				}
			}
			rows[id] = row
			messages = append(messages, debeziumOf("c", 0, id, sent))
		case r.IntN(5) == 0:
			delete(rows, id)
			messages = append(messages, fmt.Sprintf(`{"op":"d","before":{"id":%d},"after":null}`, id))
		default:
			row, sent := maps.Clone(old), document{}
			for name, make := range value {
				switch r.IntN(3) {
				case 0:
					row[name] = make()
					sent[name] = row[name]
				case 1:
					sent[name] = unsentText
				}
			}
			before, next := int64(0), 1+r.Int64N(8)
			if _, taken := rows[next]; !taken && r.IntN(3) == 0 {
				delete(rows, id)
				before, id = id, next
			}
			rows[id] = row
			messages = append(messages, debeziumOf("u", before, id, sent))
		}
		after = append(after, maps.Clone(rows))
	}
	return messages, after
}

func debeziumOf(op string, before, id int64, sent document) string {
	cells := []string{fmt.Sprintf(`"id":%d`, id)}
	for _, name := range slices.Sorted(maps.Keys(sent)) {
		cells = append(cells, fmt.Sprintf("%q:%s", name, sent[name]))
	}
	image := "null"
	if before != 0 {
		image = fmt.Sprintf(`{"id":%d}`, before)
	}
	return fmt.Sprintf(`{"op":%q,"before":%s,"after":{%s}}`, op, image, strings.Join(cells, ","))
}

// rowsOf are documents in the form of world.rows.
func rowsOf(rows map[int64]document) []string {
	out := []string{}
	for id, row := range rows {
		text := fmt.Sprintf("id=%d", id)
		for _, c := range documents.Columns[1:] {
			if v, ok := row[c.Name]; ok {
				text += " " + c.Name + "=" + strings.Trim(v, `"`)
			}
		}
		out = append(out, text)
	}
	slices.Sort(out)
	return out
}

// Rules 13 and 14, however the deliveries are cut: cells that were not sent are those of the row that is there, also when
// it was made, patched or moved by the same delivery.
func TestCellsThatWereNotSentAreKept(t *testing.T) {
	t.Parallel()
	for seed := range uint64(12) {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 7))
			messages, after := edits(r, 120)
			spec := documents
			spec.Version, spec.Properties = 2+int(seed%2), trial.Cares[seed/3%4]
			if seed%3 == 1 {
				spec.Partition, spec.Sort = []string{"identity(kind)", "bucket(2, id)"}, []string{"size desc nulls last"}
			}
			w := newWorld(t, spec, "topics: [orders], format: debezium, deletes: "+[]string{"position", "rewrite", "auto"}[seed/2%3])
			p, part := w.pipeline(), partition(0)
			for from := 0; from < len(messages); {
				to := min(from+1+r.IntN(20), len(messages))
				var records []kafka.Record
				for i := max(0, from-r.IntN(3)); i < to; i++ {
					records = append(records, flat(part, int64(i), messages[i]))
				}
				if r.IntN(4) == 0 {
					p = w.pipeline()
				}
				w.must(deliver(t.Context(), p, records...))
				from = to
				if want, got := rowsOf(after[to-1]), w.rows(); !slices.Equal(got, want) {
					t.Fatalf("seed %d, after %d messages: the table has %q, want %q", seed, to, got, want)
				}
				if r.IntN(6) == 0 {
					w.must(w.lake.Compact(t.Context(), w.name))
				}
			}
		})
	}
}

// What PostgreSQL's connector sent of rows with TOASTed columns, and what the source has at the end. A key change and its
// two halves are in one delivery.
func TestTheTableEqualsTheSourceOfTOASTedColumns(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		format string
		cut    int // before the key change
	}{"pgplain": {"debezium", 4}, "pgstring": {"debezium", 4}, "pgrewrite": {"debezium_unwrapped", 4}, "pgtombstone": {"debezium_unwrapped", 4}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := lake.Spec{Name: "shop.toast", Key: []string{"id"}, Columns: []lake.Column{{Name: "id", Type: "int", Required: true}}}
			for _, column := range []string{"small", "b_text", "b_varchar", "b_json", "b_xml"} {
				spec.Columns = append(spec.Columns, lake.Column{Name: column, Type: "string"})
			}
			records := readCapture(t, "testdata/captures/"+name+"-toast.jsonl")
			want := texts(t, "testdata/captures/"+name+"-toast.rows.json", spec.Columns)
			for _, cuts := range [][]int{{0}, {0, c.cut}, {0, 1, 2, 3, c.cut}} {
				w := newWorld(t, spec, "topics: ['/.*/'], unknown_columns: ignore, format: "+c.format)
				p := w.pipeline()
				for i, from := range cuts {
					to := len(records)
					if i+1 < len(cuts) {
						to = cuts[i+1]
					}
					w.must(deliver(t.Context(), p, records[from:to]...))
				}
				if got := w.rows(); !slices.Equal(got, want) {
					t.Errorf("cut at %v: the table has %q, want %q", cuts, got, want)
				}
			}
		})
	}
}

// texts are the source's rows, whose values are texts, in the form of world.rows.
func texts(t *testing.T, path string, columns []lake.Column) []string {
	t.Helper()
	var out []string
	for _, row := range capturedRows(t, path) {
		var cells []string
		for _, c := range columns {
			if v := row[c.Name]; v != nil {
				cells = append(cells, c.Name+"="+*v)
			}
		}
		out = append(out, strings.Join(cells, " "))
	}
	slices.Sort(out)
	return out
}

// The row that a value is kept from comes while the commit is on its way: what was refused by the old head is not.
func TestARowToKeepFromMayComeMeanwhile(t *testing.T) {
	t.Parallel()
	w := newWorld(t, documents, "topics: [orders], format: debezium")
	w.config.DeadLetter = config.DeadLetter{To: "s3://frazil/dead", MaxRatio: 1, MinRecords: 100}
	part, other := partition(0), partition(1)
	full := document{"size": "1", "kind": `"k"`, "body": `"long"`}
	w.beforeCommit(func() {
		w.must(deliver(t.Context(), w.pipeline(), flat(other, 0, debeziumOf("c", 0, 5, full))))
	})
	w.must(deliver(t.Context(), w.pipeline(),
		flat(part, 0, debeziumOf("c", 0, 1, full)), flat(part, 1, debeziumOf("u", 0, 5, document{"size": "2", "body": unsentText})),
		flat(part, 2, debeziumOf("u", 0, 6, document{"size": "2", "body": unsentText}))))
	w.wantRows("id=1 size=1 body=long kind=k", "id=5 size=2 body=long kind=k")
	if got := w.next(); got[0] != 3 || got[1] != 1 {
		t.Errorf("the ledger is %v", got)
	}
}
