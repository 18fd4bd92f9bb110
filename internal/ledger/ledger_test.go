package ledger_test

import (
	"strings"
	"testing"

	"github.com/frazil/frazil/internal/kafka"
	"github.com/frazil/frazil/internal/ledger"
	"github.com/google/go-cmp/cmp"
)

func part(topic string, n int32) *kafka.Partition {
	return &kafka.Partition{Source: "main", Topic: topic, Number: n}
}

// add counts a record in.
func add(spans ledger.Spans, r *kafka.Record) {
	span := spans[*r.Part]
	span.Add(r)
	spans.Put(r.Part, span)
}

// check asks for a record that may be of any partition.
func check(l *ledger.Ledger, r *kafka.Record) (applied bool, err error) {
	m, err := l.MarkFor(r)
	if err != nil {
		return false, err
	}
	return m.Check(r)
}

func advance(t *testing.T, properties map[string]string, records ...*kafka.Record) map[string]string {
	t.Helper()
	l, err := ledger.Read(properties)
	if err != nil {
		t.Fatal(err)
	}
	spans := ledger.Spans{}
	for _, r := range records {
		add(spans, r)
	}
	m, err := l.Advance(spans)
	if err != nil {
		t.Fatal(err)
	}
	return m.Properties(77, 5)
}

func TestLedgerSurvivesItsTextForm(t *testing.T) {
	t.Parallel()
	p := advance(t, nil,
		&kafka.Record{Part: part("shop.public.orders", 1), Offset: 9, Time: -5},
		&kafka.Record{Part: part("shop.public.orders", 1), Offset: 8, Time: -3},
		&kafka.Record{Part: part("shop.public.orders", 0), Offset: 3, Time: 100})
	l, err := ledger.Read(p)
	if err != nil {
		t.Fatal(err)
	}
	want := []*ledger.Topic{{Source: "main", Name: "shop.public.orders", Snapshot: 77, Sequence: 5,
		Marks: map[int32]ledger.Mark{0: {Next: 4, Time: 100}, 1: {Next: 10, Time: -3}}}}
	if diff := cmp.Diff(l.Topics(), want); diff != "" {
		t.Error(diff)
	}
}

func TestLedgerNeverMovesBack(t *testing.T) {
	t.Parallel()
	p := advance(t, nil, &kafka.Record{Part: part("a", 0), Offset: 9, Time: 50}, &kafka.Record{Part: part("a", 1), Offset: 1, Time: 1})
	p = advance(t, p, &kafka.Record{Part: part("a", 0), Offset: 2, Time: 10})
	l, err := ledger.Read(p)
	if err != nil {
		t.Fatal(err)
	}
	if got := l.Topics()[0].Marks; got[0] != (ledger.Mark{Next: 10, Time: 50}) || got[1].Next != 2 {
		t.Errorf("got %v", got)
	}
	for _, c := range []struct {
		topic  string
		offset int64
		want   bool
	}{{"a", 9, true}, {"a", 10, false}, {"b", 0, false}} {
		if got, err := check(l, &kafka.Record{Part: part(c.topic, 0), Offset: c.offset}); got != c.want || err != nil {
			t.Errorf("topic %s, offset %d: applied %v %v", c.topic, c.offset, got, err)
		}
	}
}

func TestCheckTellsARewindFromARedelivery(t *testing.T) {
	t.Parallel()
	p := advance(t, nil, &kafka.Record{Part: part("a", 0), Offset: 9, Time: 50})
	l, err := ledger.Read(p)
	if err != nil {
		t.Fatal(err)
	}
	if applied, err := check(l, &kafka.Record{Part: part("a", 0), Offset: 3, Time: 40}); !applied || err != nil {
		t.Errorf("redelivery: %v %v", applied, err)
	}
	if applied, err := check(l, &kafka.Record{Part: part("a", 0), Offset: 10, Time: 40}); applied || err != nil {
		t.Errorf("a new record with an older clock: %v %v", applied, err)
	}
	_, err = check(l, &kafka.Record{Part: part("a", 0), Offset: 3, Time: 51})
	if err == nil || !strings.Contains(err.Error(), "topic a, partition 0, offset 3") {
		t.Errorf("rewind: got %v", err)
	}
}

func TestReadRefusesWhatItDidNotWrite(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "{", `{"partitions":[0],"next":[],"time":[1]}`, `{"next":["x"]}`, `{}`, `null`, `{"partitions":[0],"next":[5],"time":[1]} {"partitions":[0],"next":[9],"time":[1]}`,
		`{"partitions":[0],"next":[-5],"time":[1]}`, `{"partitions":[-1],"next":[5],"time":[1]}`,
		`{"partitions":[0,0],"next":[5,6],"time":[1,1]}`, `{"partitions":[0],"next":[5],"time":[1],"lost":[{"partition":0,"to":5}]}`,
		`{"partitions":[0],"next":[5],"time":[1],"lost":[{"partition":1,"to":9}]}`, `{"partitions":[0],"next":[5],"time":[1],"lost":[{"partition":0,"to":8},{"partition":0,"to":9}]}`, `{"partitions":[0],"next":[5],"time":[1],"other":1}`} {
		if _, err := ledger.Read(map[string]string{ledger.Prefix + "main.a": text}); err == nil {
			t.Errorf("%q: no error", text)
		}
	}
}

func TestAdvanceRefusesTooManyPartitions(t *testing.T) {
	t.Parallel()
	l, err := ledger.Read(nil)
	if err != nil {
		t.Fatal(err)
	}
	spans := ledger.Spans{}
	for i := range int32(ledger.MaxPartitions + 1) {
		add(spans, &kafka.Record{Part: part("a", i)})
	}
	if _, err := l.Advance(spans); err == nil || !strings.Contains(err.Error(), "5001") {
		t.Errorf("got %v", err)
	}
}

func TestSummaryCopiesASmallLedgerAndRangesOfALargeOne(t *testing.T) {
	t.Parallel()
	l, err := ledger.Read(nil)
	if err != nil {
		t.Fatal(err)
	}
	spans := ledger.Spans{}
	add(spans, &kafka.Record{Part: part("a", 0), Offset: 7})
	add(spans, &kafka.Record{Part: part("a", 0), Offset: 5})
	m, err := l.Advance(spans)
	if err != nil {
		t.Fatal(err)
	}
	properties := m.Properties(1, 1)
	if diff := cmp.Diff(m.Summary(properties), properties); diff != "" {
		t.Error(diff)
	}
	large := map[string]string{ledger.Prefix + "main.a": strings.Repeat("x", 4<<10)}
	want := map[string]string{"frazil.delivered.main.a": `{"partitions":[0],"from":[5],"next":[8]}`}
	if diff := cmp.Diff(m.Summary(large), want); diff != "" {
		t.Error(diff)
	}
}

func TestCheckRefusesAnotherCluster(t *testing.T) {
	t.Parallel()
	of := func(cluster string, offset int64) *kafka.Record {
		p := part("a", 0)
		p.Cluster = cluster
		return &kafka.Record{Part: p, Offset: offset}
	}
	const first, second = "arn:aws:kafka:eu-west-1:1:cluster/first/x", "arn:aws:kafka:eu-west-1:1:cluster/second/y"
	properties := advance(t, advance(t, nil, of(first, 3)), of("", 4)) // a delivery that does not say keeps what is known
	l, err := ledger.Read(properties)
	if err != nil {
		t.Fatal(err)
	}
	if applied, err := check(l, of(first, 3)); !applied || err != nil {
		t.Errorf("the same cluster: %v %v", applied, err)
	}
	if applied, err := check(l, of("", 3)); !applied || err != nil {
		t.Errorf("a delivery that does not say: %v %v", applied, err)
	}
	for _, offset := range []int64{3, 9} {
		if _, err := check(l, of(second, offset)); err == nil || !strings.Contains(err.Error(), "topic a, partition 0") || !strings.Contains(err.Error(), first) {
			t.Errorf("another cluster at offset %d: got %v", offset, err)
		}
	}
}
