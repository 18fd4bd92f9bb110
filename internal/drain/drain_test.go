package drain_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/drain"
	"github.com/frazil/frazil/internal/ingest"
	"github.com/frazil/frazil/internal/kafka"
	"github.com/frazil/frazil/internal/ledger"
	"github.com/frazil/frazil/internal/local/catalog"
	"github.com/frazil/frazil/internal/local/lake"
	"github.com/frazil/frazil/internal/schedule"
	"github.com/twmb/franz-go/pkg/kgo"
)

func TestRunsGoOnWhereTheLedgerStands(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "shop.orders", "shop.returns")
	w.topic("orders", 3)
	w.topic("more", 1)
	w.topic("returns", 1)
	c := w.config(`routes: [{topics: [orders, more], format: flat, table: "main:shop.orders"}, {topics: [returns], format: flat, table: "main:shop.returns"}]`)
	w.run(w.drain(c)) // nothing is there
	w.put("orders", 0, 1, 2)
	w.put("orders", 2, 3)
	w.put("more", 0, 4)
	w.put("returns", 0, 5)
	first := w.drain(c)
	w.run(first)
	w.wantIDs("shop.orders", "1", "2", "3", "4")
	w.wantIDs("shop.returns", "5")
	w.put("orders", 1, 6)
	w.put("orders", 0, 7)
	w.run(w.drain(c)) // another process
	w.run(first)
	w.run(w.drain(c))
	w.wantIDs("shop.orders", "1", "2", "3", "4", "6", "7")
	if got := w.snapshots("shop.orders"); got != 2 {
		t.Errorf("%d snapshots, want one for each run that had records", got)
	}
}

func TestTopicsOfPatternsAreLookedUpInEachRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "shop.orders")
	w.topic("eu.a", 1)
	w.topic("us", 1)
	w.topic("eu.letters", 1)
	w.put("us", 0, 1)
	w.put("eu.a", 0, 2)
	w.put("eu.letters", 0, 3)
	d := w.drain(w.config("dead_letter: kafka://eu.letters\n" + `routes: [{topics: ["/eu\\..*/", eu.a], format: flat, table: "main:shop.orders"}]`))
	w.run(d)
	w.wantIDs("shop.orders", "2")
	w.topic("eu.b", 1)
	w.put("eu.b", 0, 4)
	w.run(d)
	w.wantIDs("shop.orders", "2", "4")
}

func TestAPatternThatNoTopicMatchesIsNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "shop.orders")
	w.topic("eu.a", 1)
	w.put("eu.a", 0, 1)
	var log bytes.Buffer
	w.log = slog.New(slog.NewTextHandler(&log, nil))
	w.run(w.drain(w.config(`routes: [{topics: ["/eu\\..*/", "/ue\\..*/"], format: flat, table: "main:shop.orders"}]`)))
	w.wantIDs("shop.orders", "1")
	if got := log.String(); strings.Count(got, "no topic matches") != 1 || !strings.Contains(got, "/ue") {
		t.Errorf("the log is %s; want the one pattern that matches nothing", got)
	}
}

// The ledger of the ancestor holds; what is lost is read again, although the first of its offsets holds no record.
func TestWhatARollBackTookIsReadAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "shop.orders")
	w.topic("orders", 1)
	d := w.drain(w.config(oneRoute))
	w.put("orders", 0, 1)
	w.run(d)
	producer := w.producer(kgo.TransactionalID("t"))
	w.must(producer.BeginTransaction())
	w.produce(producer, "orders", 0, `{"id":9,"n":0}`)
	w.must(producer.EndTransaction(t.Context(), kgo.TryAbort))
	w.put("orders", 0, 2)
	w.run(d)
	w.must(producer.BeginTransaction())
	w.produce(producer, "orders", 0, `{"id":3,"n":3}`)
	w.must(producer.EndTransaction(t.Context(), kgo.TryCommit))
	w.run(d)
	w.must(w.lake.Rollback(t.Context(), "shop.orders", 2))
	w.wantIDs("shop.orders", "1")
	w.run(d)
	w.wantIDs("shop.orders", "1", "2", "3")
	if got := w.next("shop.orders", "orders", 0); got != 6 {
		t.Errorf("the ledger expects %d, want 6, behind the marker", got)
	}
}

// The owner who says so has records applied once more, or passed over.
func TestTheOwnersWordHolds(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "shop.orders")
	w.topic("orders", 1)
	w.put("orders", 0, 1, 2, 3)
	c := w.config(oneRoute)
	p, err := ingest.New(c, w.log)
	w.must(err)
	w.must(p.MoveLedger(t.Context(), c.Routes[0].Table, func(l *ledger.Ledger, now time.Time) (ledger.Move, error) {
		return l.Set(kafka.MainSource, "orders", map[int32]int64{0: 2}, now.UnixMilli())
	}))
	w.run(w.drain(c))
	w.wantIDs("shop.orders", "3")
}

func TestATableThatFailsStopsNoOther(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		spoil func(*world)
		want  string
	}{
		"a bad record":          {func(w *world) { w.produce(w.kafka, "orders", 0, "{}") }, "topic orders, partition 0, offset 2"},
		"records that are gone": {func(w *world) { w.put("orders", 0, 3, 4); w.drop("orders", 3) }, "topic orders, partition 0: the offsets 2 to 2 were not applied"},
		"a topic that is gone":  {func(w *world) { _, err := w.admin.DeleteTopics(w.Context(), "orders"); w.must(err) }, "list offsets of source main: topic orders: "},
		"a topic that is made anew": {func(w *world) {
			_, err := w.admin.DeleteTopics(w.Context(), "orders")
			w.must(err)
			w.topic("orders", 1)
			w.produce(w.producer(), "orders", 0, `{"id":3}`) // the other one knows the old topic
		}, "offset 2 is expected next, but Kafka has only those below 1"},
		"a topic that is made anew, and holds more": {func(w *world) { w.anew("orders", 3) }, "topic orders, partition 0, offset 1: the table's ledger expects offset 2 next"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "shop.orders", "shop.returns")
			w.topic("orders", 1)
			w.topic("returns", 1)
			d := w.drain(w.config(`routes: [{topics: [orders], format: flat, table: "main:shop.orders"}, {topics: [returns], format: flat, table: "main:shop.returns"}]`))
			w.put("orders", 0, 1, 2)
			w.run(d)
			test.spoil(w)
			w.put("returns", 0, 5)
			err := d.Run(t.Context(), nil)
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "main:shop.orders") {
				t.Errorf("got %v, want %s", err, test.want)
			}
			w.wantIDs("shop.orders", "1", "2")
			w.wantIDs("shop.returns", "5")
		})
	}
}

// The ledger does not move for what has no effect. It is not read again for that, unless the table has become another one.
func TestWhatHadNoEffectIsReadOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "shop.orders")
	var said bytes.Buffer
	w.log = slog.New(slog.NewTextHandler(&said, nil))
	w.topic("orders", 2)
	d := w.drain(w.config(oneRoute))
	run := func(want string) {
		t.Helper()
		said.Reset()
		w.run(d)
		if !strings.Contains(said.String(), "msg=drained table=main:shop.orders source=main records="+want+"\n") {
			t.Errorf("got %s, want %s records", &said, want)
		}
	}
	w.put("orders", 0, 1)
	run("1")
	w.put("orders", 0, 1)
	run("1")
	run("0")
	w.put("orders", 0, 2)
	run("1")
	w.put("orders", 0, 2)
	run("1")
	w.must(w.lake.Append(t.Context(), "shop.orders", []lake.Row{{"id": "3", "n": "3"}}))
	run("1")
	run("0")
	w.must(w.lake.Rollback(t.Context(), "shop.orders", 3)) // what moved the ledger behind what the other one appended, that, and 2
	run("3")
	w.wantIDs("shop.orders", "1", "2")
}

// Also when a run has come further than the ledger.
func TestATopicMadeAnewBehindWhatHadNoEffectIsAnError(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "shop.orders")
	w.topic("orders", 1)
	d := w.drain(w.config(oneRoute))
	w.put("orders", 0, 1)
	w.run(d)
	w.put("orders", 0, 1, 1)
	w.run(d)
	w.anew("orders", 4)
	if err := d.Run(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "topic orders, partition 0, offset 2") {
		t.Errorf("got %v", err)
	}
	w.wantIDs("shop.orders", "1")
}

// A partition that the ledger does not know begins with what there is.
func TestAnUnknownPartitionBeginsAtItsStart(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "shop.orders")
	w.topic("orders", 1)
	w.put("orders", 0, 1, 2, 3)
	w.drop("orders", 1)
	w.run(w.drain(w.config(oneRoute)))
	w.wantIDs("shop.orders", "2", "3")
}

// No commit begins that could not be answered in time, and that is no failure.
func TestARunWithoutTimeLeavesTheRecords(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "shop.orders")
	w.topic("orders", 1)
	w.put("orders", 0, 1)
	d := w.drain(w.config(oneRoute))
	ctx, cancel := context.WithTimeout(t.Context(), 9*time.Second)
	defer cancel()
	w.must(d.Run(ctx, nil))
	w.wantIDs("shop.orders")
	w.run(d)
	w.wantIDs("shop.orders", "1")
}

func TestReadingEndsBeforeTheRunHasTo(t *testing.T) {
	t.Parallel()
	for run, want := range map[time.Duration]time.Duration{15 * time.Minute: 14*time.Minute + 15*time.Second, 60 * time.Second: 30 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), run)
			defer cancel()
			reading, end := drain.WhileThereIsTime(ctx, nil)
			defer end()
			<-reading.Done()
			if got := time.Since(began); got != want {
				t.Errorf("of %v it read for %v, want %v", run, got, want)
			}
		})
	}
}

// What is begun is ended: nothing is half done, and the rest is for the next run.
func TestARunThatIsToldToStopCommitsWhatItHasBegun(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "shop.orders")
	w.topic("orders", 1)
	for id := range 50 {
		w.put("orders", 0, id)
	}
	d := inSmallBatches(w.drain(w.config(oneRoute)))
	stop := make(chan struct{})
	w.parts.Catalog.SetFault(catalog.Once(catalog.OpCommitTable, func() catalog.Fault {
		close(stop)
		return catalog.Fault{}
	}))
	w.must(d.Run(t.Context(), stop))
	applied := w.next("shop.orders", "orders", 0)
	_, rows, err := w.lake.Rows(t.Context(), "shop.orders")
	if err != nil || applied < 1 || applied == 50 || int64(len(rows)) != applied {
		t.Errorf("%d rows, the ledger expects %d, %v", len(rows), applied, err)
	}
	w.must(d.Run(t.Context(), nil))
	if got := w.next("shop.orders", "orders", 0); got != 50 {
		t.Errorf("the ledger expects %d in the end", got)
	}
}

func TestFollowingTakesWhatComes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "shop.orders")
	w.topic("orders", 1)
	c := w.config("drain: {commit_interval: 1s}\n" + oneRoute)
	stop, done, landed := make(chan struct{}), make(chan struct{}), make(chan struct{}, 100)
	w.parts.Catalog.SetFault(func(op catalog.Op, _ *http.Request) catalog.Fault {
		if op == catalog.OpCommitTable {
			landed <- struct{}{}
		}
		return catalog.Fault{}
	})
	d := w.drain(c)
	go func() {
		defer close(done)
		schedule.Follow(t.Context(), d, stop)
	}()
	w.put("orders", 0, 1)
	<-landed
	w.put("orders", 0, 2)
	<-landed
	close(stop)
	<-done
	w.wantIDs("shop.orders", "1", "2")
}

func TestSourcesWithoutBrokersAreRefused(t *testing.T) {
	t.Parallel()
	c := &config.Config{
		Sources: map[string]config.Source{"eu": {ARN: "arn:aws:kafka:eu"}},
		Routes:  []config.Route{{Topics: []string{"a"}, Source: "main"}, {Topics: []string{"b"}, Source: "eu"}},
	}
	_, err := drain.New(t.Context(), c, newWorld(t).log)
	if err == nil || !strings.Contains(err.Error(), "sources.main has to say the brokers") || !strings.Contains(err.Error(), "sources.eu has to say the brokers") {
		t.Errorf("got %v", err)
	}
}
