package ingest_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/ingest"
	"github.com/frazil/frazil/internal/kafka"
	"github.com/frazil/frazil/internal/ledger"
	"github.com/frazil/frazil/internal/local/catalog"
	"github.com/frazil/frazil/internal/local/lake"
	"github.com/google/go-cmp/cmp"
)

// logged is a process whose log can be read.
func (w *world) logged() (*ingest.Pipeline, func(message string) []map[string]any) {
	w.Helper()
	var out bytes.Buffer
	p, err := ingest.New(w.config, slog.New(slog.NewJSONHandler(&out, nil)))
	w.must(err)
	return p, func(message string) (lines []map[string]any) {
		w.Helper()
		for s := bufio.NewScanner(bytes.NewReader(out.Bytes())); s.Scan(); {
			var line map[string]any
			w.must(json.Unmarshal(s.Bytes(), &line))
			if line["msg"] == message {
				lines = append(lines, line)
			}
		}
		return lines
	}
}

func TestACommitIsOneLogLineThatCloudWatchTakesItsMetricsFrom(t *testing.T) {
	t.Parallel()
	w := newWorld(t, shopOrders, "topics: [orders], format: debezium", lake.Row{"id": "1", "n": "1"}, lake.Row{"id": "2", "n": "2"})
	p, lines := w.logged()
	w.once(catalog.Refuse(http.StatusConflict))
	part, made := partition(0), time.Now().Add(-time.Hour).UnixMilli()
	change := func(offset int64, value string) kafka.Record {
		return kafka.Record{Part: part, Offset: offset, Time: made + 60_000, Value: []byte(strings.ReplaceAll(value, "MADE", jsonInt(made)))}
	}
	w.must(deliver(t.Context(), p,
		change(0, `{"op":"u","after":{"id":1,"n":10},"source":{"ts_ms":MADE}}`),
		change(1, `{"op":"d","before":{"id":2},"after":null,"source":{"ts_ms":1}}`),
		change(2, `{"op":"d","before":{"id":7},"after":null,"source":{"ts_ms":2}}`)))
	got := lines("committed")
	if len(got) != 1 {
		t.Fatalf("%d lines, want one", len(got))
	}
	line := got[0]
	for name, want := range map[string]float64{
		"records": 3, "inserted": 0, "updated": 1, "deleted": 1, "unknown_deletes": 1, "dead_letters": 0, "conflicts": 1, "unknown_outcomes": 0,
	} {
		if line[name] != want {
			t.Errorf("%s is %v, want %v", name, line[name], want)
		}
	}
	hour, lag := float64(time.Hour/time.Millisecond), float64(time.Hour/time.Millisecond)-60_000
	if ms := line["lag_ms"].(float64); ms < lag || ms >= hour {
		t.Errorf("lag_ms is %v, want somewhat more than %v", ms, lag)
	}
	if ms := line["freshness_ms"].(float64); ms < hour || ms >= hour+60_000 {
		t.Errorf("freshness_ms is %v, want somewhat more than %v", ms, hour)
	}
	if line["table"] != "main:shop.orders" || line["commit_ms"] == nil {
		t.Errorf("the line is %v", line)
	}
	wantMetrics(t, line)
}

func jsonInt(n int64) string {
	text, _ := json.Marshal(n)
	return string(text)
}

// wantMetrics checks a line against the embedded metric format: what it declares has to be there.
func wantMetrics(t *testing.T, line map[string]any) {
	t.Helper()
	text, err := json.Marshal(line["_aws"])
	if err != nil {
		t.Fatal(err)
	}
	var aws struct {
		Timestamp         int64
		CloudWatchMetrics []struct {
			Namespace  string
			Dimensions [][]string
			Metrics    []struct{ Name, Unit string }
		}
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&aws); err != nil {
		t.Fatal(err)
	}
	if time.Since(time.UnixMilli(aws.Timestamp)) > time.Hour || len(aws.CloudWatchMetrics) != 1 || aws.CloudWatchMetrics[0].Namespace != "frazil" {
		t.Fatalf("the line is none of CloudWatch's embedded metric format: %s", text)
	}
	if diff := cmp.Diff([][]string{{"table"}, {}}, aws.CloudWatchMetrics[0].Dimensions); diff != "" {
		t.Error(diff)
	}
	for _, m := range aws.CloudWatchMetrics[0].Metrics {
		if _, ok := line[m.Name].(float64); !ok || m.Unit != "Count" && m.Unit != "Milliseconds" {
			t.Errorf("metric %s of unit %s: the line has %v", m.Name, m.Unit, line[m.Name])
		}
	}
}

func TestAFailedDeliveryIsLoggedForItsTable(t *testing.T) {
	t.Parallel()
	w := newWorld(t, shopOrders, flatRoute)
	p, lines := w.logged()
	if err := deliver(t.Context(), p, flat(partition(0), 0, `{"id":"4711secret"}`)); err == nil {
		t.Fatal("no error")
	}
	got := lines("failed")
	if len(got) != 1 || got[0]["failed"] != 1.0 || got[0]["table"] != "main:shop.orders" || !strings.Contains(got[0]["reason"].(string), "column id") {
		t.Fatalf("got %v", got)
	}
	wantMetrics(t, got[0])
	if text, _ := json.Marshal(got); strings.Contains(string(text), "4711") {
		t.Errorf("a row's value is in the log: %s", text)
	}
}

// Rule 16: a hole that one process saw from both sides is a metric; where a process begins, it is a log line.
func TestHolesBetweenDeliveriesAreCounted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, shopOrders, flatRoute)
	part := partition(0)
	w.must(deliver(t.Context(), w.pipeline(), flat(part, 0, `{"id":1,"n":1}`)))
	p, lines := w.logged()
	w.must(deliver(t.Context(), p, flat(part, 2, `{"id":2,"n":2}`), flat(part, 5, `{"id":3,"n":3}`))) // 1 before, 3 and 4 inside
	w.must(deliver(t.Context(), p, gone(part, 6, `{"id":77}`), gone(partition(1), 0, `{"id":77}`)))   // no effect
	w.must(deliver(t.Context(), p, flat(part, 7, `{"id":4,"n":4}`)))
	w.must(deliver(t.Context(), p, flat(part, 10, `{"id":5,"n":5}`)))
	w.must(deliver(t.Context(), p, flat(part, 10, `{"id":5,"n":5}`))) // again
	w.must(deliver(t.Context(), p, gone(part, 12, `{"id":77}`)))
	got := lines("offsets were not delivered")
	var texts []string
	for _, line := range got {
		texts = append(texts, strings.Join([]string{line["level"].(string), jsonInt(int64(line["from"].(float64))), jsonInt(int64(line["to"].(float64)))}, " "))
	}
	if diff := cmp.Diff([]string{"INFO 1 1", "WARN 8 9", "WARN 11 11"}, texts); diff != "" {
		t.Error(diff)
	}
	for _, line := range got[1:] {
		if line["holes"] != 1.0 || line["topic"] != "orders" {
			t.Errorf("the line is %v", line)
		}
		wantMetrics(t, line)
	}
}

// Where the records of a partition do not come in a row they are one range all the same, whose newest time is not the last's.
func TestPartitionsOfADeliveryMayAlternate(t *testing.T) {
	t.Parallel()
	w := newWorld(t, shopOrders, "topics: [orders], format: flat")
	parts := [2]*kafka.Partition{partition(0), partition(1)}
	var records []kafka.Record
	for i := range int64(6) {
		records = append(records, kafka.Record{Part: parts[i%2], Offset: i / 2, Time: 1000 - i, Value: fmt.Appendf(nil, `{"id":%d,"n":1}`, i)})
	}
	p := w.pipeline()
	w.must(p.Deliver(t.Context(), records))
	w.must(p.Deliver(t.Context(), records)) // by the ledger's newest time none of them is of a topic made anew
	w.wantSnapshots(1)
	if diff := cmp.Diff(w.next(), map[int32]int64{0: 3, 1: 3}); diff != "" {
		t.Error(diff)
	}
}

func TestAFailedDeliveryCountsNoHole(t *testing.T) {
	t.Parallel()
	w := newWorld(t, shopOrders, flatRoute)
	part := partition(0)
	p, lines := w.logged()
	w.must(deliver(t.Context(), p, flat(part, 0, `{"id":1,"n":1}`)))
	w.catalog.SetFault(func(catalog.Op, *http.Request) catalog.Fault { return catalog.Refuse(http.StatusForbidden) })
	if err := deliver(t.Context(), p, flat(part, 4, `{"id":1,"n":1}`)); err == nil {
		t.Fatal("no error")
	}
	w.catalog.SetFault(nil)
	w.must(deliver(t.Context(), p, flat(part, 4, `{"id":1,"n":4}`)))
	if n := len(lines("offsets were not delivered")); n != 1 {
		t.Errorf("%d lines, want one", n)
	}
}

// Rule 10.
func TestKeysInSeveralPartitionsAreCountedAndWarnedAboutOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, shopOrders, flatRoute)
	p, lines := w.logged()
	for i := range int64(2) {
		w.must(deliver(t.Context(), p, flat(partition(0), 2*i, `{"id":1,"n":1}`), flat(partition(0), 2*i+1, `{"id":2,"n":1}`),
			flat(partition(1), i, `{"id":1,"n":2}`), flat(partition(2), i, fmt.Sprintf(`{"id":1,"n":%d}`, 3+i))))
	}
	w.wantRows("id=1 n=4", "id=2 n=1")
	committed := lines("committed")
	if warned := lines("keys have changes in several partitions, which are applied in the order of the partitions"); len(warned) != 1 || warned[0]["keys"] != 1.0 ||
		committed[0]["shared_keys"] != 1.0 || committed[1]["shared_keys"] != 1.0 {
		t.Errorf("warned %v, committed %v", warned, committed)
	}
}

// The delete of a key that goes on under another names that one, and changes nothing about it.
func TestAKeyThatIsOnlyNamedHasNoChangeInItsPartition(t *testing.T) {
	t.Parallel()
	w := newWorld(t, shopOrders, "topics: [orders], format: debezium", lake.Row{"id": "1", "n": "1"})
	p, lines := w.logged()
	leaves := flat(partition(0), 0, `{"op":"d","before":{"id":1},"after":null}`)
	leaves.Headers = []kafka.Header{{Key: "__debezium.newkey", Value: []byte(`{"id":2}`)}}
	w.must(deliver(t.Context(), p, leaves, flat(partition(0), 1, `{"op":"c","after":{"id":3,"n":3}}`), flat(partition(1), 0, `{"op":"c","after":{"id":2,"n":1}}`)))
	w.wantRows("id=2 n=1", "id=3 n=3")
	if got := lines("committed")[0]["shared_keys"]; got != 0.0 {
		t.Errorf("%v keys are said to have changes in several partitions", got)
	}
}

// The owner moves the ledger while a function writes, by a snapshot like any other.
func TestTheOwnerMovesTheLedgerBetweenCommits(t *testing.T) {
	t.Parallel()
	w := newWorld(t, shopOrders, flatRoute)
	part, name := partition(0), config.Table{Catalog: "main", Path: []string{"shop", "orders"}}
	warm := w.pipeline()
	w.must(deliver(t.Context(), warm, flat(part, 0, `{"id":1,"n":1}`), flat(part, 1, `{"id":2,"n":2}`)))
	set := func(next int64) func(*ledger.Ledger, time.Time) (ledger.Move, error) {
		return func(l *ledger.Ledger, now time.Time) (ledger.Move, error) {
			return l.Set(kafka.MainSource, "orders", map[int32]int64{0: next}, now.UnixMilli())
		}
	}
	w.beforeCommit(func() { w.must(deliver(t.Context(), w.pipeline(), flat(part, 2, `{"id":3,"n":3}`))) })
	w.must(w.pipeline().MoveLedger(t.Context(), name, set(1)))
	w.wantRows("id=1 n=1", "id=2 n=2", "id=3 n=3")
	w.wantSnapshots(3)
	if got := w.next()[0]; got != 1 {
		t.Errorf("the ledger expects offset %d next, want 1", got)
	}
	w.must(deliver(t.Context(), warm, flat(part, 0, `{"id":1,"n":100}`), flat(part, 1, `{"id":2,"n":100}`)))
	w.wantRows("id=1 n=1", "id=2 n=100", "id=3 n=3")

	w.once(catalog.ApplyThenDrop())
	w.must(w.pipeline().MoveLedger(t.Context(), name, set(10)))
	w.must(deliver(t.Context(), warm, flat(part, 9, `{"id":1,"n":9}`), flat(part, 10, `{"id":2,"n":10}`)))
	w.wantRows("id=1 n=1", "id=2 n=10", "id=3 n=3")
	if left := w.audit().Orphans; len(left) > 0 {
		t.Errorf("unreferenced files: %q", left)
	}
}

// A table that another engine loaded, and whose ledger the owner sets to where the load ends.
func TestALedgerCanBeSetBeforeTheFirstDelivery(t *testing.T) {
	t.Parallel()
	for _, rows := range [][]lake.Row{nil, {{"id": "1", "n": "1"}}} {
		w := newWorld(t, shopOrders, flatRoute, rows...)
		p := w.pipeline()
		w.must(p.MoveLedger(t.Context(), config.Table{Catalog: "main", Path: []string{"shop", "orders"}}, func(l *ledger.Ledger, now time.Time) (ledger.Move, error) {
			return l.Set(kafka.MainSource, "orders", map[int32]int64{0: 5, 1: 0}, now.UnixMilli())
		}))
		w.must(deliver(t.Context(), p, flat(partition(0), 4, `{"id":1,"n":2}`), flat(partition(0), 5, `{"id":2,"n":2}`), flat(partition(1), 0, `{"id":3,"n":3}`)))
		want := []string{"id=2 n=2", "id=3 n=3"}
		if rows != nil {
			want = slices.Concat([]string{"id=1 n=1"}, want)
		}
		w.wantRows(want...)
		if got := w.next(); !maps.Equal(got, map[int32]int64{0: 6, 1: 1}) {
			t.Errorf("the ledger is %v", got)
		}
	}
}
