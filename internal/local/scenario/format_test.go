package scenario_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/frazil/frazil/internal/local/scenario"
)

// doc is a scenario in which other writers alone do something to the table shop.t.
func doc(version int, table, batches, end string) string {
	return fmt.Sprintf(`
name: other writers
tables:
  - name: shop.t
    format_version: %d
    %s
config: {routes: [{topics: [t], format: flat, table: "main:shop.t"}]}
batches: [%s]
expect: {tables: {shop.t: {%s}}}
`, version, table, batches, end)
}

func run(t *testing.T, text string) (differences []string, err error) {
	t.Helper()
	s, err := scenario.Parse([]byte(text))
	if err != nil {
		return nil, err
	}
	return scenario.Run(t.Context(), s)
}

const days = `schema: [{name: id, type: long, required: true}, {name: day, type: date}]
    key: [id]
    partition_by: ["identity(day)"]
    rows: [{id: 1, day: 2024-03-05}, {id: 2, day: 2024-03-05}, {id: 3}]`

func TestOtherWritersDoWhatAnEntrySays(t *testing.T) {
	t.Parallel()
	remove := func(how string) string {
		return fmt.Sprintf(`{foreign: {table: shop.t, action: delete, how: %s, rows: [{id: 1}]}}`, how)
	}
	const left = `rows: [{id: 2, day: 2024-03-05}, {id: 3}]`
	for name, text := range map[string]string{
		"nothing":                doc(2, days, "", `rows: [{id: 3}, {id: 2, day: 2024-03-05}, {id: 1, day: 2024-03-05}], deletes: none, snapshots: 0`),
		"position deletes":       doc(2, days, remove("position"), left+`, deletes: position, snapshots: 1`),
		"vectors":                doc(3, days, remove("position"), left+`, deletes: [vectors]`),
		"equality deletes on v2": doc(2, days, remove("equality"), left+`, deletes: equality`),
		"equality deletes on v3": doc(3, days, remove("equality"), left+`, deletes: equality`),
		"rewrite on v1":          doc(1, days, remove("rewrite"), left+`, deletes: []`),
		"two encodings": doc(2, days, remove("position")+`, {foreign: {table: shop.t, action: delete, how: equality, rows: [{id: 3}]}}`,
			`rows: [{id: 2, day: 2024-03-05}], deletes: [equality, position]`),
		"new spec, order and version": doc(1, days, `{alter: {table: shop.t, format_version: 3, partition_by: ["day(day)", "bucket(4, id)"], sort_by: [id desc]}},
			{foreign: {table: shop.t, action: append, rows: [{id: 4, day: 1969-12-31}]}}, {alter: {table: shop.t, partition_by: [], sort_by: []}},
			{foreign: {table: shop.t, action: append, rows: [{id: 5}]}}`,
			`rows: [{id: 1, day: 2024-03-05}, {id: 2, day: 2024-03-05}, {id: 3}, {id: 4, day: 1969-12-31}, {id: 5}], files: {sorted: true}`),
		"nested values": doc(2, `schema: [{name: tags, type: "list<string>"}, {name: m, type: "map<long, struct<a: date, b: binary>>"}]
    rows: [{tags: [x, null, "1"], m: {10: {a: 2024-03-05}, 9: {b: 00FF}}}, {tags: '["x"]', m: [[1, null]]}]`, `{foreign: {table: shop.t, action: compact}}`,
			`rows: [{tags: ["x", ~, 1], m: '[[9, {"b": "00ff"}], [10, {"a": "2024-03-05"}]]'}, {m: {1: ~}, tags: [x]}]`),
		"defaults": doc(3, `schema: [{name: id, type: long}]
    rows: [{id: 1}]`, `{alter: {table: shop.t, schema: [{name: id, type: long}, {name: on, type: boolean, default: true}, {name: at, type: timestamp, required: true, default: 2024-03-05 00:00:00}]}}`,
			`rows: [{id: 1, on: true, at: 2024-03-05T00:00:00}]`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			differences, err := run(t, text)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range differences {
				t.Error(d)
			}
		})
	}
}

func TestDifferencesAreNamed(t *testing.T) {
	t.Parallel()
	remove := `{foreign: {table: shop.t, action: delete, how: position, rows: [{id: 1}]}}`
	for _, c := range [][2]string{
		{doc(2, days, remove, `deletes: none`), "shop.t: the delete files are of the kinds [position], expected []"},
		{doc(3, days, remove, `deletes: [position, vectors]`), "shop.t: the delete files are of the kinds [vectors], expected [position vectors]"},
		{doc(2, days, remove, `rows: [{id: 1}, {id: 2, day: 2024-03-05}, {id: 3}]`), "shop.t: missing {id: 1, day: NULL}"},
		{doc(2, `schema: [{name: l, type: "list<int>"}]
    rows: [{l: [1]}]`, "", `rows: [{l: [1, 2]}]`), "shop.t: missing {l: [1,2]}; shop.t: unexpected {l: [1]}"},
	} {
		differences, err := run(t, c[0])
		if got := strings.Join(differences, "; "); err != nil || got != c[1] {
			t.Errorf("differences = %s, %v, want %s", got, err, c[1])
		}
	}
}

func TestWhatAScenarioCannotSayIsNamed(t *testing.T) {
	t.Parallel()
	foreign := func(rest string) string {
		return doc(2, days, `{foreign: {table: shop.t, action: delete, `+rest+`}}`, "rows: []")
	}
	for _, c := range [][2]string{
		{doc(2, days, "", "deletes: puffin"), `deletes: "puffin" is none of position, vectors, equality, none`},
		{doc(2, days, "", "deletes: [none, position]"), `deletes: "none" is none of`},
		{doc(2, days, "", "files: {claimed: true}"), "the key claimed does not exist"},
		{doc(2, days+"\n    sorted_by: [id]", "", "rows: []"), "the key sorted_by does not exist"},
		{doc(2, days+"\n    sort_by: [id up]", "", "rows: []"), "the table has no column id up"},
		{doc(2, strings.Replace(days, "identity(day)", "week(day)", 1), "", "rows: []"), `"week(day)": no transform of a column of type date`},
		{doc(2, strings.Replace(days, "type: date", "type: datum", 1), "", "rows: []"), `column day: "datum" is no type`},
		{doc(2, strings.Replace(days, "{id: 3}", "{id: [3]}", 1), "", "rows: []"), "row 2: column id: a list or mapping is no long"},
		{doc(2, strings.Replace(days, "{id: 3}", "{id: x}", 1), "", "rows: []"), "row 2: column id: "},
		{doc(2, "schema: [{name: m, type: \"map<int, int>\"}]\n    rows: [{m: {1: 1, 1: 2}}]", "", "rows: []"), "a key that is there twice"},
		{doc(2, "schema: [{name: m, type: \"map<list<int>, int>\"}]\n    rows: [{m: {[1]: 1}}]", "", "rows: []"), "write the map as a list of [key, value]"},
		{doc(2, days, `{alter: {table: shop.t}}`, "rows: []"), "batches[0]: alter: table shop.t: nothing to change"},
		{doc(2, days, `{alter: {table: shop.t, format_version: 1}}`, "rows: []"), "batches[0]: alter: "},
		{doc(2, days, `{alter: {table: shop.t, partition_by: [day(id)]}}`, "rows: []"), "no transform of a column of type long"},
		{foreign("how: sweep, rows: [{id: 1}]"), "foreign: delete: a delete by sweep does not exist"},
		{foreign("rows: [{id: 1}]"), "foreign: delete: a delete without a way (position, equality, rewrite)"},
		{foreign("how: equality"), "foreign: delete: table shop.t: a delete without rows"},
		{foreign("how: equality, rows: [{name: x}]"), "the table has no column name"},
	} {
		if _, err := run(t, c[0]); err == nil || !strings.Contains(err.Error(), c[1]) {
			t.Errorf("error = %v, want one with %s", err, c[1])
		}
	}
}
