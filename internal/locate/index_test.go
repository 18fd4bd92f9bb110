package locate

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/iceberg-go"
	"github.com/frazil/frazil/internal/rows"
	"github.com/frazil/frazil/internal/tablefile"
)

// An index says of every key what a map of it says: also of keys of many rows, and of rows without a key.
func TestAnIndexFindsEveryRowOfAKey(t *testing.T) {
	t.Parallel()
	for _, types := range [][]iceberg.Type{
		{iceberg.PrimitiveTypes.Int64}, {iceberg.PrimitiveTypes.Int64, iceberg.PrimitiveTypes.Int64}, {iceberg.PrimitiveTypes.String},
	} {
		r, ids := rand.New(rand.NewPCG(1, 2)), rows.NewIDs(types...)
		const count, different = 20_000, 9_000
		x, want := newIndex(count, ids), map[rows.ID][]int64{}
		for first := int64(0); first < count; first += 1000 {
			run := tablefile.Keys{First: first, Nulls: make([]bool, 1000)}
			for i := range 1000 {
				n := r.Int64N(different)
				if n%3 == 0 {
					n = 7 // a third of the rows has one key
				}
				id := rows.ID{}
				for c := range types {
					ids.AddInt(&id, c, n)
				}
				run.IDs = append(run.IDs, id)
				if run.Nulls[i] = n == 11; !run.Nulls[i] {
					want[id] = append(want[id], first+int64(i))
				}
			}
			x.add(run)
		}
		x.build()
		for id := range maps.Keys(want) {
			first, more := x.find(id, hash(id))
			got := []int64{first}
			for _, pos := range more {
				got = append(got, int64(pos))
			}
			if !x.filter.may(hash(id)) {
				t.Fatalf("%v: the filter lacks a key", types)
			}
			if slices.Sort(got); !slices.Equal(got, want[id]) {
				t.Fatalf("%v: rows %v, want %v", types, got, want[id])
			}
		}
		for n := range int64(100) {
			id := rows.ID{}
			ids.AddInt(&id, 0, different+n)
			if pos, _ := x.find(id, hash(id)); pos >= 0 {
				t.Errorf("a key that is not there has row %d", pos)
			}
		}
	}
}

func TestRowIDsAreKeptWhereAFileHasSome(t *testing.T) {
	t.Parallel()
	ids := rows.NewIDs(iceberg.PrimitiveTypes.Int64)
	x := newIndex(3, ids)
	x.add(tablefile.Keys{First: 0, IDs: []rows.ID{{1}}})
	x.add(tablefile.Keys{First: 1, IDs: []rows.ID{{2}}, RowIDs: []int64{40}})
	x.add(tablefile.Keys{First: 2, IDs: []rows.ID{{3}}})
	for pos, want := range []int64{tablefile.NoRowID, 40, tablefile.NoRowID} {
		if got := x.rowID(int64(pos)); got != want {
			t.Errorf("row %d: id %d, want %d", pos, got, want)
		}
	}
}
