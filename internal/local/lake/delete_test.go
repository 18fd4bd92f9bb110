package lake_test

import (
	"fmt"
	"testing"

	"github.com/apache/iceberg-go/table"
	"github.com/frazil/frazil/internal/local/lake"
	"github.com/google/go-cmp/cmp"
)

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
