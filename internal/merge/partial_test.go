package merge_test

import (
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/frazil/frazil/internal/merge"
	"github.com/frazil/frazil/internal/rows"
	"github.com/google/go-cmp/cmp"
)

// partial is a change that sends some of the columns; the others are kept, or 0 where there is nothing to keep.
type partial struct {
	key, before int64 // before: the key whose row it moves, and keeps cells of; 0: none
	sent        [2]bool
	values      [2]int64
	deletes     bool
}

type table map[int64][2]int64

// naive applies changes one by one: the oracle.
func (t table) naive(changes []partial) {
	for _, c := range changes {
		old := t[c.key]
		if c.before != 0 {
			if _, taken := t[c.key]; !taken { // else it is there already
				old = t[c.before]
			}
			delete(t, c.before)
		}
		if c.deletes {
			delete(t, c.key)
			continue
		}
		for i, sent := range c.sent {
			if sent {
				old[i] = c.values[i]
			}
		}
		t[c.key] = old
	}
}

// planned applies changes as frazil does.
func (t table) planned(tb *testing.T, changes []partial) {
	tb.Helper()
	b, ids, intern := batchOf(tb, "a", "b")
	for _, c := range changes {
		key := intern(c.key)
		old := key
		if c.before != 0 {
			old = intern(c.before)
		}
		if c.deletes {
			b.Delete(key)
		} else {
			b.Move(key, old, c.cells())
		}
		if c.before != 0 {
			b.Delete(old)
		}
	}
	t.apply(b, ids)
}

func (c partial) cells() []rows.Cell {
	cells := []rows.Cell{{Int: c.key}, {Int: c.values[0]}, {Int: c.values[1]}}
	for i, sent := range c.sent {
		if !sent {
			cells[i+1] = rows.Cell{Kept: rows.KeptOr}
		}
	}
	return cells
}

// apply does what the plan of a batch says.
func (t table) apply(b *rows.Batch, ids map[rows.Key]int64) {
	p, before := merge.Make(b), maps.Clone(t)
	for _, e := range p.Effects {
		if e.Deletes() {
			delete(t, ids[e.Key])
		} else {
			t[ids[e.Key]] = before.laid(p, e, ids)
		}
	}
}

// laid is the row that an effect puts, over the table as it was before the plan.
func (t table) laid(p merge.Plan, e merge.Effect, ids map[rows.Key]int64) (out [2]int64) {
	layers, key, ok := p.Layers(e, func(k rows.Key) bool { _, there := t[ids[k]]; return there })
	for i := range out {
		column := p.Batch.Columns()[i+1].(*array.Int64)
		kept := true
		for _, row := range layers {
			if out[i], kept = column.Value(row), p.Batch.Kept(i+1, row); !kept {
				break
			}
		}
		if old, there := t[ids[key]]; kept && ok && there {
			out[i] = old[i]
		}
	}
	return out
}

func TestPartialRowsObeyTheAlgebraOfMerge(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 6))
		key := func() int64 { return 1 + r.Int64N(5) }
		var all []partial
		for range r.IntN(25) {
			c := partial{key: key(), sent: [2]bool{r.IntN(3) > 0, r.IntN(2) > 0}, values: [2]int64{r.Int64N(100), r.Int64N(100)}, deletes: r.IntN(5) == 0}
			if before := key(); !c.deletes && r.IntN(4) == 0 && before != c.key {
				c.before = before
			}
			all = append(all, c)
		}
		start := table{1: {-1, -2}, 2: {-3, -4}}
		want := maps.Clone(start)
		want.naive(all)
		got := maps.Clone(start)
		got.planned(t, all)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("seed %d: one plan is not the changes one by one: %s", seed, diff)
		}
		got = maps.Clone(start)
		for rest := all; len(rest) > 0; {
			n := 1 + r.IntN(len(rest))
			got.planned(t, rest[:n])
			rest = rest[n:]
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("seed %d: it matters where the batch is cut: %s", seed, diff)
		}
	}
}
