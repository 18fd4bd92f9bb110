package stage

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/apache/iceberg-go"
)

// Order is a table's sort order. An order without fields leaves rows as they come.
type Order struct {
	ID     int
	Fields []OrderField
}

// OrderField is one field of a sort order.
type OrderField struct {
	SourceID   int
	Transform  iceberg.Transform
	Descending bool
	NullsLast  bool
}

// sorted puts picks in the target's order; equal rows stay as they were.
func (w *writer) sorted(p *pile, picks []pick) ([]pick, error) {
	order := w.target.Sort.Fields
	if len(order) == 0 {
		return picks, nil
	}
	var sources []source
	for _, f := range order {
		s, err := sourceOf(w.target.Schema.Fields(), p.whole, f.SourceID)
		if err != nil {
			return nil, err
		}
		if s.typ == nil {
			return nil, fmt.Errorf("sort order %d: the table has no column of id %d", w.target.Sort.ID, f.SourceID)
		}
		sources = append(sources, s)
	}
	keys := make([][]byte, 0, len(picks)*len(order)) // those of one pick after those of another; nil: null
	at := make([]int, len(picks))
	for n, p := range picks {
		at[n] = n
		for i, f := range order {
			var key []byte
			if v := f.Transform.Apply(sources[i].value(p.index)); v.Valid {
				key = appendLiteral([]byte{}, v.Val)
			}
			keys = append(keys, key)
		}
	}
	slices.SortFunc(at, func(a, b int) int {
		for i, f := range order {
			if c := f.compare(keys[a*len(order)+i], keys[b*len(order)+i]); c != 0 {
				return c
			}
		}
		return cmp.Compare(a, b)
	})
	out := make([]pick, len(picks))
	for i, n := range at {
		out[i] = picks[n]
	}
	return out, nil
}

func (f OrderField) compare(a, b []byte) int {
	if a == nil || b == nil {
		c := cmp.Compare(boolInt(a != nil), boolInt(b != nil)) // nulls first
		if f.NullsLast {
			return -c
		}
		return c
	}
	c := bytes.Compare(a, b)
	if f.Descending {
		return -c
	}
	return c
}

func boolInt(v bool) int {
	if v {
		return 1
	}
	return 0
}
