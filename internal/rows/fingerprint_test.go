package rows_test

import (
	"testing"

	"github.com/frazil/frazil/internal/rows"
)

func TestFingerprintsAreEqualWhereRowsAre(t *testing.T) {
	t.Parallel()
	b := everyRow(t)
	f := rows.Fingerprints(b.Columns(), []int{0, 1, 2, 3, 4, 1})
	for _, same := range [][2]int{{0, 3}, {1, 4}, {1, 5}} {
		if f[same[0]] != f[same[1]] {
			t.Errorf("fingerprints %d and %d differ", same[0], same[1])
		}
	}
	if f[0] == f[1] || f[1] == f[2] || f[0] == f[2] {
		t.Error("rows that differ have one fingerprint")
	}
}

// A row differs from another in one column at a time.
func TestAFingerprintHasEveryColumn(t *testing.T) {
	t.Parallel()
	s, err := rows.NewSchema(everyType(), nil)
	if err != nil {
		t.Fatal(err)
	}
	b := rows.NewBatch(s)
	b.Put(0, fullRow())
	for c := range s.Columns {
		cells := fullRow()
		if cells[c] = emptyRow()[c]; s.Columns[c].Name == "unknown" {
			continue
		}
		b.Put(0, cells)
	}
	var indices []int
	for i := range b.Columns()[0].Len() {
		indices = append(indices, i)
	}
	seen := map[rows.Fingerprint]int{}
	for i, f := range rows.Fingerprints(b.Columns(), indices) {
		if other, ok := seen[f]; ok {
			t.Errorf("rows %d and %d have one fingerprint", other, i)
		}
		seen[f] = i
	}
}
