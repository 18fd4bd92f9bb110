package drain_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/iceberg-go/table"
	"github.com/frazil/frazil/internal/consume"
	"github.com/frazil/frazil/internal/drain"
	"github.com/frazil/frazil/internal/local/audit"
	"github.com/frazil/frazil/internal/local/catalog"
	"github.com/frazil/frazil/internal/local/fault"
	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"
	"golang.org/x/sync/errgroup"
)

// process is a drain at the end of a line on which faults wait for it.
type process struct {
	*fault.Life
	*drain.Drain
}

func (w *world) process(document string, limit func(*consume.Limits)) *process {
	w.Helper()
	life, err := fault.Begin(w.parts)
	w.must(err)
	w.Cleanup(life.Cut)
	p := &process{life, w.drain(life.Config(w.config(document)))}
	p.Limit(limit)
	return p
}

// run is one run, which faults may end; killed tells that there will be no other. Whatever it says, the table tells.
func (p *process) run(ctx context.Context, faults ...fault.Fault) (killed bool) {
	_ = p.Work(ctx, func(ctx context.Context) error { return p.Run(ctx, nil) }, faults...)
	p.Meet(func() {}) // what the run did not meet
	return p.Dead()
}

// life is that of two topics that feed one table, each key in one partition.
type life struct {
	*world
	r        *rand.Rand
	document string
	limit    func(*consume.Limits)
	want     map[int64]int64
	bad      map[string]bool // records that cannot be applied, by topic, partition and offset
	process  *process
	waited   atomic.Int64 // a time.Duration: leases end by it

	rolledBack bool
}

// start begins a process.
func (l *life) start() *process {
	p := l.world.process(l.document, l.limit)
	p.At(func() time.Time { return time.Now().Add(time.Duration(l.waited.Load())) })
	return p
}

// wait lets time pass, for leases.
func (l *life) wait(d time.Duration) { l.waited.Add(int64(d)) }

const partitions = 3 // of two topics

// change produces an event to its partition, and the oracle learns of it if it counts.
func (l *life) change(client *kgo.Client, counts bool) {
	place := l.r.Int64N(2 * partitions)
	id, n := place+2*partitions*l.r.Int64N(8), l.r.Int64N(1000)
	r := &kgo.Record{Topic: []string{"orders", "more"}[place/partitions], Partition: int32(place % partitions)}
	kind := l.r.IntN(12)
	switch {
	case kind == 0:
		r.Value = fmt.Appendf(nil, `{"op":"u","after":{"id":%d,"n":"many"}}`, id)
	case kind < 4:
		r.Value = fmt.Appendf(nil, `{"op":"d","before":{"id":%d},"after":null}`, id)
	default:
		r.Value = fmt.Appendf(nil, `{"op":"u","after":{"id":%d,"n":%d}}`, id, n)
	}
	l.must(client.ProduceSync(l.Context(), r).FirstErr())
	switch {
	case !counts:
	case kind == 0:
		l.bad[fmt.Sprintf("%s-%d@%d", r.Topic, r.Partition, r.Offset)] = true
	case kind < 4:
		delete(l.want, id)
	default:
		l.want[id] = n
	}
}

// begin has both topics known to the table, so that bad records of theirs may become dead letters, and begins a process.
func (l *life) begin() {
	l.topic("letters", 1)
	for i, topic := range []string{"orders", "more"} {
		l.topic(topic, partitions)
		l.want[int64(i*partitions)] = 1
		l.produce(l.kafka, topic, 0, fmt.Sprintf(`{"op":"u","after":{"id":%d,"n":1}}`, i*partitions))
	}
	l.process = l.start()
	l.must(l.process.Run(l.Context(), nil))
}

// letters are the records that are among the dead letters.
func (l *life) letters() (map[string]bool, error) {
	out := map[string]bool{}
	ends, err := l.admin.ListEndOffsets(l.Context(), "letters")
	if err != nil {
		return nil, err
	}
	end, _ := ends.Lookup("letters", 0)
	reader, err := kgo.NewClient(kgo.SeedBrokers(l.parts.Kafka), kgo.ConsumeTopics("letters"))
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	for next := int64(0); next < end.Offset; {
		got := reader.PollFetches(l.Context())
		if err := got.Err(); err != nil {
			return nil, err
		}
		got.EachRecord(func(r *kgo.Record) {
			headers := map[string]string{}
			for _, h := range r.Headers {
				headers[h.Key] = string(h.Value)
			}
			out[fmt.Sprintf("%s-%s@%s", headers["frazil.topic"], headers["frazil.partition"], headers["frazil.offset"])] = true
			next = r.Offset + 1
		})
	}
	return out, nil
}

// produceSome produces plainly, or in a transaction that may be aborted.
func (l *life) produceSome() {
	n := 1 + l.r.IntN(12)
	if l.r.IntN(3) > 0 {
		for range n {
			l.change(l.kafka, true)
		}
		return
	}
	commit := l.r.IntN(2) == 0
	client := l.producer(kgo.TransactionalID("t"))
	defer client.Close()
	l.must(client.BeginTransaction())
	for range n {
		l.change(client, commit)
	}
	l.must(client.EndTransaction(l.Context(), kgo.TransactionEndTry(commit)))
}

// faults are those of the next run. What hangs ends by the run's context.
func (l *life) faults() (all []fault.Fault) {
	kinds := []fault.Kind{fault.Refused, fault.Unavailable, fault.Then504, fault.ThenReset, fault.Kill, fault.ThenKill, fault.Late}
	for range l.r.IntN(3) {
		f := fault.Fault{At: []fault.Point{fault.Data, fault.Manifest, fault.Commit, fault.Commit, fault.Reload}[l.r.IntN(5)], Kind: kinds[l.r.IntN(len(kinds))]}
		if f.Check() == nil {
			all = append(all, f)
		}
	}
	return all
}

func (l *life) step() {
	l.wait(time.Duration(l.r.IntN(3)) * time.Minute)
	switch l.r.IntN(9) {
	case 0: // another process takes over
		l.process = l.start()
	case 1: // two at once
		l.must(l.both())
	case 2:
		l.must(l.rollBack())
	case 3: // the same, while a batch is on its way and the next ones wait
		l.produceSome()
		run := []func() error{func() error { return l.process.Run(l.Context(), nil) }, l.both}[l.r.IntN(2)]
		var commits atomic.Int32
		at := 1 + l.r.Int32N(4)
		l.parts.Catalog.SetFault(func(op catalog.Op, _ *http.Request) catalog.Fault {
			if op == catalog.OpCommitTable && commits.Add(1) == at {
				_ = l.rollBack() // it may lose against the other process
			}
			return catalog.Fault{}
		})
		_ = run() // what was lost the next run reads again
		l.parts.Catalog.SetFault(nil)
	default:
		l.produceSome()
		if l.process.run(l.Context(), l.faults()...) {
			l.process = l.start()
		}
	}
}

// both has another process run beside the one there is.
func (l *life) both() error {
	other := l.start()
	var g errgroup.Group
	for _, p := range []*process{l.process, other} {
		g.Go(func() error { return p.Run(l.Context(), nil) })
	}
	return g.Wait()
}

// rollBack takes main back by a snapshot or two, if there are as many before it.
func (l *life) rollBack() error {
	t, err := l.lake.Load(l.Context(), "shop.orders")
	if err != nil || t.CurrentSnapshot() == nil {
		return err
	}
	steps := 1 + l.r.IntN(2)
	if len(table.AncestorsOf(t.CurrentSnapshot().SnapshotID, t.Metadata().SnapshotByID)) <= steps {
		return nil
	}
	l.rolledBack = true
	return l.lake.Rollback(l.Context(), "shop.orders", steps)
}

// check compares the table with the oracle, after a run without faults of the process that there is or of another one.
func (l *life) check() error {
	l.wait(4 * time.Minute) // the holder may have been killed
	p := l.process
	if l.r.IntN(2) == 0 {
		p = l.start()
	}
	if err := p.Run(l.Context(), nil); err != nil {
		return err
	}
	_, rows, err := l.lake.Rows(l.Context(), "shop.orders")
	got := map[int64]int64{}
	for _, r := range rows {
		id, _ := strconv.ParseInt(r["id"], 10, 64)
		if _, twice := got[id]; twice {
			err = errors.Join(err, fmt.Errorf("id %d is there twice", id))
		}
		got[id], _ = strconv.ParseInt(r["n"], 10, 64)
	}
	if diff := cmp.Diff(l.want, got); diff != "" {
		err = errors.Join(err, errors.New(diff))
	}
	letters, failed := l.letters()
	if diff := cmp.Diff(l.bad, letters); failed == nil && diff != "" {
		failed = fmt.Errorf("dead letters: %s", diff)
	}
	err = errors.Join(err, failed)
	report, failed := audit.New(l.lake, l.parts.Objects, "shop.orders").Audit(l.Context())
	if failed == nil && len(report.Faults) > 0 && !l.rolledBack { // one with snapshots beside main, to the auditor
		failed = fmt.Errorf("%v", report.Faults)
	}
	return errors.Join(err, failed)
}

// TestTheTableEqualsThePlainMapOfItsTopics is the promise as a whole (P1): whatever the batches, faults, kills, transactions,
// runs at the same time and roll-backs; and what cannot be applied is among the dead letters, and nothing else.
func TestTheTableEqualsThePlainMapOfItsTopics(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "shop.orders")
			l := &life{
				world: w, r: rand.New(rand.NewPCG(seed, 7)), want: map[int64]int64{}, bad: map[string]bool{},
				document: fmt.Sprintf("dead_letter: kafka://letters\n"+
					`routes: [{topics: [orders, "/mo.*/"], format: debezium, table: "main:shop.orders", deletes: %s, offsets: %s}]`,
					[]string{"position", "rewrite", "equality"}[seed%3], []string{"sparse", "dense"}[seed/3%2]),
				limit: func(l *consume.Limits) { l.Records = []int{2, 5, 1000}[seed%3] },
			}
			l.begin()
			for i := range 30 {
				l.step()
				if i%10 == 9 {
					if err := l.check(); err != nil {
						t.Fatalf("seed %d, step %d: %v", seed, i, err)
					}
				}
			}
		})
	}
}
