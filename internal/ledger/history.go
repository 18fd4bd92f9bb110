package ledger

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/frazil/frazil/internal/kafka"
)

// Snapshot is what the ledger has to know of a snapshot of its table.
type Snapshot struct {
	ID, Sequence int64
	Summary      map[string]string
	Replaces     bool // it has the rows of the one before it
}

// History is the head of main and its ancestors, newest first, as far as the catalog still lists them.
type History struct {
	Snapshots []Snapshot
	Complete  bool // they go down to the first one
}

// On is the ledger that holds on main (P1). Where main was taken back behind the snapshot that wrote a topic's property,
// the table has lost records that the property speaks of: the topic's ledger is then that of the nearest ancestor which
// has one, and what is gone is noted as Lost. A history that expiry has cut short proves no roll-back.
func (l *Ledger) On(main History) (*Ledger, error) {
	out := &Ledger{topics: maps.Clone(l.topics)}
	for _, name := range slices.Sorted(maps.Keys(l.topics)) {
		t := l.topics[name]
		if t.Sequence == 0 || !main.lacks(t) { // 0: the property was set by hand
			continue
		}
		held, err := main.before(name, t)
		if err != nil {
			return nil, err
		}
		out.topics[name], out.setBack = held, append(out.setBack, held)
	}
	return out, nil
}

// SinceOthers are the snapshots from the newest one on by which another writer has changed rows, none where no such is listed.
func (h History) SinceOthers() []Snapshot {
	i := slices.IndexFunc(h.Snapshots, func(s Snapshot) bool { return !s.Replaces && !s.ours() })
	return h.Snapshots[:i+1]
}

// Behind reports whether the ledger of a partition's topic was written before another writer changed rows. What a record
// changes may rest on that, and goes with it when main is taken back: the ledger has to be newer to tell.
func (l *Ledger) Behind(p *kafka.Partition, sinceOthers []Snapshot) bool {
	t := l.topics[property(p.Source, p.Topic)]
	return len(sinceOthers) > 0 && (t == nil || !slices.ContainsFunc(sinceOthers, func(s Snapshot) bool { return s.ID == t.Snapshot }))
}

// ours reports whether the snapshot moved a ledger, of whatever topic.
func (s Snapshot) ours() bool {
	for name := range s.Summary {
		if strings.HasPrefix(name, Prefix) || strings.HasPrefix(name, moved) {
			return true
		}
	}
	return false
}

// lacks reports whether the snapshot that wrote a topic's property is proven to be no ancestor of main.
func (h History) lacks(t *Topic) bool {
	for _, s := range h.Snapshots {
		if s.ID == t.Snapshot {
			return false
		}
		if s.Sequence < t.Sequence { // main passes below it
			return true
		}
	}
	return h.Complete
}

// before is the ledger of a topic as of main, when its property is of a snapshot that is none of main's.
func (h History) before(name string, gone *Topic) (*Topic, error) {
	t, complete, err := h.find(name, gone)
	if err != nil {
		return nil, err
	}
	for n, was := range gone.Marks {
		m, ok := t.Marks[n]
		if !ok && !complete {
			return nil, fmt.Errorf("it was rolled back behind snapshot %d, with which its ledger of topic %s was written, and the snapshots that tell how far "+
				"partition %d had come by then have expired; roll forward, or set the ledger to what the table has (localstack ledger set -config FILE TABLE %s %d=OFFSET)",
				gone.Snapshot, gone.Name, n, SourceAndTopic(gone.Source, gone.Name), n)
		}
		m.Lost = Lost{To: max(was.Next, was.Lost.To, m.Lost.To)}
		t.Marks[n] = m.settled()
	}
	return t, nil
}

// find gathers from the summaries of main how far a topic had come. It is complete when no older snapshot could add to it.
func (h History) find(name string, gone *Topic) (t *Topic, complete bool, err error) {
	t = &Topic{Source: gone.Source, Name: gone.Name, Cluster: gone.Cluster, Marks: map[int32]Mark{}}
	ranges := moved + gone.Source + "." + gone.Name
	for _, s := range h.Snapshots {
		if text := s.Summary[name]; text != "" {
			whole, err := read(text)
			if err != nil {
				return nil, false, fmt.Errorf("read %s in the summary of snapshot %d: %w", name, s.ID, err)
			}
			maps.Copy(whole.Marks, t.Marks)
			t.Marks, t.Snapshot, t.Sequence = whole.Marks, s.ID, s.Sequence
			return t, true, nil
		}
		if text := s.Summary[ranges]; text != "" {
			r, err := readRanges(text)
			if err != nil {
				return nil, false, fmt.Errorf("read %s in the summary of snapshot %d: %w", ranges, s.ID, err)
			}
			for i, n := range r.Partitions {
				if _, newer := t.Marks[n]; !newer {
					t.Marks[n] = Mark{Next: r.Next[i], Time: gone.Marks[n].Time}
				}
			}
		}
	}
	return t, h.Complete, nil
}
