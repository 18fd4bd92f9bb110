package trial

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/frazil/frazil/internal/local/lake"
)

// Step is a record of topic orders and what it does to the table.
type Step struct {
	Partition     int32
	Offset        int64
	Value         string
	puts, deletes string // rows as "id=… n=…", and ids; a record with neither is bad
}

// The chapters of the history: what is applied before the fault, what meets it, and what comes when it is over.
var (
	first = []Step{
		{0, 0, `{"op":"u","after":{"id":1,"n":10}}`, "id=1 n=10", "1"},
		{0, 1, `{"op":"c","after":{"id":3,"n":3}}`, "id=3 n=3", "3"},
		{1, 0, `{"op":"c","after":{"id":11,"n":11}}`, "id=11 n=11", "11"},
	}
	second = []Step{
		{0, 2, `{"op":"u","before":{"id":1,"n":10},"after":{"id":4,"n":40}}`, "id=4 n=40", "1 4"},
		{0, 3, `{"op":"d","before":{"id":2,"n":2}}`, "", "2"},
		{0, 4, `{"op":"c","after":{"id":6,"n":"many"}}`, "", ""},
		{0, 5, `{"op":"c","after":{"id":5,"n":5}}`, "id=5 n=5", "5"},
		{1, 1, `{"op":"u","after":{"id":11,"n":12}}`, "id=11 n=12", "11"},
		{1, 2, `{"op":"c","after":{"id":12,"n":12}}`, "id=12 n=12", "12"},
	}
	third = []Step{
		{0, 6, `{"op":"u","after":{"id":5,"n":50}}`, "id=5 n=50", "5"},
		{0, 7, `{"op":"d","before":{"id":4,"n":40}}`, "", "4"},
		{1, 3, `{"op":"d","before":{"id":11,"n":12}}`, "", "11"},
	}
	loaded = []lake.Row{{"id": "1", "n": "1"}, {"id": "2", "n": "2"}, {"id": "9"}}
)

// tableAfter is the oracle: the table after some chapters, in the form of its lines.
func tableAfter(chapters ...[]Step) []string {
	table := map[string]string{"1": "id=1 n=1", "2": "id=2 n=2", "9": "id=9"}
	for _, s := range slices.Concat(chapters...) {
		for _, id := range strings.Fields(s.deletes) {
			delete(table, id)
		}
		if s.puts != "" {
			id, _, _ := strings.Cut(strings.TrimPrefix(s.puts, "id="), " ")
			table[id] = s.puts
		}
	}
	return slices.Sorted(maps.Values(table))
}

// tableAt is the table whose ledger expects some offsets next. No key is in two partitions.
func tableAt(next map[string]int64) []string {
	var steps []Step
	for _, s := range slices.Concat(first, second, third) {
		if s.Offset < next[s.place()] {
			steps = append(steps, s)
		}
	}
	return tableAfter(steps)
}

func (s Step) place() string { return fmt.Sprintf("orders-%d", s.Partition) }

// Time is the step's in milliseconds since 1970.
func (s Step) Time() int64 { return 1_700_000_000_000 + s.Offset }

// Event is Lambda's event of some records.
func Event(steps []Step) []byte {
	groups := map[string][]any{}
	for _, s := range steps {
		name := s.place()
		groups[name] = append(groups[name], map[string]any{
			"topic": "orders", "partition": s.Partition, "offset": s.Offset, "timestamp": s.Time(), "timestampType": "CREATE_TIME",
			"value": base64.StdEncoding.EncodeToString([]byte(s.Value)), "headers": []any{},
		})
	}
	event, err := json.Marshal(map[string]any{"eventSource": "SelfManagedKafka", "bootstrapServers": "broker:9092", "records": groups})
	if err != nil {
		panic(err) // texts and numbers
	}
	return event
}
