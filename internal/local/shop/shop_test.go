package shop_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/frazil/frazil/internal/local/lake"
	"github.com/frazil/frazil/internal/local/shop"
	"github.com/frazil/frazil/internal/local/stack"
)

func open(t *testing.T) *lake.Lake {
	t.Helper()
	parts, err := stack.StartLake()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(parts.Close)
	l, err := lake.Open(t.Context(), parts.CatalogConfig())
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestTablesOfABaseHaveItsRowsInItsFiles(t *testing.T) {
	t.Parallel()
	l := open(t)
	for _, key := range []shop.Key{shop.Long, shop.UUID, shop.Composite} {
		base, err := shop.Write(t.Context(), l, "base."+string(key), 20_000, 2, key)
		if err != nil {
			t.Fatal(err)
		}
		for name, version := range map[string]int{"v2.": 2, "v3.": 3} {
			name += string(key)
			if err := base.Create(t.Context(), l, name, version, nil); err != nil {
				t.Fatal(err)
			}
			table, err := l.Load(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			_, rows, err := l.Rows(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			ids := map[string]bool{}
			for _, r := range rows {
				ids[r["order_id"]] = true
			}
			if files := table.CurrentSnapshot().Summary.Properties["total-data-files"]; len(rows) != 20_000 || len(ids) != 20_000 || files != "2" {
				t.Errorf("%s: %d rows, %d keys, %s files; want 20000, 20000, 2", name, len(rows), len(ids), files)
			}
		}
	}
}

func TestChangeSetsAreOfDifferentKeys(t *testing.T) {
	t.Parallel()
	l := open(t)
	base, err := shop.Write(t.Context(), l, "base.long", 1000, 1, shop.Long)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []shop.Distribution{shop.Uniform, shop.Sequential, shop.Skewed} {
		ops, keys, newest := map[string]int{}, map[int64]bool{}, 0
		for line := range bytes.Lines(shop.NewChanges(base, d).Next(100).Text(shop.JSONL)) {
			var c struct {
				Key struct {
					ID int64 `json:"order_id"`
				}
				Op  string
				Row map[string]any
			}
			if err := json.Unmarshal(line, &c); err != nil {
				t.Fatal(err)
			}
			ops[c.Op]++
			keys[c.Key.ID] = true
			if (c.Op == "i") != (c.Key.ID >= 1000) || (c.Op == "d") != (c.Row == nil) || c.Row != nil && len(c.Row) != 13 {
				t.Errorf("%s: %s", d, line)
			}
			if c.Key.ID >= 800 && c.Key.ID < 1000 {
				newest++
			}
		}
		if len(keys) != 100 || ops["u"] != 70 || ops["i"] != 20 || ops["d"] != 10 {
			t.Errorf("%s: %d keys, %v", d, len(keys), ops)
		}
		if (newest > 50) != (d == shop.Skewed) && d != shop.Sequential {
			t.Errorf("%s: %d of the newest orders", d, newest)
		}
	}
}
