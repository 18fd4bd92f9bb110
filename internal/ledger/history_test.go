package ledger_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/frazil/frazil/internal/kafka"
	"github.com/frazil/frazil/internal/ledger"
	"github.com/google/go-cmp/cmp"
)

// branch is a table whose main has a history of deliveries to topic a.
type branch struct {
	*testing.T
	properties map[string]string
	snapshots  []ledger.Snapshot // newest first
	sequence   int64
	wide       bool // the ledger has so many partitions that summaries have ranges of it only
}

func (b *branch) held() *ledger.Ledger {
	b.Helper()
	return b.on(true)
}

func (b *branch) on(complete bool) *ledger.Ledger {
	b.Helper()
	l, err := b.try(complete)
	if err != nil {
		b.Fatal(err)
	}
	return l
}

func (b *branch) try(complete bool) (*ledger.Ledger, error) {
	b.Helper()
	written, err := ledger.Read(b.properties)
	if err != nil {
		b.Fatal(err)
	}
	return written.On(ledger.History{Snapshots: b.snapshots, Complete: complete})
}

// deliver commits records from and below next of a partition; it checks first what a delivery has to be checked for.
func (b *branch) deliver(n int32, from, next int64) error {
	b.Helper()
	l := b.held()
	if err := l.Follows(part("a", n), from, false); err != nil {
		return err
	}
	spans := ledger.Spans{}
	for o := from; o < next; o++ {
		r := &kafka.Record{Part: part("a", n), Offset: o, Time: 1000 + o}
		applied, err := check(l, r)
		if err != nil {
			return err
		}
		if !applied {
			add(spans, r)
		}
	}
	m, err := l.Advance(spans)
	if err != nil {
		return err
	}
	b.carry(m)
	return nil
}

func (b *branch) carry(m ledger.Move) {
	b.sequence++
	properties := m.Properties(100+b.sequence, b.sequence)
	b.properties = maps.Clone(b.properties)
	if b.properties == nil {
		b.properties = map[string]string{}
	}
	maps.Copy(b.properties, properties)
	measured := properties
	if b.wide {
		measured = map[string]string{"x": strings.Repeat("x", 5000)}
	}
	kept := m.Summary(measured)
	b.snapshots = append([]ledger.Snapshot{{ID: 100 + b.sequence, Sequence: b.sequence, Summary: kept}}, b.snapshots...)
}

func (b *branch) rollback(steps int) { b.snapshots = b.snapshots[steps:] }

// foreign is a snapshot of another writer.
func (b *branch) foreign() {
	b.sequence++
	b.snapshots = append([]ledger.Snapshot{{ID: 100 + b.sequence, Sequence: b.sequence}}, b.snapshots...)
}

func (b *branch) want(marks map[int32]ledger.Mark) {
	b.Helper()
	got := map[int32]ledger.Mark{}
	for _, t := range b.held().Topics() {
		got = maps.Clone(t.Marks)
	}
	for n, m := range got { // times are the other tests' affair
		m.Time = 0
		got[n] = m
	}
	if diff := cmp.Diff(marks, got); diff != "" {
		b.Error(diff)
	}
}

func (b *branch) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func TestAfterARollbackTheLedgerOfTheNearestAncestorHolds(t *testing.T) {
	t.Parallel()
	for name, wide := range map[string]bool{"by copies in the summaries": false, "by ranges in the summaries": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := &branch{T: t, wide: wide}
			b.must(b.deliver(0, 0, 10))
			b.must(b.deliver(1, 5, 8))
			b.must(b.deliver(0, 10, 30))
			b.must(b.deliver(1, 8, 9))
			b.foreign()
			b.want(map[int32]ledger.Mark{0: {Next: 30}, 1: {Next: 9}})
			b.rollback(3)
			b.want(map[int32]ledger.Mark{0: {Next: 10, Lost: ledger.Lost{To: 30}}, 1: {Next: 8, Lost: ledger.Lost{To: 9}}})
			b.foreign() // a head with a newer sequence number does not hide it
			b.want(map[int32]ledger.Mark{0: {Next: 10, Lost: ledger.Lost{To: 30}}, 1: {Next: 8, Lost: ledger.Lost{To: 9}}})

			err := b.deliver(0, 30, 31)
			if err == nil || !strings.Contains(err.Error(), "topic a, partition 0, offset 30") ||
				!strings.Contains(err.Error(), "the offsets 10 to 29 of partition 0, 8 to 8 of partition 1 are not in it") {
				t.Errorf("a delivery that goes on where the lost snapshot ended: %v", err)
			}
			if err := b.deliver(0, 12, 20); err == nil {
				t.Error("a delivery that begins inside of what is lost was taken")
			}
			b.must(b.deliver(0, 4, 20))
			b.want(map[int32]ledger.Mark{0: {Next: 20, Lost: ledger.Lost{To: 30, Resumed: true}}, 1: {Next: 8, Lost: ledger.Lost{To: 9}}})
			if err := b.deliver(0, 30, 31); err == nil {
				t.Error("the old reader's next delivery was taken between those of the new one")
			}
			b.must(b.deliver(0, 22, 25)) // a lawful hole, on the way
			b.must(b.deliver(0, 25, 30))
			b.must(b.deliver(1, 8, 9))
			b.must(b.deliver(0, 31, 32)) // it is whole again: holes are lawful
			b.want(map[int32]ledger.Mark{0: {Next: 32}, 1: {Next: 9}})
		})
	}
}

func TestARollbackBeforeTheFirstDeliveryLosesAll(t *testing.T) {
	t.Parallel()
	b := &branch{T: t}
	b.must(b.deliver(0, 0, 10))
	b.rollback(1)
	b.want(map[int32]ledger.Mark{0: {Lost: ledger.Lost{To: 10}}})
	b.carry(b.held().Accept(5000))
	b.want(map[int32]ledger.Mark{0: {Next: 10}})
	if !b.held().Accept(5000).Empty() {
		t.Error("there is more to accept")
	}
	l := b.held()
	if applied, err := check(l, &kafka.Record{Part: part("a", 0), Offset: 9, Time: 4000}); !applied || err != nil {
		t.Errorf("a late redelivery of what was given up: applied %v, %v", applied, err)
	}
}

func TestARollForwardBringsTheLedgerBack(t *testing.T) {
	t.Parallel()
	b := &branch{T: t}
	b.must(b.deliver(0, 0, 10))
	b.must(b.deliver(0, 10, 20))
	before := slices.Clone(b.snapshots)
	b.rollback(1)
	b.foreign()
	b.snapshots = before
	b.want(map[int32]ledger.Mark{0: {Next: 20}})
}

func TestAShortHistoryProvesNoRollbackAndHidesNone(t *testing.T) {
	t.Parallel()
	b := &branch{T: t, wide: true}
	b.must(b.deliver(0, 0, 10))
	b.must(b.deliver(1, 0, 10))
	b.must(b.deliver(0, 10, 20))
	b.foreign()
	expired := *b
	expired.snapshots = b.snapshots[:1]
	if got := expired.on(false).Topics()[0].Marks[0]; got.Next != 20 || got.Lost.To != 0 {
		t.Errorf("expiry down to one foreign snapshot: %+v", got)
	}
	b.rollback(2)
	b.snapshots = b.snapshots[:1]
	if _, err := b.try(false); err == nil || !strings.Contains(err.Error(), "have expired") || !strings.Contains(err.Error(), "ledger set -config FILE TABLE a 0=OFFSET") {
		t.Errorf("a roll-back to where nobody knows how far partition 0 was: %v", err)
	}
}

func TestSetMovesAPartitionAndForgetsTheCluster(t *testing.T) {
	t.Parallel()
	b := &branch{T: t}
	b.must(b.deliver(0, 0, 10))
	b.must(b.deliver(1, 0, 10))
	b.rollback(2)
	m, err := b.held().Set("main", "a", map[int32]int64{0: 3, 2: 7}, 5000)
	b.must(err)
	b.carry(m)
	b.want(map[int32]ledger.Mark{0: {Next: 3, Lost: ledger.Lost{To: 10}}, 1: {Lost: ledger.Lost{To: 10}}, 2: {Next: 7}})
	if err := b.deliver(0, 10, 11); err == nil {
		t.Error("what is still lost was left out")
	}
	m, err = b.held().Set("main", "a", map[int32]int64{1: 10}, 5000)
	b.must(err)
	b.carry(m)
	b.want(map[int32]ledger.Mark{0: {Next: 3, Lost: ledger.Lost{To: 10}}, 1: {Next: 10}, 2: {Next: 7}})
	for _, r := range []*kafka.Record{{Part: part("a", 2), Offset: 6, Time: 4999}, {Part: part("a", 0), Offset: 2, Time: 1}} {
		if applied, err := check(b.held(), r); !applied || err != nil {
			t.Errorf("%s: applied %v, %v", r.Ref(), applied, err)
		}
	}
}

// Two ledgers that a table never forgets: what its main has, and what Kafka has to deliver again. Whatever is rolled back,
// and in whatever pieces deliveries come, no record is in the table twice and none is passed over.
func TestNoRollbackLosesARecord(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 5))
		b := &branch{T: t, wide: seed%2 == 1}
		const length, partitions = 40, 2
		in := [][partitions]int64{{}} // by number of snapshots on main: how many records of each partition are in
		for range 60 {
			n := int32(r.IntN(partitions))
			at := in[len(in)-1]
			from := r.Int64N(length)
			if r.IntN(2) == 0 {
				from = max(at[n]-r.Int64N(5), 0)
			}
			next := min(from+1+r.Int64N(10), length)
			switch {
			case r.IntN(6) == 0 && len(in) > 1:
				steps := 1 + r.IntN(min(len(in)-1, 4))
				b.rollback(steps)
				in = in[:len(in)-steps]
			case r.IntN(8) == 0:
				b.foreign()
				in = append(in, at)
			default:
				owed, _ := b.held().Mark(part("a", n))
				if owed.Lost.To == 0 {
					from = min(from, at[n]) // a reader that goes on leaves nothing out; one after a roll-back may try to
				}
				if owed.Lost.Resumed && from > at[n] {
					continue // holes inside of it are lawful (offsets: sparse)
				}
				next = max(next, from)
				err := b.deliver(n, from, next)
				if (err != nil) != (from > at[n]) {
					t.Fatalf("seed %d: delivery of partition %d from %d to %d on %d (%+v): %v", seed, n, from, next, at[n], owed, err)
				}
				if err == nil {
					at[n] = max(at[n], next)
					in = append(in, at)
				}
			}
			for n, want := range in[len(in)-1] {
				if got, _ := b.held().Mark(part("a", int32(n))); got.Next != want {
					t.Fatalf("seed %d: the ledger of partition %d is at %d, the table at %d", seed, n, got.Next, want)
				}
			}
		}
	}
}

func ExampleLedger_Follows() {
	l, _ := ledger.Read(map[string]string{"frazil.ledger.main.orders": `{"partitions":[0],"next":[10],"time":[0]}`})
	fmt.Println(l.Follows(part("orders", 0), 12, true))
	// Output:
	// topic orders, partition 0, offset 12: offsets 10 to 11 were not delivered, and the route says offsets: dense; have them delivered, or say that there are none (localstack ledger set -config FILE TABLE orders 0=12)
}

func TestALedgerIsBehindWhatOthersChanged(t *testing.T) {
	t.Parallel()
	b := &branch{T: t}
	is := func(topic string, want bool) {
		t.Helper()
		if got := b.held().Behind(part(topic, 0), ledger.History{Snapshots: b.snapshots}.SinceOthers()); got != want {
			t.Errorf("topic %s, %d snapshots: %v, want %v", topic, len(b.snapshots), got, want)
		}
	}
	other := func(replaces bool) {
		b.sequence++
		b.snapshots = slices.Insert(b.snapshots, 0, ledger.Snapshot{ID: 9000 + b.sequence, Sequence: b.sequence, Replaces: replaces})
	}
	is("a", false)
	b.must(b.deliver(0, 0, 10))
	is("a", false)
	is("b", false)
	other(true)
	is("a", false)
	other(false)
	other(true)
	is("a", true)
	is("b", true)
	b.must(b.deliver(0, 10, 11))
	is("a", false)
	is("b", true)
}
