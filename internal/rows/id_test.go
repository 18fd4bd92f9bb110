package rows_test

import (
	"testing"

	"github.com/apache/iceberg-go"
	"github.com/frazil/frazil/internal/rows"
)

// IDs are equal exactly where keys are, whichever way their parts come.
func TestIDsTellKeysApart(t *testing.T) {
	t.Parallel()
	p := iceberg.PrimitiveTypes
	int64s := func(v int64) []byte { return rows.AppendInt(nil, v) }
	for _, c := range []struct {
		types []iceberg.Type
		keys  [][][]byte // all different
		wide  bool
	}{
		{[]iceberg.Type{p.Int64}, [][][]byte{{int64s(0)}, {int64s(-1)}, {int64s(1 << 62)}}, false},
		{[]iceberg.Type{p.Int64, p.Date}, [][][]byte{{int64s(1), int64s(2)}, {int64s(2), int64s(1)}, {int64s(0), int64s(0)}}, true},
		{[]iceberg.Type{p.UUID}, [][][]byte{{[]byte("0123456789abcdef")}, {[]byte("0123456789abcdeg")}, {[]byte("1123456789abcdef")}}, true},
		{[]iceberg.Type{iceberg.FixedTypeOf(5)}, [][][]byte{{[]byte("01234")}, {[]byte("01235")}, {[]byte("0123\x00")}}, false},
		{[]iceberg.Type{p.String}, [][][]byte{{[]byte("")}, {[]byte("\x00")}, {[]byte("a")}, {[]byte("a\x00")}}, true},
		{[]iceberg.Type{p.String, p.String}, [][][]byte{{[]byte("ab"), []byte("c")}, {[]byte("a"), []byte("bc")}, {[]byte("c"), []byte("ab")}, {nil, nil}}, true},
		{[]iceberg.Type{p.Int64, p.Int64, p.Int64}, [][][]byte{{int64s(1), int64s(2), int64s(3)}, {int64s(1), int64s(3), int64s(2)}}, true},
	} {
		ids, seen := rows.NewIDs(c.types...), map[rows.ID]int{}
		if ids.Wide() != c.wide {
			t.Errorf("%v: wide is %v", c.types, ids.Wide())
		}
		for n, parts := range c.keys {
			var id, again rows.ID
			for i, part := range parts {
				ids.Add(&id, i, part)
				if _, text := c.types[i].(iceberg.StringType); len(part) == 8 && !text {
					ids.AddInt(&again, i, rows.ReadInt(part))
				} else {
					ids.Add(&again, i, part)
				}
			}
			if other, twice := seen[id]; twice {
				t.Errorf("%v: keys %d and %d have one ID", c.types, other, n)
			}
			if seen[id] = n; id != again || !ids.Wide() && id[1] != 0 {
				t.Errorf("%v: key %d has IDs %v and %v", c.types, n, id, again)
			}
		}
	}
}
