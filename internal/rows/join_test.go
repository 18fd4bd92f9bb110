package rows_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/frazil/frazil/internal/rows"
	"github.com/google/go-cmp/cmp"
)

// Changes that are put into several batches, which are joined, are those that are put into one.
func TestJoinedBatchesAreOne(t *testing.T) {
	t.Parallel()
	s, err := rows.NewSchema(everyType(), nil)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(5, 6))
	kinds := []func() []rows.Cell{nullRow, fullRow, emptyRow}
	for _, sizes := range [][]int{{0, 5}, {5, 0}, {1, 1}, {7, 9}, {8, 8, 8}, {63, 2}, {64, 65, 1}, {300, 1, 270}} {
		whole := rows.NewBatch(s)
		var parts []*rows.Batch
		for _, size := range sizes {
			part := rows.NewBatch(s)
			for range size {
				change := random.IntN(5)
				key, other := random.Int64N(40), random.Int64N(40)
				cells := kinds[random.IntN(len(kinds))]()
				if random.IntN(4) == 0 {
					cells[1+random.IntN(5)].Kept = []rows.Kept{rows.KeptOr, rows.MustKeep}[random.IntN(2)]
				}
				for _, b := range []*rows.Batch{whole, part} {
					k, o := intern(b, key), intern(b, other)
					switch change {
					case 0:
						b.Delete(k)
					case 1:
						b.Depart(k, o, uint64(size))
					case 2:
						b.Arrive(k, o, uint64(size), cells)
					case 3:
						b.Move(k, o, cells)
					default:
						b.Put(k, cells)
					}
				}
			}
			parts = append(parts, part)
		}
		joined := parts[0]
		for _, part := range parts[1:] {
			before := part.Keys.Len()
			if keys, _ := joined.Join(part); len(keys) != before {
				t.Errorf("%d keys become %d", before, len(keys))
			}
		}
		if diff := cmp.Diff(told(whole), told(joined)); diff != "" {
			t.Errorf("%v: %s", sizes, diff)
		}
		for i, a := range joined.Columns() {
			if err := array.ValidateFull(a); err != nil {
				t.Errorf("%s: %v", s.Columns[i].Name, err)
			}
		}
	}
}

func intern(b *rows.Batch, n int64) rows.Key {
	var p rows.Parts
	p.Int(n)
	return b.Keys.Intern(&p)
}

// told is all that a batch says: each change with its keys and its row.
func told(b *rows.Batch) (out []string) {
	key := func(k rows.Key) int64 { return rows.ReadInt(b.Keys.Part(k, 0)) }
	columns := b.Columns()
	for _, e := range b.Entries {
		line := fmt.Sprint(key(e.Key), " half ", e.Half)
		if e.Half || !e.Deletes() {
			line += fmt.Sprint(" over ", key(e.Over))
		}
		if !e.Deletes() {
			must, ok := b.MustKeep(e.Row)
			line += fmt.Sprint(" must keep ", must, ok, ":")
			for c, a := range columns {
				line += fmt.Sprint(" ", a.ValueStr(e.Row), b.Kept(c, e.Row))
			}
		}
		out = append(out, line)
	}
	return out
}
