// Package ledger knows which records of Kafka are in a table: per source and topic, the next expected offset
// of each partition.
//
// The ledger lives in the table's properties, one property per topic (P1), and moves only together
// with the table's main branch. It outlives snapshot expiry and other writers. The package is pure: it reads
// properties and makes properties, and whoever commits sends them in the commit's own request.
package ledger

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/frazil/frazil/internal/kafka"
)

// Prefix begins the name of every property of the ledger: frazil.ledger.<source>.<topic>.
const Prefix = "frazil.ledger."

// MaxPartitions is the number of topic-partitions that one table's ledger may hold (P1).
const MaxPartitions = 5000

// Mark is how far a partition is applied.
type Mark struct {
	Next int64 // every record below this offset is in the table
	Time int64 // the newest timestamp among them, in milliseconds since 1970
}

// Topic is the part of a ledger that one property holds.
type Topic struct {
	Source, Name string
	Cluster      string // the ARN of the MSK cluster that its records come from; "" when they did not say
	Snapshot     int64  // the snapshot that wrote it
	Sequence     int64  // and its sequence number
	Marks        map[int32]Mark
}

// Ledger is what a table holds of all topics that feed it.
type Ledger struct{ topics map[string]*Topic } // by property name

// entry is the text form of a topic. Offsets and times are lists of equal length, in partition order, so that
// a topic of many partitions stays small.
type entry struct {
	Cluster    string  `json:"cluster,omitempty"`
	Snapshot   int64   `json:"snapshot"`
	Sequence   int64   `json:"sequence"`
	Partitions []int32 `json:"partitions"`
	Next       []int64 `json:"next"`
	Time       []int64 `json:"time"`
}

func property(source, topic string) string { return Prefix + source + "." + topic }

// Read takes the ledger out of a table's properties. A property that frazil did not write is an error: to
// guess would be to lose records or to apply them twice.
func Read(properties map[string]string) (*Ledger, error) {
	l := &Ledger{topics: map[string]*Topic{}}
	for name, text := range properties {
		rest, ok := strings.CutPrefix(name, Prefix)
		if !ok {
			continue
		}
		t, err := read(text)
		if err != nil {
			return nil, fmt.Errorf("read the table's property %s: %w", name, err)
		}
		t.Source, t.Name, _ = strings.Cut(rest, ".")
		l.topics[name] = t
	}
	return l, nil
}

func read(text string) (*Topic, error) {
	var e entry
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&e); err != nil {
		return nil, err
	}
	if len(e.Partitions) == 0 || len(e.Next) != len(e.Partitions) || len(e.Time) != len(e.Partitions) {
		return nil, fmt.Errorf("%d partitions, %d offsets and %d times", len(e.Partitions), len(e.Next), len(e.Time))
	}
	t := &Topic{Cluster: e.Cluster, Snapshot: e.Snapshot, Sequence: e.Sequence, Marks: map[int32]Mark{}}
	for i, p := range e.Partitions {
		if p < 0 || e.Next[i] < 0 || i > 0 && p <= e.Partitions[i-1] {
			return nil, fmt.Errorf("partition %d is negative, out of order or without a next offset", p)
		}
		t.Marks[p] = Mark{Next: e.Next[i], Time: e.Time[i]}
	}
	return t, nil
}

// Topics lists the ledger's topics, by source and name.
func (l *Ledger) Topics() []*Topic {
	return slices.SortedFunc(maps.Values(l.topics), func(a, b *Topic) int {
		return cmp.Or(strings.Compare(a.Source, b.Source), strings.Compare(a.Name, b.Name))
	})
}

// Knows reports whether a record of the partition's topic was ever applied.
func (l *Ledger) Knows(p *kafka.Partition) bool { return l.topics[property(p.Source, p.Topic)] != nil }

// mark is how far a record's partition is applied. A record of another cluster than the ledger's is an error: its
// offsets mean other records.
func (l *Ledger) mark(r *kafka.Record) (Mark, error) {
	name := property(r.Part.Source, r.Part.Topic)
	t := l.topics[name]
	switch {
	case t == nil:
		return Mark{}, nil
	case t.Cluster != "" && r.Part.Cluster != "" && t.Cluster != r.Part.Cluster:
		return Mark{}, fmt.Errorf("%s: it comes from the cluster %s, but the table's ledger of this topic is about %s, and topics of one name in "+
			"two clusters cannot feed one table; if the cluster was replaced, stop the function and remove the table's property %s to start over",
			r.Ref(), r.Part.Cluster, t.Cluster, name)
	}
	return t.Marks[r.Part.Number], nil
}

// Check reports whether a record is in the table. One that lies below the ledger and yet is newer than everything
// the ledger has seen of its partition is no redelivery but the record of a topic made anew: an error, since
// to skip it would lose it (rule 17).
func (l *Ledger) Check(r *kafka.Record) (applied bool, err error) {
	m, err := l.mark(r)
	if err != nil {
		return false, err
	}
	if r.Offset < m.Next && r.Time > m.Time {
		return false, fmt.Errorf("%s: the table's ledger expects offset %d next, but this record is newer than all that it has seen; "+
			"if the topic was made anew, stop the function and remove the table's property %s to start over", r.Ref(), m.Next, property(r.Part.Source, r.Part.Topic))
	}
	return r.Offset < m.Next, nil
}

// Span is the records that one delivery holds of a partition.
type Span struct {
	From int64 // the lowest offset
	Next int64 // one above the highest
	Time int64 // the newest timestamp, in milliseconds since 1970
}

// Spans are the records of one delivery, by partition.
type Spans map[kafka.Partition]Span

// Add counts a record in.
func (s Spans) Add(r *kafka.Record) {
	was, ok := s[*r.Part]
	if !ok {
		was = Span{From: r.Offset, Next: r.Offset + 1, Time: r.Time}
	}
	s[*r.Part] = Span{From: min(was.From, r.Offset), Next: max(was.Next, r.Offset+1), Time: max(was.Time, r.Time)}
}

// summaryLimit is how much of a ledger a snapshot's summary carries, in bytes (P1).
const summaryLimit = 4 << 10

// Summary is what a snapshot's summary keeps of a ledger that moved by a delivery: a copy of the moved properties
// where that is small, else the delivery's own ranges, as frazil.delivered.<source>.<topic>. It is for finding the
// ledger again after a roll-back; the properties are the ledger.
func Summary(moved map[string]string, delivery Spans) map[string]string {
	size := 0
	for name, text := range moved {
		size += len(name) + len(text)
	}
	if size <= summaryLimit {
		return moved
	}
	type ranges struct {
		Partitions []int32 `json:"partitions"`
		From       []int64 `json:"from"`
		Next       []int64 `json:"next"`
	}
	byTopic := map[string]*ranges{}
	for p, span := range delivery {
		name := "frazil.delivered." + p.Source + "." + p.Topic
		r := byTopic[name]
		if r == nil {
			r = &ranges{}
			byTopic[name] = r
		}
		r.Partitions = append(r.Partitions, p.Number)
		r.From = append(r.From, span.From)
		r.Next = append(r.Next, span.Next)
	}
	out := map[string]string{}
	for name, r := range byTopic {
		out[name] = text(r)
	}
	return out
}

// Advance gives the properties that make the ledger cover a delivery too, as written by the given snapshot.
// Only the delivery's topics are in it.
func (l *Ledger) Advance(delivery Spans, snapshot, sequence int64) (map[string]string, error) {
	moved := map[string]*Topic{}
	for p, span := range delivery {
		name := property(p.Source, p.Topic)
		t := moved[name]
		if t == nil {
			t = &Topic{Marks: map[int32]Mark{}}
			if was := l.topics[name]; was != nil {
				t.Marks, t.Cluster = maps.Clone(was.Marks), was.Cluster
			}
			moved[name] = t
		}
		t.Cluster = cmp.Or(p.Cluster, t.Cluster)
		m, known := t.Marks[p.Number]
		if !known {
			m.Time = span.Time
		}
		t.Marks[p.Number] = Mark{Next: max(m.Next, span.Next), Time: max(m.Time, span.Time)}
	}
	if n := l.partitions(moved); n > MaxPartitions {
		return nil, fmt.Errorf("the table would be fed by %d topic-partitions; its ledger holds at most %d", n, MaxPartitions)
	}
	out := map[string]string{}
	for name, t := range moved {
		out[name] = t.text(snapshot, sequence)
	}
	return out, nil
}

func (l *Ledger) partitions(moved map[string]*Topic) int {
	all := maps.Clone(l.topics)
	maps.Copy(all, moved)
	n := 0
	for _, t := range all {
		n += len(t.Marks)
	}
	return n
}

func (t *Topic) text(snapshot, sequence int64) string {
	e := entry{Cluster: t.Cluster, Snapshot: snapshot, Sequence: sequence}
	for _, p := range slices.Sorted(maps.Keys(t.Marks)) {
		e.Partitions = append(e.Partitions, p)
		e.Next = append(e.Next, t.Marks[p].Next)
		e.Time = append(e.Time, t.Marks[p].Time)
	}
	return text(e)
}

func text(integers any) string {
	b, err := json.Marshal(integers)
	if err != nil {
		panic(err) // integers always marshal
	}
	return string(b)
}
