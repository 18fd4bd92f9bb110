package envelope_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/frazil/frazil/internal/change"
	"github.com/frazil/frazil/internal/envelope"
	"github.com/frazil/frazil/internal/wire"
	"github.com/google/go-cmp/cmp"
)

// snapshot is what a .rows.json file says of the one table in it.
type snapshot struct {
	Tables map[string]struct {
		PrimaryKey []string `json:"primary_key"`
		Rows       []map[string]string
	}
}

// droppedDeletes names the capture whose producer sends no deletes; rows remain that the source has not.
const droppedDeletes = "pgdrop-orders"

// TestReplayGivesTheKeysOfTheSource applies captures to a set of keys, and compares it with the table that they came from.
func TestReplayGivesTheKeysOfTheSource(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/*/*.rows.json")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no tables: %v", err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			columns, want := sourceKeys(t, path)
			got := replay(t, strings.Replace(path, ".rows.json", ".jsonl", 1), columns)
			if strings.Contains(path, droppedDeletes) {
				if len(got) <= len(want) {
					t.Error("the capture has deletes after all")
				}
				got = slices.DeleteFunc(got, func(k string) bool { return !slices.Contains(want, k) })
			}
			if diff := cmp.Diff(got, want); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func sourceKeys(t *testing.T, path string) (columns, keys []string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var s snapshot
	if err := json.Unmarshal(b, &s); err != nil {
		t.Fatal(err)
	}
	for _, table := range s.Tables {
		columns = table.PrimaryKey
		for _, row := range table.Rows {
			var key []string
			for _, c := range columns {
				key = append(key, row[c])
			}
			keys = append(keys, strings.Join(key, "|"))
		}
	}
	slices.Sort(keys)
	return columns, keys
}

func replay(t *testing.T, path string, columns []string) []string {
	t.Helper()
	d, err := envelope.New(filepath.Base(filepath.Dir(path)), envelope.Options{})
	if err != nil {
		t.Fatal(err)
	}
	live := map[string]bool{}
	for _, r := range readCapture(t, path) {
		c, control, err := d.Decode(r)
		if err != nil {
			t.Fatalf("%v: %v", r.Ref(), err)
		}
		if control == "" {
			apply(live, c, columns)
		}
	}
	var keys []string
	for k := range live {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func apply(live map[string]bool, c change.Change, columns []string) {
	switch c.Op() {
	case change.OpUpsert:
		if c.Before().Kind() != wire.Absent {
			delete(live, keyOf(c.Before(), columns))
		}
		live[keyOf(c.Row(), columns)] = true
	case change.OpDelete:
		delete(live, keyOf(c.Key(), columns))
	case change.OpTruncate:
		clear(live)
	}
}

func keyOf(v wire.Value, columns []string) string {
	var key []string
	for _, c := range columns {
		key = append(key, string(v.Field(c).Text()))
	}
	return strings.Join(key, "|")
}
