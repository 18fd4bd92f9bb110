package ledger

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/frazil/frazil/internal/kafka"
)

// Span is the records that one delivery holds of a partition. The zero Span is none.
type Span struct {
	From int64 // the lowest offset
	Next int64 // one above the highest
	Time int64 // the newest timestamp, in milliseconds since 1970
}

// Spans are the records of one delivery, by partition.
type Spans map[kafka.Partition]Span

// Put sets the span of a partition, unless there is none.
func (s Spans) Put(p *kafka.Partition, span Span) {
	if span != (Span{}) {
		s[*p] = span
	}
}

// Add counts a record of the partition in.
func (s *Span) Add(r *kafka.Record) {
	if s.Next == 0 {
		*s = Span{From: r.Offset, Next: r.Offset + 1, Time: r.Time}
		return
	}
	s.From, s.Next, s.Time = min(s.From, r.Offset), max(s.Next, r.Offset+1), max(s.Time, r.Time)
}

// Newest is the newest timestamp of all, 0 if none is after 1970.
func (s Spans) Newest() (newest int64) {
	for _, span := range s {
		newest = max(newest, span.Time)
	}
	return newest
}

// Move is a change of the ledger, for a snapshot to carry.
type Move struct {
	topics map[string]*Topic // by property name; those that change
	spans  Spans             // what it goes by
	held   map[string]*Topic // by property name: what a snapshot that changes no row notes of the others
}

// Advance makes the ledger cover a delivery too. What a roll-back has set back it writes down: later the snapshots that prove
// the roll-back may not be at hand any more.
func (l *Ledger) Advance(delivery Spans) (Move, error) {
	m := Move{topics: map[string]*Topic{}, spans: delivery}
	for _, t := range l.setBack {
		m.topic(l, t.Source, t.Name)
	}
	for p, span := range delivery {
		t := m.topic(l, p.Source, p.Topic)
		t.Cluster = cmp.Or(p.Cluster, t.Cluster)
		mark, known := t.Marks[p.Number]
		if !known {
			mark.Time = span.Time
		}
		mark.Next, mark.Time = max(mark.Next, span.Next), max(mark.Time, span.Time)
		if mark.Lost.To > 0 {
			mark.Lost.Resumed = true
		}
		t.Marks[p.Number] = mark.settled()
	}
	return m, l.fits(m)
}

// settled forgets what was lost and is back.
func (m Mark) settled() Mark {
	if m.Lost.To <= m.Next {
		m.Lost = Lost{}
	}
	return m
}

// Set gives partitions of a topic the next offsets that the table's owner says, as of now (milliseconds since 1970):
// records below that are older are skipped, and what a roll-back took out of the table below them is given up. The other
// partitions keep theirs. The cluster is forgotten, which the owner may have replaced.
func (l *Ledger) Set(source, topic string, next map[int32]int64, now int64) (Move, error) {
	m := Move{topics: map[string]*Topic{}, spans: Spans{}}
	t := m.topic(l, source, topic)
	t.Cluster = ""
	for n, offset := range next {
		t.Marks[n] = Mark{Next: offset, Time: now, Lost: Lost{To: t.Marks[n].Lost.To}}.settled()
		m.spans[kafka.Partition{Source: source, Topic: topic, Number: n}] = Span{From: offset, Next: offset, Time: now}
	}
	return m, l.fits(m)
}

// Accept gives up what a roll-back took out of the table, as of now (milliseconds since 1970): the next offsets are what
// they were before it.
func (l *Ledger) Accept(now int64) Move {
	m := Move{topics: map[string]*Topic{}, spans: Spans{}}
	for _, was := range l.topics {
		for n, mark := range was.Marks {
			if mark.Lost.To <= mark.Next {
				continue
			}
			m.topic(l, was.Source, was.Name).Marks[n] = Mark{Next: mark.Lost.To, Time: now}
			m.spans[kafka.Partition{Source: was.Source, Topic: was.Name, Number: n}] = Span{From: mark.Next, Next: mark.Lost.To, Time: now}
		}
	}
	return m
}

// Stay is the move of a snapshot that holds the rows of the one before it. Its summary has a copy of the ledger, so that the
// table can be rolled back to it when those before it are gone; its properties change only where a roll-back has set them back.
func (l *Ledger) Stay() Move {
	m := Move{topics: map[string]*Topic{}, spans: Spans{}, held: map[string]*Topic{}}
	for _, t := range l.setBack {
		m.topic(l, t.Source, t.Name)
	}
	for name, t := range l.topics {
		if m.topics[name] == nil {
			m.held[name] = t
		}
	}
	return m
}

// Empty reports whether nothing moves.
func (m Move) Empty() bool { return len(m.topics) == 0 }

// Topics lists the topics that change, as they are afterwards.
func (m Move) Topics() []*Topic { return (&Ledger{topics: m.topics}).Topics() }

// topic is a topic that changes, as it is so far.
func (m Move) topic(l *Ledger, source, name string) *Topic {
	id := property(source, name)
	if m.topics[id] == nil {
		t := &Topic{Source: source, Name: name, Marks: map[int32]Mark{}}
		if was := l.topics[id]; was != nil {
			t.Marks, t.Cluster = maps.Clone(was.Marks), was.Cluster
		}
		m.topics[id] = t
	}
	return m.topics[id]
}

// fits checks that the ledger with a move in it is no larger than it may be.
func (l *Ledger) fits(m Move) error {
	all := maps.Clone(l.topics)
	maps.Copy(all, m.topics)
	n := 0
	for _, t := range all {
		n += len(t.Marks)
	}
	if n > MaxPartitions {
		return fmt.Errorf("the table would be fed by %d topic-partitions; its ledger holds at most %d", n, MaxPartitions)
	}
	return nil
}

// Properties are those that the move sets when the given snapshot carries it.
func (m Move) Properties(snapshot, sequence int64) map[string]string {
	out := map[string]string{}
	for name, t := range m.topics {
		out[name] = t.text(snapshot, sequence)
	}
	return out
}

// summaryLimit is how much of a ledger a snapshot's summary carries, in bytes (P1).
const summaryLimit = 4 << 10

// moved begins the name of what a summary keeps of a topic whose ledger is too large for it.
const moved = "frazil.delivered."

// Summary is what a snapshot's summary keeps of the move: a copy of its properties where they are small, else the ranges
// that it goes by. After a roll-back the ledger is found again by it.
func (m Move) Summary(properties map[string]string) map[string]string {
	properties = maps.Clone(properties)
	for name, t := range m.held {
		properties[name] = t.text(t.Snapshot, t.Sequence)
	}
	size := 0
	for name, text := range properties {
		size += len(name) + len(text)
	}
	if size <= summaryLimit {
		return properties
	}
	byTopic := map[string]*ranges{}
	partitions := slices.SortedFunc(maps.Keys(m.spans), func(a, b kafka.Partition) int { return cmp.Compare(a.Number, b.Number) })
	for _, p := range partitions {
		name := moved + p.Source + "." + p.Topic
		if byTopic[name] == nil {
			byTopic[name] = &ranges{}
		}
		r := byTopic[name]
		r.Partitions = append(r.Partitions, p.Number)
		r.From = append(r.From, m.spans[p].From)
		r.Next = append(r.Next, m.spans[p].Next)
	}
	out := map[string]string{}
	for name, r := range byTopic {
		out[name] = text(r)
	}
	return out
}
