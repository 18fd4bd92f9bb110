package rows_test

import (
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/frazil/frazil/internal/rows"
)

// A cell reads the same wherever in a column it stands, and whatever stands before and behind it.
func TestColumnsHoldEachCellAsIfItWereAlone(t *testing.T) {
	t.Parallel()
	s, err := rows.NewSchema(everyType(), nil)
	if err != nil {
		t.Fatal(err)
	}
	kinds := [][]rows.Cell{nullRow(), fullRow(), emptyRow()}
	var alone [][]string // by kind and column
	for _, cells := range kinds {
		b := rows.NewBatch(s)
		b.Put(0, cells)
		var list []string
		for _, a := range b.Columns() {
			list = append(list, texts(a)...)
		}
		alone = append(alone, list)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for _, size := range []int{0, 1, 7, 8, 9, 15, 16, 17, 63, 64, 65, 300, 1000} {
		b, of := rows.NewBatch(s), make([]int, size)
		if size%2 == 0 {
			b.Reserve(size)
		}
		for row := range of {
			if of[row] = random.IntN(len(kinds)); row > 0 && random.IntN(2) == 0 {
				of[row] = of[row-1]
			}
			b.Put(0, kinds[of[row]])
		}
		for i, a := range b.Columns() {
			nulls := 0
			for row, kind := range of {
				if a.IsNull(row) {
					nulls++
				}
				if got := a.ValueStr(row); got != alone[kind][i] {
					t.Fatalf("%s, row %d of %d: got %s, want %s", s.Columns[i].Name, row, size, got, alone[kind][i])
				}
			}
			if a.Len() != size || a.NullN() != nulls {
				t.Errorf("%s: got %d rows and %d nulls, want %d and %d", s.Columns[i].Name, a.Len(), a.NullN(), size, nulls)
			}
			if err := array.ValidateFull(a); err != nil {
				t.Errorf("%s: %v", s.Columns[i].Name, err)
			}
		}
	}
}

// What is kept is told by column and row, however many rows there are.
func TestKeptCellsAreThoseThatWerePut(t *testing.T) {
	t.Parallel()
	s, err := rows.NewSchema(everyType(), nil)
	if err != nil {
		t.Fatal(err)
	}
	b, random := rows.NewBatch(s), rand.New(rand.NewPCG(1, 2))
	want := make([]map[int]bool, 300)
	for row := range want {
		cells := nullRow()
		want[row] = map[int]bool{}
		for range random.IntN(3) * row % 3 {
			column := 1 + random.IntN(3)
			cells[column].Kept, want[row][column] = rows.KeptOr, true
		}
		b.Put(0, cells)
	}
	for row := range want {
		for column := range s.Columns {
			if got := b.Kept(column, row); got != want[row][column] {
				t.Errorf("column %d of row %d: got kept %t", column, row, got)
			}
		}
		if got := b.Partial(row); got != (len(want[row]) > 0) {
			t.Errorf("row %d: got partial %t", row, got)
		}
	}
}
