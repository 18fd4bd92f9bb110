package resolve_test

import (
	"testing"

	"github.com/apache/iceberg-go"
	"github.com/frazil/frazil/internal/locate"
	"github.com/frazil/frazil/internal/merge"
	"github.com/frazil/frazil/internal/resolve"
	"github.com/frazil/frazil/internal/rows"
	"github.com/google/go-cmp/cmp"
)

// batch is an empty one for a table of two numbers, id and b, and what makes the key of an id.
func batch(t *testing.T) (b *rows.Batch, key func(int64) rows.Key) {
	t.Helper()
	schema, err := rows.NewSchema(iceberg.NewSchemaWithIdentifiers(0, []int{1},
		iceberg.NestedField{ID: 1, Name: "id", Type: iceberg.PrimitiveTypes.Int64, Required: true},
		iceberg.NestedField{ID: 2, Name: "b", Type: iceberg.PrimitiveTypes.Int64}), nil)
	if err != nil {
		t.Fatal(err)
	}
	b = rows.NewBatch(schema)
	return b, func(id int64) rows.Key {
		var p rows.Parts
		p.Int(id)
		return b.Keys.Intern(&p)
	}
}

func TestSettleWritesPutsAndKillsEveryHit(t *testing.T) {
	t.Parallel()
	b, key := batch(t)
	b.Put(key(11), []rows.Cell{{Int: 11}, {}})
	b.Put(key(12), []rows.Cell{{Int: 12}, {}})
	b.Delete(key(13))
	b.Delete(key(14))

	found := &locate.Found{Hits: []locate.Hit{
		{Key: key(11), File: "a", Pos: 1, ID: 70}, {Key: key(11), File: "a", Pos: 2, ID: 71},
		{Key: key(13), File: "b", Pos: 7, ID: 72}, {Key: key(13), File: "b", Pos: 9, ID: 73},
	}}
	got := resolve.Settle(merge.Make(b), found)
	want := &resolve.Outcome{
		Batch: b, Write: []resolve.Row{{Index: 0, ID: 70}, {Key: 1, Index: 1, ID: locate.NoID}}, Keys: []rows.Key{0, 1, 2, 3}, Found: found,
		Inserts: 1, Updates: 1, Deletes: 1, Unknown: 1,
	}
	if diff := cmp.Diff(got, want, cmp.Comparer(func(a, b *rows.Batch) bool { return a == b })); diff != "" {
		t.Error(diff)
	}
}

// A half of a change of key names another key, whose own changes may be in other deliveries.
func TestSettleLeavesTheRowOfAKeyThatIsOnlyNamed(t *testing.T) {
	t.Parallel()
	b, key := batch(t)
	b.Depart(key(1), key(2), 5)
	b.Arrive(key(3), key(4), 5, []rows.Cell{{Int: 3}, {}})

	hits := []locate.Hit{{Key: key(1), File: "a", Pos: 1}, {Key: key(2), File: "a", Pos: 2}, {Key: key(4), File: "a", Pos: 4}}
	got := resolve.Settle(merge.Make(b), &locate.Found{Hits: hits})
	if diff := cmp.Diff(got.Found.Hits, hits[:1]); diff != "" {
		t.Error(diff)
	}
}

// Rows of the batch: 0 is complete, 1 to 4 keep b. Rows 1 and 3 have to.
func TestSettleLaysPartialRowsOverWhatIsThere(t *testing.T) {
	t.Parallel()
	b, key := batch(t)
	row := func(id int64, kept rows.Kept) []rows.Cell {
		return []rows.Cell{{Int: id}, {Null: kept != rows.NotKept, Kept: kept}}
	}
	b.Put(key(1), row(1, rows.NotKept))
	b.Put(key(1), row(1, rows.MustKeep)) // over row 0
	b.Put(key(2), row(2, rows.KeptOr))   // over the table's row
	b.Put(key(3), row(3, rows.MustKeep)) // over nothing
	b.Move(key(4), key(2), row(4, rows.KeptOr))
	b.Delete(key(2))

	found := &locate.Found{Hits: []locate.Hit{{Key: key(2), File: "a", Pos: 5, ID: 7}}}
	got := resolve.Settle(merge.Make(b), found)
	want := &resolve.Outcome{
		Batch: b, Keys: []rows.Key{0, 1, 2, 3}, Found: found, Inserts: 3, Deletes: 1,
		Write: []resolve.Row{
			{Index: 1, Patch: 1, ID: locate.NoID}, {Key: 2, Index: 3, Patch: 2, ID: locate.NoID}, {Key: 3, Index: 4, Patch: 3, ID: locate.NoID},
		},
		Patches: []resolve.Patch{
			{Layers: []int{1, 0}}, {Layers: []int{3}}, {Layers: []int{4, 2}, Old: &found.Hits[0]},
		},
		Rejected: []int{3},
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b *rows.Batch) bool { return a == b })); diff != "" {
		t.Error(diff)
	}
	for i, from := range []struct {
		row  int
		kept bool
	}{{0, false}, {3, true}, {2, true}} {
		if row, kept := got.Patches[i].Cell(b, 1); row != from.row || kept != from.kept {
			t.Errorf("patch %d: b is of row %d, kept %v; want %d, %v", i, row, kept, from.row, from.kept)
		}
	}
}

// Keys 1 to 6 are found: 1 is as it was, 2 is not, 3 has two rows, 4 is deleted, of 5 nothing is known, 6 is partial.
func TestRowsThatAreAsTheyWereAreLeft(t *testing.T) {
	t.Parallel()
	b, key := batch(t)
	for id := range int64(7) {
		switch id {
		case 4:
			b.Delete(key(id))
		case 6:
			b.Put(key(id), []rows.Cell{{Int: id}, {Kept: rows.KeptOr, Null: true}})
		default:
			b.Put(key(id), []rows.Cell{{Int: id}, {Int: 10 * id}})
		}
	}
	found := &locate.Found{}
	for i, id := range []int64{1, 2, 3, 3, 4, 5, 6} {
		found.Hits = append(found.Hits, locate.Hit{Key: key(id), File: "a", Pos: int64(i), ID: locate.NoID})
	}
	o := resolve.Settle(merge.Make(b), found)
	if diff := cmp.Diff([]int{0, 1, 5}, o.Comparable()); diff != "" {
		t.Errorf("comparable: %s", diff)
	}
	all := rows.Fingerprints(b.Columns(), []int{0, 1, 2})
	o.Leave(map[int]rows.Fingerprint{0: all[1], 1: all[0]})
	var written []rows.Key
	for _, r := range o.Write {
		written = append(written, r.Key)
	}
	if diff := cmp.Diff([]rows.Key{key(0), key(2), key(3), key(5), key(6)}, written); diff != "" {
		t.Errorf("written: %s", diff)
	}
	if diff := cmp.Diff(found.Hits[1:], o.Found.Hits); diff != "" {
		t.Errorf("rows that go: %s", diff)
	}
	if o.Unchanged != 1 || o.Updates != 4 || o.Inserts != 1 || o.Deletes != 1 {
		t.Errorf("%d unchanged, %d updates, %d inserts, %d deletes", o.Unchanged, o.Updates, o.Inserts, o.Deletes)
	}
}
