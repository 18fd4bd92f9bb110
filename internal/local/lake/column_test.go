package lake_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/frazil/frazil/internal/local/lake"
	"github.com/google/go-cmp/cmp"
)

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
