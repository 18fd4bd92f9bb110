package change_test

import (
	"testing"

	"github.com/frazil/frazil/internal/change"
	"github.com/frazil/frazil/internal/wire"
)

func TestChangesHoldWhatTheyWereMadeOf(t *testing.T) {
	t.Parallel()
	var d wire.Doc
	row, err := d.JSON([]byte(`{"id":1,"old":{"id":2},"key":[1]}`))
	if err != nil {
		t.Fatal(err)
	}
	key, before := row.Field("key"), row.Field("old")
	full := func(c change.Change) change.Change {
		return c.WithKey(key).WithBefore(before).WithMeta("__").WithOther(before, 7)
	}
	tests := []struct {
		c      change.Change
		op     change.Op
		name   string
		row    wire.Value
		insert bool
	}{
		{full(change.Upsert(row)), change.OpUpsert, "upsert", row, false},
		{full(change.Insert(row)), change.OpUpsert, "upsert", row, true},
		{full(change.Delete()), change.OpDelete, "delete", wire.Value{}, false},
		{full(change.Truncate()), change.OpTruncate, "truncate", wire.Value{}, false},
	}
	for _, tt := range tests {
		if tt.c.Op() != tt.op || tt.c.Op().String() != tt.name || tt.c.Row() != tt.row || tt.c.IsInsert() != tt.insert {
			t.Errorf("%s: got op %v, insert %v, row %s", tt.name, tt.c.Op(), tt.c.IsInsert(), tt.c.Row().Raw())
		}
		if tt.c.Key() != key || tt.c.Before() != before || tt.c.Meta() != "__" || tt.c.Other() != before || tt.c.Mark() != 7 {
			t.Errorf("%s: a key, image before, mark or prefix are not those given", tt.name)
		}
	}
	if (change.Change{}).Op() != change.OpNone {
		t.Error("the zero Change says something")
	}
}
