package rows_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/iceberg-go"
	"github.com/frazil/frazil/internal/rows"
)

// A batch has as many numbers as it has different keys, in the order in which they come, whatever their parts.
func TestInternNumbersKeysAsAMapDoes(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	k, want := rows.NewKeys(2), map[[2]string]rows.Key{}
	var p rows.Parts
	set := func(key [2]string) {
		p.Reset()
		p.Bytes([]byte(key[0]))
		p.Bytes([]byte(key[1]))
	}
	for range 40_000 {
		text := fmt.Sprint(random.IntN(20_000))
		at := random.IntN(len(text) + 1)
		key := [2]string{text[:at], text[at:]}
		set(key)
		id, known := want[key]
		if !known {
			id = rows.Key(len(want))
			want[key] = id
		}
		if got := k.Intern(&p); got != id || k.Len() != len(want) {
			t.Fatalf("%q: got number %d of %d, want %d of %d", key, got, k.Len(), id, len(want))
		}
	}
	for key, id := range want {
		set(key)
		if found := k.Intern(&p); found != id || k.Len() != len(want) || string(k.Part(id, 0)) != key[0] || string(k.Part(id, 1)) != key[1] {
			t.Fatalf("%q: number %d is found as %d, or with other parts", key, id, found)
		}
	}
}

// Among so many keys some dozens have the hash of another one.
func TestKeysOfOneHashAreToldApart(t *testing.T) {
	t.Parallel()
	k := rows.NewKeys(1)
	var p rows.Parts
	for i := range int64(600_000) {
		p.Reset()
		p.Int(i)
		if id := k.Intern(&p); int64(id) != i {
			t.Fatalf("key %d is number %d", i, id)
		}
	}
}

// BenchmarkIntern numbers the keys of a batch, of which each comes once.
func BenchmarkIntern(b *testing.B) {
	const keys = 100_000
	s, err := rows.NewSchema(iceberg.NewSchemaWithIdentifiers(0, []int{1}, required(1, "id", prim.Int64)), nil)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	var p rows.Parts
	for b.Loop() {
		batch := rows.NewBatch(s)
		batch.Reserve(keys)
		k := batch.Keys
		for i := range int64(keys) {
			p.Reset()
			p.Int(i * 7919)
			k.Intern(&p)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/keys, "ns/key")
}
