package resolve

import (
	"github.com/frazil/frazil/internal/locate"
	"github.com/frazil/frazil/internal/rows"
)

// Comparable are the indices of the found rows in whose place a complete row is to be written, of which there is no other.
func (o *Outcome) Comparable() (hits []int) {
	complete := make([]bool, o.Batch.Keys.Len()) // by key: whether the row to write is
	for _, r := range o.Write {
		complete[r.Key] = r.Patch == 0
	}
	const none, many = 0, -1
	at := make([]int, o.Batch.Keys.Len()) // by key: 1 + index of its only row
	for i, h := range o.Found.Hits {
		switch {
		case !complete[h.Key]:
		case at[h.Key] == none:
			at[h.Key] = i + 1
		default:
			at[h.Key] = many
		}
	}
	for i, h := range o.Found.Hits {
		if at[h.Key] == i+1 {
			hits = append(hits, i)
		}
	}
	return hits
}

// Leave takes rows out of the outcome that the table has as they are. Stored are the fingerprints of found rows, of those that are
// comparable, by their index, as far as they are known.
func (o *Outcome) Leave(stored map[int]rows.Fingerprint) {
	if len(stored) == 0 {
		return
	}
	at := make([]int, o.Batch.Keys.Len()) // by key: 1 + index of its row
	for i := range stored {
		at[o.Found.Hits[i].Key] = i + 1
	}
	var candidates, indices []int
	for n, r := range o.Write {
		if at[r.Key] > 0 {
			candidates, indices = append(candidates, n), append(indices, r.Index)
		}
	}
	left := map[int]bool{} // of the found rows
	same := map[int]bool{} // of those to write
	for n, fingerprint := range rows.Fingerprints(o.Batch.Columns(), indices) {
		row := candidates[n]
		if hit := at[o.Write[row].Key] - 1; stored[hit] == fingerprint {
			left[hit], same[row] = true, true
		}
	}
	o.Unchanged = len(left)
	o.Updates -= len(left)
	o.Write = without(o.Write, same)
	found := *o.Found
	found.Hits = without(found.Hits, left)
	o.Found = &found
}

func without[T Row | locate.Hit](list []T, gone map[int]bool) []T {
	if len(gone) == 0 {
		return list
	}
	out := make([]T, 0, len(list)-len(gone))
	for i, v := range list {
		if !gone[i] {
			out = append(out, v)
		}
	}
	return out
}
