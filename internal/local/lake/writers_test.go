package lake_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/iceberg-go/table"
	"github.com/frazil/frazil/internal/local/lake"
	"github.com/google/go-cmp/cmp"
)

var people = []lake.Column{
	{Name: "id", Type: "long", Required: true}, {Name: "name", Type: "string"}, {Name: "born", Type: "date"}, {Name: "seen", Type: "timestamptz"},
	{Name: "pay", Type: "decimal(9, 2)"}, {Name: "mark", Type: "uuid"}, {Name: "bits", Type: "binary"}, {Name: "code", Type: "fixed[2]"}, {Name: "at", Type: "time"},
	{Name: "addr", Type: "struct<city: string, zip: int>"},
}

var peopleRows = []lake.Row{
	{"id": "1", "name": "Ada/1", "born": "1915-12-10", "seen": "1969-12-31T23:59:59.999999+00:00", "pay": "10.65", "mark": "f79c3e09-677c-4bbd-a479-3f349cb785e7", "bits": "00ff", "code": "0102",
		"at": "01:02:03.000000", "addr": `{"city":"Bath","zip":1}`},
	{"id": "2"},
	{"id": "3", "name": "Ada/1", "born": "2024-03-05", "seen": "2024-03-05T06:07:08.000000+00:00", "pay": "-0.01", "mark": "00000000-0000-0000-0000-000000000001", "bits": "", "code": "ffff",
		"at": "23:59:59.999999", "addr": `{"city":null,"zip":2}`},
}

// create makes a table of people with their rows.
func create(t *testing.T, l *lake.Lake, spec lake.Spec) {
	t.Helper()
	spec.Columns = people
	if err := l.Create(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	if err := l.Append(t.Context(), spec.Name, peopleRows); err != nil {
		t.Fatal(err)
	}
}

func checkRows(t *testing.T, l *lake.Lake, name string, want ...lake.Row) {
	t.Helper()
	_, got, err := l.Rows(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(got, func(a, b lake.Row) int { return strings.Compare(a["id"], b["id"]) })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows of %s (-want +got):\n%s", name, diff)
	}
}

func load(t *testing.T, l *lake.Lake, name string) *table.Table {
	t.Helper()
	loaded, err := l.Load(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return loaded
}

func dataFiles(t *testing.T, l *lake.Lake, name string) int {
	t.Helper()
	tasks, err := load(t, l, name).Scan().PlanFiles(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return len(tasks)
}

func TestTablesArePartitionedByEveryTransform(t *testing.T) {
	t.Parallel()
	l := open(t)
	for i, c := range []struct {
		by    string
		name  string // of the partition field
		files int
	}{
		{"identity(name)", "name", 2}, {"identity(born)", "born", 3}, {"identity(pay)", "pay", 3}, {"identity(mark)", "mark", 3}, {"identity(bits)", "bits", 3},
		{"identity(code)", "code", 3}, {"identity(at)", "at", 3}, {"identity(seen)", "seen", 3},
		{"bucket(1, id)", "id_bucket_1", 1}, {"bucket(16, name)", "name_bucket_16", 2}, {"bucket(1, mark)", "mark_bucket_1", 2}, {"bucket(1, pay)", "pay_bucket_1", 2},
		{"truncate(3, name)", "name_trunc_3", 2}, {"truncate(10, id)", "id_trunc_10", 1}, {"truncate(50, pay)", "pay_trunc_50", 3}, {"truncate(1, bits)", "bits_trunc_1", 3},
		{"year(born)", "born_year", 3}, {"month(born)", "born_month", 3}, {"day(seen)", "seen_day", 3}, {"hour(seen)", "seen_hour", 3}, {"void(name)", "name_null", 1},
	} {
		for _, version := range []int{1, 2, 3} {
			name := fmt.Sprintf("people.v%d_%d", version, i)
			create(t, l, lake.Spec{Name: name, Version: version, Partition: []string{c.by}})
			checkRows(t, l, name, peopleRows...)
			if got := dataFiles(t, l, name); got != c.files {
				t.Errorf("%s, format version %d: %d files, want %d", c.by, version, got, c.files)
			}
			spec := load(t, l, name).Spec()
			if got := spec.Field(0).Name; got != c.name {
				t.Errorf("%s: the field is named %s, want %s", c.by, got, c.name)
			}
		}
	}
}

func TestTableIsPartitionedByANestedColumn(t *testing.T) {
	t.Parallel()
	l := open(t)
	create(t, l, lake.Spec{Name: "people.nested", Partition: []string{"identity(addr.city)", "bucket(2, id)"}})
	checkRows(t, l, "people.nested", peopleRows...)
}

func TestLayoutsThatAreRefused(t *testing.T) {
	t.Parallel()
	l := open(t)
	for _, by := range []string{"", "id)", "day(id", "day(id)", "hour(born)", "bucket(id)", "bucket(0, id)", "shard(id)", "identity(nobody)", "bucket(4, id, 3)", "identity(addr)", "truncate(2, born)"} {
		for _, spec := range []lake.Spec{{Partition: []string{by}}, {Sort: []string{by}}} {
			spec.Name, spec.Columns = "people.refused", people
			if err := l.Create(t.Context(), spec); err == nil {
				t.Errorf("create with partitions %q and order %q: no error", spec.Partition, spec.Sort)
			}
		}
	}
	if err := l.Create(t.Context(), lake.Spec{Name: "people.refused", Columns: people, Sort: []string{"id upwards"}}); err == nil {
		t.Error("sorted by id upwards: no error")
	}
}

func TestRepartitionKeepsOldFilesReadable(t *testing.T) {
	t.Parallel()
	l := open(t)
	for _, version := range []int{1, 2, 3} {
		name := fmt.Sprintf("people.v%d", version)
		create(t, l, lake.Spec{Name: name, Version: version, Partition: []string{"year(born)", "bucket(4, id)"}})
		for _, by := range [][]string{{"day(born)", "bucket(4, id)"}, {}, {"identity(name)"}} {
			if err := l.Repartition(t.Context(), name, by); err != nil {
				t.Fatal(err)
			}
			var fields []string
			spec := load(t, l, name).Spec()
			for _, f := range spec.Fields() {
				if f.Transform.String() != "void" { // as version 1 keeps the fields that went
					fields = append(fields, f.Transform.String())
				}
			}
			if len(fields) != len(by) {
				t.Errorf("format version %d, repartitioned by %q: fields %q", version, by, fields)
			}
		}
		if err := l.Append(t.Context(), name, []lake.Row{{"id": "4", "name": "new"}}); err != nil {
			t.Fatal(err)
		}
		checkRows(t, l, name, append(slices.Clone(peopleRows), lake.Row{"id": "4", "name": "new"})...)
	}
}

func TestSortOrderIsTheTables(t *testing.T) {
	t.Parallel()
	l := open(t)
	create(t, l, lake.Spec{Name: "people.sorted", Sort: []string{"born", "bucket(4, id) desc", "name DESC NULLS FIRST", "day(seen) asc nulls last"}})
	checkOrder := func(want ...string) {
		t.Helper()
		var got []string
		for _, f := range load(t, l, "people.sorted").SortOrder().Fields() {
			got = append(got, f.String())
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("sort order (-want +got):\n%s", diff)
		}
	}
	checkOrder("3 asc nulls-first", "bucket[4](1) desc nulls-last", "2 desc nulls-first", "day(4) asc nulls-last")
	for _, order := range [][]string{{"id desc"}, {}} {
		if err := l.Resort(t.Context(), "people.sorted", order); err != nil {
			t.Fatal(err)
		}
	}
	checkOrder()
}

// deletes are the live delete files.
func deletes(t *testing.T, l *lake.Lake, name string) map[lake.Kind]int {
	t.Helper()
	kinds, err := l.Deletes(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return kinds
}

func TestDeleteIsWrittenInEachEncoding(t *testing.T) {
	t.Parallel()
	l := open(t)
	for _, partition := range [][]string{nil, {"identity(name)"}, {"bucket(2, id)", "month(born)"}} {
		for how, kind := range map[lake.Encoding]map[int]lake.Kind{
			lake.Positions: {2: lake.PositionFiles, 3: lake.Vectors}, lake.Equality: {2: lake.EqualityFiles, 3: lake.EqualityFiles}, lake.Rewrite: {1: "", 2: "", 3: ""},
		} {
			for version, want := range kind {
				name := fmt.Sprintf("people.%s_v%d_%d", how, version, len(partition))
				create(t, l, lake.Spec{Name: name, Version: version, Partition: partition})
				if err := l.Append(t.Context(), name, peopleRows); err != nil {
					t.Fatal(err)
				}
				if err := l.Delete(t.Context(), name, []lake.Row{{"id": "3"}, {"id": "9"}}, how); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if err := l.Delete(t.Context(), name, []lake.Row{{"id": "1"}}, how); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				checkRows(t, l, name, peopleRows[1], peopleRows[1])
				if got := deletes(t, l, name); want == "" && len(got) > 0 || want != "" && len(partition) == 0 && got[want] == 0 {
					t.Errorf("%s: delete files %v, want %q", name, got, want)
				}
				if mode := load(t, l, name).Properties()[table.WriteDeleteModeKey]; mode != "" {
					t.Errorf("%s: the table's delete mode became %s", name, mode)
				}
			}
		}
	}
}

func TestDeleteTakesKeysOfEveryType(t *testing.T) {
	t.Parallel()
	l := open(t)
	for _, c := range people[:9] {
		for _, how := range []lake.Encoding{lake.Positions, lake.Equality, lake.Rewrite} {
			name := fmt.Sprintf("people.%s_%s", c.Name, how)
			create(t, l, lake.Spec{Name: name, Version: 3})
			if err := l.Delete(t.Context(), name, []lake.Row{{"id": "3", c.Name: peopleRows[2][c.Name]}}, how); err != nil {
				t.Fatalf("by %s, %s: %v", c.Name, how, err)
			}
			checkRows(t, l, name, peopleRows[:2]...)
		}
	}
}

func TestUpgradedTableKeepsItsDeletes(t *testing.T) {
	t.Parallel()
	l := open(t)
	create(t, l, lake.Spec{Name: "people.old", Version: 1})
	for i, how := range []lake.Encoding{lake.Positions, lake.Equality} {
		if err := l.Upgrade(t.Context(), "people.old", i+2); err != nil {
			t.Fatal(err)
		}
		if got := load(t, l, "people.old").Metadata().Version(); got != i+2 {
			t.Fatalf("format version = %d, want %d", got, i+2)
		}
		if err := l.Delete(t.Context(), "people.old", []lake.Row{{"id": peopleRows[i]["id"]}}, how); err != nil {
			t.Fatal(err)
		}
	}
	checkRows(t, l, "people.old", peopleRows[2])
	if diff := cmp.Diff(map[lake.Kind]int{lake.PositionFiles: 1, lake.EqualityFiles: 1}, deletes(t, l, "people.old")); diff != "" {
		t.Errorf("delete files (-want +got):\n%s", diff)
	}
	if err := l.Delete(t.Context(), "people.old", []lake.Row{{"id": "3"}}, lake.Positions); err == nil {
		t.Error("a vector beside position-delete files: no error")
	}
	if err := l.Upgrade(t.Context(), "people.old", 2); err == nil {
		t.Error("a table went back to format version 2")
	}
}

func TestDefaultsAreThoseOfTheColumn(t *testing.T) {
	t.Parallel()
	l := open(t)
	created := lake.Spec{Name: "defaults.created", Version: 3, Columns: []lake.Column{{Name: "id", Type: "int"}}}
	added := lake.Spec{Name: "defaults.added", Version: 3, Columns: created.Columns}
	if err := l.Create(t.Context(), added); err != nil {
		t.Fatal(err)
	}
	if err := l.Append(t.Context(), added.Name, []lake.Row{{"id": "1"}}); err != nil {
		t.Fatal(err)
	}
	want := lake.Row{"id": "1"}
	for i, v := range values {
		if strings.Contains(v.typ, "<") {
			continue
		}
		name, literal := fmt.Sprintf("c%d", i), v.literals[0]
		switch { // iceberg-go takes numbers for floats
		case v.typ == "long":
			literal = "-9007199254740992"
		case strings.HasSuffix(v.typ, "_ns"):
			literal = "1970-01-02T00:00:00.123456789"
		}
		created.Columns = append(created.Columns, lake.Column{Name: name, Type: v.typ, Required: true, Default: &literal})
		want[name], _ = lake.Canonical(v.typ, literal)
	}
	if err := l.Create(t.Context(), created); err != nil {
		t.Fatal(err)
	}
	if err := l.Alter(t.Context(), added.Name, created.Columns); err != nil {
		t.Fatal(err)
	}
	checkRows(t, l, added.Name, want)
	for _, table := range []string{created.Name, added.Name} {
		for _, f := range load(t, l, table).Schema().Fields()[1:] {
			for _, def := range []any{f.InitialDefault, f.WriteDefault} {
				text, err := json.Marshal(def)
				if got := strings.Trim(string(text), `"`); err != nil || got != want[f.Name] {
					t.Errorf("%s of %s: default = %s, %v, want %s", f.Type, table, got, err, want[f.Name])
				}
			}
		}
	}
}

func TestDefaultsThatAreRefused(t *testing.T) {
	t.Parallel()
	l := open(t)
	for _, c := range [][2]string{{"long", "9007199254740993"}, {"int", "x"}, {"fixed[2]", "00"}} {
		spec := lake.Spec{Name: "defaults.refused", Version: 3, Columns: []lake.Column{{Name: "v", Type: c[0], Default: &c[1]}}}
		if err := l.Create(t.Context(), spec); err == nil {
			t.Errorf("default %s of %s: no error", c[1], c[0])
		}
	}
	one := "1"
	if err := l.Create(t.Context(), lake.Spec{Name: "defaults.old", Version: 2, Columns: []lake.Column{{Name: "v", Type: "int", Default: &one}}}); err == nil {
		t.Error("default on format version 2: no error")
	}
}

func TestAlterReachesNestedFields(t *testing.T) {
	t.Parallel()
	l := open(t)
	column := func(name, typ string) lake.Column { return lake.Column{Name: name, Type: typ} }
	spec := lake.Spec{Name: "alter.nested", Columns: []lake.Column{column("s", "struct<a: int, gone: int>"), column("l", "list<struct<a: int>>"), column("m", "map<string, int>"), column("gone", "int")}}
	if err := l.Create(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	if err := l.Append(t.Context(), spec.Name, []lake.Row{{"s": `{"a":1,"gone":2}`, "l": `[{"a":1}]`, "m": `[["k",1]]`, "gone": "1"}}); err != nil {
		t.Fatal(err)
	}
	want := []lake.Column{column("s", "struct<a: long, b: struct<c: string>>"), column("l", "list<struct<a: int, b: date>>"), column("m", "map<string, long>"), column("new", "list<int>")}
	if err := l.Alter(t.Context(), spec.Name, want); err != nil {
		t.Fatal(err)
	}
	got, rows, err := l.Rows(t.Context(), spec.Name)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("columns (-want +got):\n%s%v", diff, err)
	}
	if diff := cmp.Diff([]lake.Row{{"s": `{"a":1,"b":null}`, "l": `[{"a":1,"b":null}]`, "m": `[["k",1]]`}}, rows); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}
