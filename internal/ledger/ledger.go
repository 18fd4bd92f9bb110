// Package ledger knows which records of Kafka are in a table: per source and topic, the next expected offset
// of each partition.
//
// The ledger lives in the table's properties, one property per topic (P1), and moves only together
// with the table's main branch. It outlives snapshot expiry and other writers. A roll-back of main takes it back too
// (history.go). The package is pure: it reads properties and makes properties, and whoever commits sends them in the
// commit's own request.
package ledger

import (
	"cmp"
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
	Lost Lost
}

// Lost is what a roll-back took out of the table: a partition's records from the mark's Next up to To.
type Lost struct {
	To      int64 // 0: nothing is lost
	Resumed bool  // a delivery began at Next since then: the others follow it
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
type Ledger struct {
	topics map[string]*Topic // by property name
	// Those whose properties still say what was before a roll-back.
	setBack []*Topic
}

func property(source, topic string) string { return Prefix + source + "." + topic }

// Read takes the ledger out of a table's properties, as it is written there; On tells whether it still holds. A property
// that frazil did not write is an error: to guess would be to lose records or to apply them twice.
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

// Topics lists the ledger's topics, by source and name.
func (l *Ledger) Topics() []*Topic {
	return slices.SortedFunc(maps.Values(l.topics), func(a, b *Topic) int {
		return cmp.Or(strings.Compare(a.Source, b.Source), strings.Compare(a.Name, b.Name))
	})
}

// Knows reports whether a record of the partition's topic was ever applied.
func (l *Ledger) Knows(p *kafka.Partition) bool { return l.topics[property(p.Source, p.Topic)] != nil }

// Mark is how far a partition is applied; ok tells whether anything of it ever was.
func (l *Ledger) Mark(p *kafka.Partition) (m Mark, ok bool) {
	t := l.topics[property(p.Source, p.Topic)]
	if t == nil {
		return Mark{}, false
	}
	m, ok = t.Marks[p.Number]
	return m, ok
}

// MarkFor is the mark of a record's partition, for all records of it; the zero Mark if nothing of it was ever applied. It refuses
// a record of another cluster than the ledger's: its offsets mean other records.
func (l *Ledger) MarkFor(r *kafka.Record) (Mark, error) {
	t := l.topics[property(r.Part.Source, r.Part.Topic)]
	if t == nil {
		return Mark{}, nil
	}
	if t.Cluster != "" && r.Part.Cluster != "" && t.Cluster != r.Part.Cluster {
		return Mark{}, fmt.Errorf("%s: it comes from the cluster %s, but the table's ledger of this topic is about %s, and topics of one name in "+
			"two clusters cannot feed one table under one source; if the cluster was replaced, set the ledger to where the new one begins (%s)",
			r.Ref(), r.Part.Cluster, t.Cluster, SetCommand(r.Part, 0))
	}
	return t.Marks[r.Part.Number], nil
}

// Check reports whether a record of the mark's partition is in the table. One that lies below the mark and yet is newer than
// everything that the ledger has seen of its partition is no redelivery but the record of a topic made anew: an error, since
// to skip it would lose it (rule 17).
func (m Mark) Check(r *kafka.Record) (applied bool, err error) {
	if r.Offset < m.Next && r.Time > m.Time {
		return false, fmt.Errorf("%s: the table's ledger expects offset %d next, but this record is newer than all that it has seen; "+
			"if the topic was made anew, set the ledger to where it begins (%s)", r.Ref(), m.Next, SetCommand(r.Part, 0))
	}
	return r.Offset < m.Next, nil
}

// Follows checks that a delivery, whose records of a partition begin at an offset, leaves out none that a roll-back took
// out of the table (P1) and, where offsets are dense, none at all (rule 16).
func (l *Ledger) Follows(p *kafka.Partition, from int64, dense bool) error {
	m, known := l.Mark(p)
	first := kafka.Ref{Part: p, Offset: from}
	switch {
	case !known || from <= m.Next:
		return nil
	case m.Lost.To > m.Next && (!m.Lost.Resumed || from >= m.Lost.To):
		return fmt.Errorf("%s: the table was rolled back, and %s not in it any more; have them delivered again from offset %d on, "+
			"or from the first one that Kafka still has, once the ledger says so (%s), or give them all up (localstack ledger accept -config FILE TABLE)",
			first, l.lostOf(p), m.Next, SetCommand(p, m.Next))
	case dense:
		return fmt.Errorf("%s: offsets %d to %d were not delivered, and the route says offsets: dense; have them delivered, "+
			"or say that there are none (%s)", first, m.Next, from-1, SetCommand(p, from))
	}
	return nil
}

// Owes reports whether a roll-back took records of a partition out of the table that are not back yet.
func (l *Ledger) Owes(p *kafka.Partition) bool {
	m, _ := l.Mark(p)
	return m.Lost.To > m.Next
}

// lostOf names what a roll-back took out of the partition's topic.
func (l *Ledger) lostOf(p *kafka.Partition) string {
	t := l.topics[property(p.Source, p.Topic)]
	var out []string
	for _, n := range slices.Sorted(maps.Keys(t.Marks)) {
		if m := t.Marks[n]; m.Lost.To > m.Next {
			out = append(out, fmt.Sprintf("%d to %d of partition %d", m.Next, m.Lost.To-1, n))
		}
	}
	return fmt.Sprintf("the offsets %s are", strings.Join(out, ", "))
}

// SetCommand is the command by which a table's owner says which offset of a partition comes next.
func SetCommand(p *kafka.Partition, offset int64) string {
	return fmt.Sprintf("localstack ledger set -config FILE TABLE %s %d=%d", SourceAndTopic(p.Source, p.Topic), p.Number, offset)
}

// SourceAndTopic is how a command names a topic: the source main goes without saying.
func SourceAndTopic(source, topic string) string {
	if source == kafka.MainSource {
		return topic
	}
	return source + "/" + topic
}
