package merge_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/iceberg-go"
	"github.com/frazil/frazil/internal/kafka"
	"github.com/frazil/frazil/internal/merge"
	"github.com/frazil/frazil/internal/rows"
	"github.com/google/go-cmp/cmp"
)

// event is a change as a source would make it: it moves key from before (when set) and puts value, or deletes.
type event struct {
	ref         kafka.Ref
	key, before int64
	value       int64
	deletes     bool
}

type world map[int64]int64

// naive applies events one by one: the oracle.
func (w world) naive(events []event) {
	for _, e := range events {
		if e.before != 0 {
			delete(w, e.before)
		}
		if e.deletes {
			delete(w, e.key)
		} else {
			w[e.key] = e.value
		}
	}
}

// batchOf is an empty batch for a table of an id and other columns of numbers; intern makes an id's key, and ids find it again.
func batchOf(t *testing.T, columns ...string) (b *rows.Batch, ids map[rows.Key]int64, intern func(int64) rows.Key) {
	t.Helper()
	fields := []iceberg.NestedField{{ID: 1, Name: "id", Type: iceberg.PrimitiveTypes.Int64, Required: true}}
	for i, name := range columns {
		fields = append(fields, iceberg.NestedField{ID: i + 2, Name: name, Type: iceberg.PrimitiveTypes.Int64})
	}
	schema, err := rows.NewSchema(iceberg.NewSchemaWithIdentifiers(0, []int{1}, fields...), nil)
	if err != nil {
		t.Fatal(err)
	}
	b, ids = rows.NewBatch(schema), map[rows.Key]int64{}
	return b, ids, func(id int64) rows.Key {
		var p rows.Parts
		p.Int(id)
		k := b.Keys.Intern(&p)
		ids[k] = id
		return k
	}
}

// planned applies events as frazil does: a batch, a plan, its effects.
func (w world) planned(t *testing.T, events []event) {
	t.Helper()
	b, ids, intern := batchOf(t, "v")
	for _, e := range events {
		if e.before != 0 {
			b.Delete(intern(e.before))
		}
		if e.deletes {
			b.Delete(intern(e.key))
		} else {
			b.Put(intern(e.key), []rows.Cell{{Int: e.key}, {Int: e.value}})
		}
	}
	p := merge.Make(b)
	values := b.Columns()[1].(*array.Int64)
	for _, e := range p.Effects {
		if e.Deletes() {
			delete(w, ids[e.Key])
		} else {
			w[ids[e.Key]] = values.Value(e.Row)
		}
	}
}

// script makes events over a few keys, each of which stays in its partition unless it is moved within it.
func script(r *rand.Rand, partitions int) [][]event {
	out := make([][]event, partitions)
	for p := range out {
		part := &kafka.Partition{Source: "main", Topic: "t", Number: int32(p)}
		for o := range r.IntN(40) {
			key := func() int64 { return 1 + int64(p) + int64(partitions)*r.Int64N(6) }
			e := event{ref: kafka.Ref{Part: part, Offset: int64(o)}, key: key(), value: r.Int64(), deletes: r.IntN(4) == 0}
			if r.IntN(5) == 0 {
				e.before = key()
			}
			out[p] = append(out[p], e)
		}
	}
	return out
}

// interleave merges the partitions in a random order that keeps the order inside each.
func interleave(r *rand.Rand, parts [][]event) []event {
	rest := slices.Clone(parts)
	var out []event
	for {
		rest = slices.DeleteFunc(rest, func(p []event) bool { return len(p) == 0 })
		if len(rest) == 0 {
			return out
		}
		i := r.IntN(len(rest))
		out = append(out, rest[i][0])
		rest[i] = rest[i][1:]
	}
}

func TestPlanObeysTheAlgebraOfMerge(t *testing.T) {
	t.Parallel()
	for seed := range uint64(600) {
		r := rand.New(rand.NewPCG(seed, 1))
		parts := script(r, 1+r.IntN(3))
		all := interleave(r, parts)
		start := world{1: -1, 2: -2, 7: -7}
		want := maps.Clone(start)
		want.naive(all)

		check := func(law string, got world) {
			t.Helper()
			if diff := cmp.Diff(got, want); diff != "" {
				t.Fatalf("seed %d: %s: %s", seed, law, diff)
			}
		}
		got := maps.Clone(start)
		got.planned(t, all)
		check("one plan equals the changes one by one", got)
		got.planned(t, all)
		check("a plan twice equals once", got)

		got = maps.Clone(start)
		for rest := all; len(rest) > 0; {
			n := 1 + r.IntN(len(rest))
			got.planned(t, rest[:n])
			rest = rest[n:]
		}
		check("cutting the batch anywhere changes nothing", got)

		got = maps.Clone(start)
		got.planned(t, interleave(r, parts))
		check("interleaving partitions otherwise changes nothing", got)

		got = maps.Clone(start)
		next := map[int32]int64{} // redeliver from anywhere at or below what is applied
		for cut := 0; cut < len(all); {
			from := r.IntN(cut + 1)
			to := cut + 1 + r.IntN(len(all)-cut)
			slice := slices.DeleteFunc(slices.Clone(all[from:to]), func(e event) bool { return e.ref.Offset < next[e.ref.Part.Number] })
			got.planned(t, slice)
			for _, e := range slice {
				next[e.ref.Part.Number] = max(next[e.ref.Part.Number], e.ref.Offset+1)
			}
			cut = to
		}
		check("redelivery in other slices changes nothing", got)
	}
}
