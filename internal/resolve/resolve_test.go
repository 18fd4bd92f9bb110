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

func TestSettleWritesPutsAndKillsEveryHit(t *testing.T) {
	t.Parallel()
	schema, err := rows.NewSchema(iceberg.NewSchemaWithIdentifiers(0, []int{1},
		iceberg.NestedField{ID: 1, Name: "id", Type: iceberg.PrimitiveTypes.Int64, Required: true}), nil)
	if err != nil {
		t.Fatal(err)
	}
	b := rows.NewBatch(schema)
	key := func(id int64) rows.Key {
		var p rows.Parts
		p.Int(id)
		return b.Keys.Intern(&p)
	}
	b.Put(key(11), []rows.Cell{{Int: 11}})
	b.Put(key(12), []rows.Cell{{Int: 12}})
	b.Delete(key(13))
	b.Delete(key(14))

	found := &locate.Found{Hits: []locate.Hit{
		{Key: key(11), File: "a", Pos: 1, ID: 70}, {Key: key(11), File: "a", Pos: 2, ID: 71},
		{Key: key(13), File: "b", Pos: 7, ID: 72}, {Key: key(13), File: "b", Pos: 9, ID: 73},
	}}
	got := resolve.Settle(merge.Make(b), found)
	want := &resolve.Outcome{
		Batch: b, Write: []resolve.Row{{Index: 0, ID: 70}, {Index: 1, ID: locate.NoID}}, Keys: []rows.Key{0, 1, 2, 3}, Found: found,
		Inserts: 1, Updates: 1, Deletes: 1, Unknown: 1,
	}
	if diff := cmp.Diff(got, want, cmp.Comparer(func(a, b *rows.Batch) bool { return a == b })); diff != "" {
		t.Error(diff)
	}
}
