package merge_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/frazil/frazil/internal/merge"
	"github.com/frazil/frazil/internal/rows"
	"github.com/google/go-cmp/cmp"
)

// half is what a source says of one key: a row of two columns, whose second it may leave unsaid, or that the row is gone. Other is
// the key of the other half of a change of key; 0: it is none.
type half struct {
	key, other int64
	mark       uint64
	value      [2]int64
	unsaid     bool
	deletes    bool
}

// apply plans halves and does what the plan says. It leaves out rows that would need one that is not there, and returns their keys.
func (t table) halves(tb *testing.T, list []half) (refused []int64) {
	tb.Helper()
	left := slices.Clone(list)
	for {
		b, ids, key := batchOf(tb, "a", "b")
		var of []int // by row: the half
		for i, h := range left {
			cells := []rows.Cell{{Int: h.key}, {Int: h.value[0]}, {Int: h.value[1]}}
			if h.unsaid {
				cells[2] = rows.Cell{Null: true, Kept: rows.MustKeep}
			}
			if !h.deletes {
				of = append(of, i)
			}
			switch {
			case h.deletes && h.other != 0:
				b.Depart(key(h.key), key(h.other), h.mark)
			case h.deletes:
				b.Delete(key(h.key))
			case h.other != 0:
				b.Arrive(key(h.key), key(h.other), h.mark, cells)
			default:
				b.Put(key(h.key), cells)
			}
		}
		p, without := merge.Make(b), map[int]bool{}
		has := func(k rows.Key) bool { _, there := t[ids[k]]; return there }
		for _, e := range p.Effects {
			if e.Deletes() || !b.Partial(e.Row) {
				continue
			}
			layers, table, ok := p.Layers(e, has)
			last := layers[len(layers)-1]
			if _, must := b.MustKeep(last); must && !(ok && has(table)) {
				refused = append(refused, left[of[last]].key)
				without[of[last]] = true
			}
		}
		if len(without) == 0 {
			t.apply(b, ids)
			return refused
		}
		var rest []half
		for i, h := range left {
			if !without[i] {
				rest = append(rest, h)
			}
		}
		left = rest
	}
}

func TestHalvesOfAChangeOfKeyAreToldFromOthers(t *testing.T) {
	t.Parallel()
	gone := func(key, other int64, mark uint64) half {
		return half{key: key, other: other, mark: mark, deletes: true}
	}
	went := func(key, other int64, mark uint64, a int64) half {
		return half{key: key, other: other, mark: mark, value: [2]int64{a}, unsaid: true}
	}
	row := func(key, a, b int64) half { return half{key: key, value: [2]int64{a, b}} }
	again := []half{gone(1, 2, 0), gone(1, 2, 0), row(1, 5, 6), gone(1, 2, 0), gone(1, 2, 0)}
	for name, test := range map[string]struct {
		start   table
		halves  []half
		want    table
		refused []int64
	}{
		"the row was put before it went":          {nil, []half{row(1, 5, 6), gone(1, 2, 7), went(2, 1, 7, 8)}, table{2: {8, 6}}, nil},
		"a row that went before is another one":   {table{1: {1, 1}}, []half{gone(1, 0, 0), gone(1, 2, 7), went(2, 1, 7, 8)}, table{}, []int64{2}},
		"a tombstone behind the delete":           {table{1: {1, 1}}, []half{gone(1, 2, 0), gone(1, 2, 0), row(1, 5, 6), went(2, 1, 0, 3)}, table{1: {5, 6}, 2: {3, 1}}, nil},
		"twice, and nothing tells":                {table{1: {1, 1}}, slices.Concat(again[:2], []half{went(2, 1, 0, 3), gone(2, 0, 0)}, again[2:], []half{went(2, 1, 0, 4)}), table{}, []int64{2}},
		"one of two arrived":                      {table{1: {1, 1}}, append(slices.Clone(again), went(2, 1, 0, 4)), table{}, []int64{2}},
		"one of two arrived, which is told":       {table{1: {1, 1}}, []half{gone(1, 2, 7), row(1, 5, 6), gone(1, 2, 8), went(2, 1, 8, 4)}, table{2: {4, 6}}, nil},
		"again, and there is another row by then": {table{1: {1, 1}}, []half{gone(1, 2, 7), row(1, 5, 6), gone(1, 2, 7), row(1, 5, 6), went(2, 1, 7, 4), went(2, 1, 7, 4)}, table{1: {5, 6}, 2: {4, 1}}, nil},
		"again, in another delivery":              {table{1: {5, 6}, 2: {4, 1}}, []half{gone(1, 2, 7), row(1, 5, 6), went(2, 1, 7, 4)}, table{1: {5, 6}, 2: {4, 1}}, nil},
		"again, and nothing tells":                {table{1: {1, 1}}, []half{gone(1, 2, 0), went(2, 1, 0, 3), gone(1, 2, 0), went(2, 1, 0, 4)}, table{2: {4, 1}}, nil},
		"again, and gone on":                      {table{1: {1, 1}}, []half{went(2, 1, 7, 4), gone(2, 3, 8), went(2, 1, 7, 4), gone(2, 3, 8), gone(1, 2, 7), row(1, 5, 6), gone(1, 2, 7), row(1, 5, 6), went(3, 2, 8, 4), went(3, 2, 8, 4)}, table{1: {5, 6}, 3: {4, 1}}, nil},
		"no row departs":                          {table{1: {1, 1}, 2: {2, 2}}, []half{went(2, 1, 7, 4)}, table{1: {1, 1}, 2: {2, 2}}, []int64{2}},
		"in a circle, of another delivery":        {table{1: {1, 1}}, []half{went(1, 2, 7, 3), gone(1, 2, 8), went(2, 1, 8, 4), gone(2, 1, 7)}, table{}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := table{}
			maps.Copy(got, test.start)
			refused := got.halves(t, test.halves)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(test.refused, refused); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// sourceOf is what a source says, change by change, and the table that it has in the end: each change of key in halves, of which the
// one that goes has a tombstone behind it.
func sourceOf(r *rand.Rand, start table, changes int, marked bool) (said [][]half, end table) {
	end = maps.Clone(start)
	for n := range changes {
		key, value := 1+r.Int64N(6), [2]int64{r.Int64N(1000), r.Int64N(1000)}
		old, there := end[key]
		unsaid := there && r.IntN(2) == 0
		switch to := 1 + r.Int64N(6); {
		case there && r.IntN(4) == 0:
			delete(end, key)
			said = append(said, []half{{key: key, deletes: true}})
			continue
		case there && end[to] == [2]int64{}:
			if unsaid {
				value[1] = old[1]
			}
			mark := uint64(0)
			if marked {
				mark = uint64(n) + 1
			}
			delete(end, key)
			end[to] = value
			went := half{key: to, other: key, mark: mark, value: value, unsaid: unsaid}
			said = append(said, []half{{key: key, other: to, mark: mark, deletes: true}, {key: key, other: to, deletes: true}, went})
			continue
		case unsaid:
			value[1] = old[1]
		}
		end[key] = value
		said = append(said, []half{{key: key, value: value, unsaid: unsaid}})
	}
	return said, end
}

// killed has a source's connector be killed now and then: it goes on from before.
func killed(r *rand.Rand, said [][]half) (out [][]half) {
	for n := 0; n < len(said); n++ {
		out = append(out, said[n])
		if r.IntN(12) == 0 {
			n -= 1 + r.IntN(n+1)
		}
	}
	return out
}

// parted has the halves partition by partition, in any order of these.
func parted(r *rand.Rand, said [][]half) (out []half) {
	for _, p := range r.Perm(3) {
		for _, h := range slices.Concat(said...) {
			if h.key%3 == int64(p) {
				out = append(out, h)
			}
		}
	}
	return out
}

// A delivery has halves in any order, and twice where the connector was killed.
func TestHalvesOfAChangeOfKeyMeet(t *testing.T) {
	t.Parallel()
	start := table{1: {-1, -2}, 2: {-3, -4}}
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 7))
		said, want := sourceOf(r, start, 25, true)
		got := maps.Clone(start)
		if refused := got.halves(t, parted(r, killed(r, said))); len(refused) > 0 {
			t.Fatalf("seed %d: refused %v", seed, refused)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("seed %d, in one delivery: %s", seed, diff)
		}
		got = maps.Clone(start)
		for len(said) > 0 {
			n := 1 + r.IntN(len(said))
			if refused := got.halves(t, parted(r, said[:n])); len(refused) > 0 {
				t.Fatalf("seed %d: refused %v", seed, refused)
			}
			said = said[n:]
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("seed %d, in several: %s", seed, diff)
		}
	}
}

// Where the source does not tell its changes of key apart, rows are refused rather than wrong: also when the connector was killed.
func TestHalvesThatNothingTellsApartMakeNoWrongRow(t *testing.T) {
	t.Parallel()
	refusals := 0
	start := table{1: {-1, -2}, 2: {-3, -4}}
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 8))
		said, want := sourceOf(r, start, 20, false)
		got := maps.Clone(start)
		if refused := got.halves(t, parted(r, killed(r, said))); len(refused) > 0 {
			refusals++
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("seed %d: %s", seed, diff)
		}
	}
	if refusals > 2000 {
		t.Errorf("%d of 3000 deliveries have rows that are refused", refusals)
	}
}
