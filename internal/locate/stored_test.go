package locate_test

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
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

func indices(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}
