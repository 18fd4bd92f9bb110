package ingest_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"testing"

	"github.com/frazil/frazil/internal/ingest"
	"github.com/frazil/frazil/internal/kafka"
	"github.com/frazil/frazil/internal/local/catalog"
	"github.com/frazil/frazil/internal/local/lake"
	"github.com/frazil/frazil/internal/local/stack"
	"github.com/frazil/frazil/internal/local/trial"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
)

// history is what a source did, as Debezium events of some partitions, each key in one of them.
type history struct {
	parts  []*kafka.Partition
	events [][]event
}

// event moves a row from before (when set) to id and gives it a value, or deletes it.
type event struct {
	id, before, n int64
	deletes       bool
	record        kafka.Record
}

func makeHistory(r *rand.Rand, partitions, length int) *history {
	h := &history{}
	for p := range partitions {
		part := partition(int32(p))
		key := func() int64 { return int64(p) + int64(partitions)*r.Int64N(12) - 20 }
		var list []event
		for offset := range int64(length) {
			e := event{id: key(), n: r.Int64N(1000)}
			e.deletes = r.IntN(3) == 0
			if !e.deletes && r.IntN(6) == 0 {
				e.before = key()
			}
			e.record = e.kafka(r, part, offset)
			if r.IntN(6) == 0 { // a half of a change of key, whose other half is in any partition, and in any delivery
				name := map[bool]string{true: "__debezium.newkey", false: "__debezium.oldkey"}[e.deletes]
				e.record.Headers = []kafka.Header{{Key: name, Value: fmt.Appendf(nil, `{"id":%d}`, r.Int64N(int64(partitions)*12)-20)}}
			}
			list = append(list, e)
		}
		h.parts, h.events = append(h.parts, part), append(h.events, list)
	}
	return h
}

func (e event) kafka(r *rand.Rand, part *kafka.Partition, offset int64) kafka.Record {
	rec := kafka.Record{Part: part, Offset: offset, Time: 1_700_000_000_000 + offset, Key: fmt.Appendf(nil, `{"id":%d}`, e.id)}
	row := fmt.Sprintf(`{"id":%d,"n":%d}`, e.id, e.n)
	switch {
	case e.deletes && r.IntN(2) == 0: // a tombstone alone
	case e.deletes:
		rec.Value = fmt.Appendf(nil, `{"before":{"id":%d,"n":null},"after":null,"op":"d"}`, e.id)
	case e.before != 0:
		rec.Value = fmt.Appendf(nil, `{"before":{"id":%d,"n":0},"after":%s,"op":"u"}`, e.before, row)
	default:
		rec.Value = fmt.Appendf(nil, `{"before":null,"after":%s,"op":"%s"}`, row, []string{"c", "u", "r"}[r.IntN(3)])
	}
	return rec
}

// oracle is the table as a plain map.
type oracle map[int64]int64

func (o oracle) apply(e event) {
	if e.before != 0 {
		delete(o, e.before)
	}
	if e.deletes {
		delete(o, e.id)
	} else {
		o[e.id] = e.n
	}
}

// journey delivers a history in slices to some processes, with repetitions, faults and another writer.
type journey struct {
	*world
	*history
	r         *rand.Rand
	deletes   []string // of each process: how it takes rows away
	pipelines []*ingest.Pipeline
	want      oracle
	delivered []int64 // by partition: every record below has been in a delivery that succeeded
}

// slice is a delivery: of each partition some records, from at or below what is delivered on. end tells how far it goes.
func (j *journey) slice() (records []kafka.Record, end []int64) {
	for p, events := range j.events {
		from, to := j.delivered[p], j.delivered[p]
		if j.r.IntN(4) > 0 {
			from -= j.r.Int64N(min(from, 4) + 1)
			to = min(from+j.r.Int64N(8), int64(len(events)))
		}
		for o := from; o < to; o++ {
			records = append(records, events[o].record)
		}
		end = append(end, max(to, j.delivered[p]))
	}
	return records, end
}

// settle brings the oracle up to a delivery: the records that the ledger did not have before it.
func (j *journey) settle(ledger map[int32]int64, records []kafka.Record, end []int64) {
	for _, rec := range records {
		if p := rec.Part.Number; rec.Offset >= ledger[p] {
			j.want.apply(j.events[p][rec.Offset])
			ledger[p] = rec.Offset + 1
		}
	}
	for p := range end {
		j.delivered[p] = max(j.delivered[p], end[p])
	}
}

func (j *journey) step() error {
	switch j.r.IntN(12) {
	case 0:
		return j.foreign()
	case 1:
		i := j.r.IntN(len(j.pipelines))
		j.pipelines[i] = j.taking(j.deletes[i]) // a process ends and another begins
		return nil
	case 2:
		return j.twice()
	}
	switch j.r.IntN(10) {
	case 0:
		j.once(catalog.Refuse(http.StatusConflict))
	case 1:
		j.once(catalog.ApplyThenStatus(http.StatusGatewayTimeout))
	case 2:
		j.once(catalog.ApplyThenDrop())
	case 3:
		j.once(catalog.Refuse(http.StatusBadGateway))
	}
	ledger := j.next()
	records, end := j.slice()
	if err := j.pipelines[j.r.IntN(len(j.pipelines))].Deliver(j.Context(), records); err != nil {
		return err
	}
	j.settle(ledger, records, end)
	return nil
}

// twice delivers one slice to two processes at the same time.
func (j *journey) twice() error {
	ledger := j.next()
	records, end := j.slice()
	var g errgroup.Group
	for _, p := range []*ingest.Pipeline{j.pipelines[0], j.pipelines[1]} {
		g.Go(func() error { return p.Deliver(j.Context(), records) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	j.settle(ledger, records, end)
	return nil
}

// foreign has another writer insert a row of one of our keys that the table lacks.
func (j *journey) foreign() error {
	e := j.events[0][j.r.IntN(len(j.events[0]))]
	if _, there := j.want[e.id]; there {
		return nil
	}
	j.want[e.id] = 5000
	j.catalog.SetFault(nil) // it was for us
	return j.lake.Append(j.Context(), j.name, []lake.Row{{"id": strconv.FormatInt(e.id, 10), "n": "5000"}})
}

func (j *journey) check() error {
	_, rows, err := j.lake.Rows(j.Context(), j.name)
	if err != nil {
		return err
	}
	got := oracle{}
	for _, row := range rows {
		id, errID := strconv.ParseInt(row["id"], 10, 64)
		n, errN := strconv.ParseInt(row["n"], 10, 64)
		if err := errors.Join(errID, errN); err != nil {
			return err
		}
		if _, twice := got[id]; twice {
			return fmt.Errorf("id %d is there twice", id)
		}
		got[id] = n
	}
	if diff := cmp.Diff(j.want, got); diff != "" {
		return errors.New(diff)
	}
	return nil
}

// memories are what the processes have in turn: enough, none, and too little for all that they read.
var memories = []int64{1 << 30, 1, 3000}

// taking is a process that takes rows away in an encoding of its own.
func (w *world) taking(deletes string) *ingest.Pipeline {
	w.Helper()
	c := *w.config
	c.Routes = slices.Clone(c.Routes)
	c.Routes[0].Deletes = deletes
	c.Memory.Bytes = memories[w.processes%len(memories)]
	w.processes++
	other := *w
	other.config = &c
	return other.pipeline()
}

// TestTheTableEqualsThePlainMapOfItsHistory is the promise as a whole (P1, P4, P5): whatever the slices, repetitions,
// faults, processes and other writers, read back by another implementation.
func TestTheTableEqualsThePlainMapOfItsHistory(t *testing.T) {
	t.Parallel()
	for seed := range uint64(12) {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 2))
			partitions := 1 + r.IntN(3)
			profile := stack.Profiles[(seed+1)%4]
			spec, deletes := shopOrders, slices.Repeat([]string{"position", "rewrite", "equality"}[seed%3:][:1], 2)
			spec.Version, spec.Properties = min(2+int(seed/2%2), profile.Newest), trial.Cares[seed%4]
			switch seed / 3 {
			case 1:
				spec.Partition = []string{"bucket(3, id)", "truncate(100, n)"}
			case 2: // processes that do not agree, and files of many rows, some of them dead in each way
				deletes = []string{"rewrite", "equality", "position"}
			case 3:
				deletes, spec.Sort = []string{"auto", "position"}, []string{"n desc nulls last"}
			}
			w := newWorld(t, spec, "topics: [orders], format: debezium", lake.Row{"id": "1000", "n": "1"})
			w.parts.Play(profile)
			j := &journey{
				world: w, history: makeHistory(r, partitions, 100), r: r, want: oracle{1000: 1},
				deletes: deletes, delivered: make([]int64, partitions),
			}
			for _, d := range deletes {
				j.pipelines = append(j.pipelines, w.taking(d))
			}
			for i := range 24 {
				if err := j.step(); err != nil {
					t.Fatalf("seed %d, step %d: %v", seed, i, err)
				}
				if i%6 == 0 {
					if err := j.check(); err != nil {
						t.Fatalf("seed %d, step %d: %v", seed, i, err)
					}
				}
			}
			if err := j.check(); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if n := w.load().Metadata().LastSequenceNumber(); n < 6 {
				t.Errorf("seed %d made %d snapshots only: the test has lost its bite", seed, n)
			}
		})
	}
}
