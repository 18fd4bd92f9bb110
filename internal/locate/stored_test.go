package locate_test

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/frazil/frazil/internal/locate"
	"github.com/frazil/frazil/internal/rows"
	"github.com/frazil/frazil/internal/tablefile"
	"github.com/google/go-cmp/cmp"
)

// Rows are read again to be compared where that is cheap: a few, or a good part of a file. Those that the process wrote are known.
func TestStoredRowsAreReadWhereThatIsCheap(t *testing.T) {
	t.Parallel()
	s, schema := newShelf(), keyed(t, prim.Int64)
	values := make([]int64, 10_000)
	var all [][]rows.Cell
	for i := range values {
		values[i] = int64(i)
		all = append(all, long(int64(i)))
	}
	f := s.parquet(t, "s3://b/f", []column{{1, "k0", longs(values...)}})
	m := tablefile.NewMemory(1 << 20)
	live := snapshot(schema, []locate.File{f}, nil).With(m)
	missing := array.MakeArrayOfNull(memory.DefaultAllocator, arrow.BinaryTypes.String, len(values)) // the file has no column v
	same := rows.Fingerprints([]arrow.Array{longs(values...), missing}, indices(len(values)))
	for _, c := range []struct {
		keys  [][]rows.Cell
		known bool
	}{{all[:2], true}, {all[:3], false}, {all[:1000], true}, {all[:600], false}, {all, true}} {
		found, err := live.Find(t.Context(), s, schema, keysOf(schema, c.keys...))
		if err != nil {
			t.Fatal(err)
		}
		want := map[int]rows.Fingerprint{}
		for i, h := range found.Hits {
			if c.known {
				want[i] = same[h.Pos]
			}
		}
		if diff := cmp.Diff(want, live.Stored(t.Context(), s, schema, found, indices(len(c.keys)))); diff != "" {
			t.Errorf("%d rows: %s", len(c.keys), diff)
		}
	}

	locate.NewCache(m).Keep(schema, map[string][]rows.Fingerprint{"s3://b/f": same})
	found, err := live.Find(t.Context(), s, schema, keysOf(schema, all[7], all[8], all[9]))
	if err != nil {
		t.Fatal(err)
	}
	s.read = map[string]int64{}
	got := live.Stored(t.Context(), s, schema, found, []int{0, 2})
	if diff := cmp.Diff(map[int]rows.Fingerprint{0: same[7], 2: same[9]}, got); diff != "" || len(s.read) > 0 {
		t.Errorf("of rows that the process wrote, with reads of %v: %s", s.read, diff)
	}
}

// Of a file without an index of pages whole columns would be decoded for a row. That costs more than to write the row, and to find
// that out a footer, once.
func TestStoredRowsOfOtherWritersAreReadWhereThatIsCheap(t *testing.T) {
	t.Parallel()
	s, schema := newShelf(), keyed(t, prim.Int64)
	const count, footer = 200_000, 64 << 10
	values := make([]int64, count)
	for i := range values {
		values[i] = int64(rows.Mix(uint64(i)))
	}
	column := []column{{1, "k0", longs(values...)}}
	with, without := "s3://b/with", "s3://b/without"
	for path, index := range map[string]bool{with: true, without: false} {
		f := s.parquet(t, path, column, parquet.WithPageIndexEnabled(index), parquet.WithDataPageSize(16<<10), parquet.WithDictionaryDefault(false))
		live := snapshot(schema, []locate.File{f}, nil).With(tablefile.NewMemory(1 << 20))
		found, err := live.Find(t.Context(), s, schema, keysOf(schema, long(values[count-1])))
		if err != nil {
			t.Fatal(err)
		}
		for again, most := range []int64{footer + 64<<10, map[string]int64{with: footer + 64<<10, without: 0}[path]} {
			s.read = map[string]int64{}
			known := live.Stored(t.Context(), s, schema, found, []int{0})
			if _, ok := known[0]; ok != index || s.read[path] > most {
				t.Errorf("%s, time %d: known %t, %d bytes are read, want at most %d", path, again, ok, s.read[path], most)
			}
		}
	}
}

func indices(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}
