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

	hits := []locate.Hit{{Key: key(11), File: "a", Pos: 1}, {Key: key(13), File: "b", Pos: 7}, {Key: key(13), File: "b", Pos: 9}}
	got := resolve.Settle(merge.Make(b), hits)
	want := &resolve.Outcome{Batch: b, Write: []int{0, 1}, Kill: hits, Inserts: 1, Updates: 1, Deletes: 1, Unknown: 1}
	if diff := cmp.Diff(got, want, cmp.Comparer(func(a, b *rows.Batch) bool { return a == b })); diff != "" {
		t.Error(diff)
	}
}
