package lake_test

import (
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
		for _, version := range []int{2, 3} {
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
	for _, how := range []lake.Encoding{lake.Positions, lake.Equality, lake.Rewrite} {
		name := "people.nested_" + string(how)
		create(t, l, lake.Spec{Name: name, Partition: []string{"identity(addr.city)", "bucket(2, id)"}})
		checkRows(t, l, name, peopleRows...)
		if err := l.Delete(t.Context(), name, []lake.Row{{"id": "3"}}, how); err != nil {
			t.Fatal(err)
		}
		checkRows(t, l, name, peopleRows[:2]...)
	}
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
		for _, by := range [][]string{{"day(born)", "bucket(4, id)"}, {"day(born)", "bucket(4, id)"}, {}, {"identity(name)"}} {
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
