package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"

	"github.com/frazil/frazil/internal/commit"
	"github.com/frazil/frazil/internal/kafka"
	"github.com/frazil/frazil/internal/ledger"
	"github.com/frazil/frazil/internal/report"
	"github.com/frazil/frazil/internal/rows"
)

// firsts are the first records of the delivery's partitions.
func (s *share) firsts() iter.Seq[routed] {
	return func(yield func(routed) bool) {
		var part *kafka.Partition
		for _, r := range s.records {
			if r.Part != part && !yield(r) {
				return
			}
			part = r.Part
		}
	}
}

// begin is where the delivery begins in the partition of its first record: there, or before it, where a reader has met no
// records.
func (s *share) begin(first routed) int64 {
	if r, ok := s.read[*first.Part]; ok {
		return min(r.From, first.Offset)
	}
	return first.Offset
}

// follow refuses a delivery that leaves out records which are not to be left out (P1, rule 16).
func (s *share) follow() error {
	var errs []error
	for r := range s.firsts() {
		errs = append(errs, cmp.Or(s.ledger.Follows(r.Part, s.begin(r), s.config.Routes[r.route].Dense), s.readOn(r)))
	}
	return errors.Join(errs...)
}

// readOn refuses what a reader has read in time of a table that was then taken back: it begins neither at the ledger nor where
// the process has come to. What is in between is to be read first.
func (s *share) readOn(first routed) error {
	_, reader := s.read[*first.Part]
	mark, known := s.ledger.Mark(first.Part)
	from, begin := max(mark.Next, s.passed[*first.Part]), s.begin(first)
	if !reader || !known || begin <= from {
		return nil
	}
	return fmt.Errorf("%s: the table does not have the offsets %d to %d any more, which come first: its ledger was set back meanwhile",
		kafka.Ref{Part: first.Part, Offset: begin}, from, begin-1)
}

// largestEvent is the number of records that an event of Lambda's may have.
const largestEvent = 10_000

// obliged reports whether the ledger has to move although nothing changes: where every offset counts, what follows is
// measured by it. Where there is so much of it, who begins at the ledger is not to read it each time. And where others have
// changed the table it may be their doing that nothing changed.
func (s *share) obliged() bool {
	if len(s.records) > largestEvent {
		return true
	}
	since := commit.History(s.head).SinceOthers()
	for r := range s.firsts() {
		if s.config.Routes[r.route].Dense || s.ledger.Owes(r.Part) || len(s.batch.Entries) > 0 && s.ledger.Behind(r.Part, since) {
			return true
		}
	}
	return false
}

// hole is a run of offsets that were not delivered. Compaction and transactions leave lawful ones.
type hole struct {
	part     *kafka.Partition
	from, to int64
	// By this process from both sides, or where every delivery moves the ledger: those without effect explain no such hole.
	seen bool
}

// holes are those between what went before and this delivery; inside a delivery they are not measured (rule 16).
func (s *share) holes() (out []hole) {
	for r := range s.firsts() {
		mark, known := s.ledger.Mark(r.Part)
		next, seen := s.passed[*r.Part]
		if from := max(next, mark.Next); (known || seen) && from < s.begin(r) {
			out = append(out, hole{r.Part, from, s.begin(r) - 1, seen && next >= mark.Next || s.ledger.Owes(r.Part)})
		}
	}
	return out
}

// rewind forgets how far partitions went whose ledger was set back, by a roll-back or its owner: their records come again.
func (t *target) rewind(before *ledger.Ledger) {
	for p := range t.passed {
		was, _ := before.Mark(&p)
		if is, _ := t.ledger.Mark(&p); is.Next < was.Next {
			delete(t.passed, p)
		}
	}
}

// pass remembers how far a delivery went that is done, and tells of the holes before it.
func (s *share) pass(ctx context.Context, holes []hole) {
	for i, r := range s.records {
		if i+1 == len(s.records) || s.records[i+1].Part != r.Part { // the last of a partition, mostly
			s.passed[*r.Part] = max(s.passed[*r.Part], r.Offset+1, s.read[*r.Part].Next)
		}
	}
	for _, h := range holes {
		attrs := []slog.Attr{slog.String("topic", h.part.Topic), slog.Int("partition", int(h.part.Number)), slog.Int64("from", h.from), slog.Int64("to", h.to)}
		level := slog.LevelInfo
		if h.seen {
			level = slog.LevelWarn
			attrs = append(attrs, report.Attrs(s.now(), report.Holes(1))...)
		}
		s.log.LogAttrs(ctx, level, "offsets were not delivered", attrs...)
	}
}

// sharing counts the keys that changes of several partitions are about. They are applied in the order of the partitions,
// which need not be that of the source (rule 10).
type sharing struct {
	of   []*kafka.Partition // by key; nil: it has no change yet
	keys int
}

// counted takes the place of a key's partition once the key is counted.
var counted = &kafka.Partition{}

// reserve makes room for so many keys.
func (s *sharing) reserve(n int) { s.of = make([]*kafka.Partition, 0, n) }

// note takes in changes of a partition.
func (s *sharing) note(p *kafka.Partition, changes []rows.Entry) {
	for _, e := range changes {
		s.meet(e.Key, p)
	}
}

// meet takes in that a partition has a change of a key, or that the key is counted.
func (s *sharing) meet(key rows.Key, p *kafka.Partition) {
	for int(key) >= len(s.of) {
		s.of = append(s.of, nil)
	}
	switch was := s.of[key]; {
	case was == p || was == counted:
	case was == nil && p != counted:
		s.of[key] = p
	default:
		s.of[key] = counted
		s.keys++
	}
}

// warn says so once in a process's life.
func (s *share) warn(ctx context.Context) {
	if s.sharing.keys > 0 && !s.warned {
		s.warned = true
		s.log.LogAttrs(ctx, slog.LevelWarn, "keys have changes in several partitions, which are applied in the order of the partitions",
			slog.Int("keys", s.sharing.keys))
	}
}
