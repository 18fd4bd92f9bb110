package ingest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/frazil/frazil/internal/cluster"
	"github.com/frazil/frazil/internal/coerce"
	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/deadletter"
	"github.com/frazil/frazil/internal/kafka"
	"github.com/frazil/frazil/internal/warehouse"
)

// rejection is one record and why it cannot be applied.
type rejection struct {
	*kafka.Record
	err error
}

// badRecords are records that cannot be applied.
type badRecords struct {
	all []rejection
	so  string // what follows
}

// shown is how many bad records an error names; the rest is counted.
const shown = 10

func (b *badRecords) Error() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%d record(s) cannot be applied, %s", len(b.all), b.so)
	for i, r := range b.all {
		if i == shown {
			fmt.Fprintf(&s, "\n… and %d more", len(b.all)-shown)
			break
		}
		fmt.Fprintf(&s, "\n%s: %v", r.Ref(), r.err)
	}
	return s.String()
}

// CutOff says that a delivery was applied, but for some partitions only up to a record that cannot be.
type CutOff struct {
	badRecords
	First []kafka.Ref // of each of these partitions the first record that was not applied
}

// cutOff is the *CutOff of a delivery whose partitions were cut, nil when none was.
func cutOff(ctx context.Context, shares []*share) error {
	out := &CutOff{badRecords: badRecords{so: "and their partitions end before them"}}
	for _, s := range shares {
		own := CutOff{badRecords: badRecords{slices.Collect(maps.Values(s.cut)), out.so}}
		if len(own.all) > 0 {
			s.fail(ctx, &own)
		}
		out.all = append(out.all, own.all...)
	}
	if len(out.all) == 0 {
		return nil
	}
	slices.SortFunc(out.all, func(a, b rejection) int { return strings.Compare(a.Ref().String(), b.Ref().String()) })
	for _, r := range out.all {
		out.First = append(out.First, r.Ref())
	}
	return out
}

// judge says what becomes of the records of a delivery that cannot be applied, over all its tables and before any of
// them is written (rule 18).
func (p *Pipeline) judge(shares []*share) error {
	bad := &badRecords{so: "so nothing of the delivery is committed"}
	for _, s := range shares {
		bad.all = append(bad.all, s.rejected...)
	}
	switch {
	case len(bad.all) == 0:
		return nil
	case p.config.DeadLetter.To != "":
		return refuseLetters(p.config.DeadLetter, shares)
	case !p.config.ReportFailures:
		return bad
	}
	for _, s := range shares {
		if err := s.cutAtBad(); err != nil {
			return fmt.Errorf("table %s: %w", s.name, err)
		}
	}
	return nil
}

// refuseLetters refuses dead letters that are no accident (rule 20).
func refuseLetters(letters config.DeadLetter, shares []*share) error {
	bad, total := &badRecords{}, 0
	for _, s := range shares {
		bad.all = append(bad.all, s.rejected...)
		total += len(s.records) - s.skipped
	}
	if total >= letters.MinRecords && float64(len(bad.all)) > letters.MaxRatio*float64(total) {
		bad.so = fmt.Sprintf("of %d: too many for dead letters (max_ratio), so the delivery fails", total)
		return bad
	}
	return wrongFromTheStart(shares)
}

// wrongFromTheStart refuses dead letters for a topic of which every record is bad and none was ever applied: that is a
// wrong configuration, which must not drain the topic (rule 20).
func wrongFromTheStart(shares []*share) error {
	for _, s := range shares {
		good, bad, isBad := map[string]bool{}, map[string][]rejection{}, map[kafka.Ref]bool{}
		for _, r := range s.rejected {
			bad[r.Part.Topic] = append(bad[r.Part.Topic], r)
			isBad[r.Ref()] = true
		}
		for _, r := range s.records {
			good[r.Part.Topic] = good[r.Part.Topic] || !isBad[r.Ref()]
		}
		for topic, list := range bad {
			if !good[topic] && !s.ledger.Knows(list[0].Part) {
				return &badRecords{list, "as are all of topic " + topic + " so far: the configuration will be wrong, so nothing of the delivery is committed"}
			}
		}
	}
	return nil
}

// cutAtBad ends each partition before its first bad record.
func (s *share) cutAtBad() error {
	if s.cut == nil {
		s.cut = map[*kafka.Partition]rejection{}
	}
	for _, r := range s.rejected {
		if first, ok := s.cut[r.Part]; !ok || r.Offset < first.Offset {
			s.cut[r.Part] = r
		}
		if read, ok := s.read[*r.Part]; ok {
			s.read[*r.Part] = kafka.Range{Part: r.Part, From: read.From, Next: min(read.Next, r.Offset)}
		}
	}
	s.records = slices.DeleteFunc(s.records, func(r routed) bool {
		first, ok := s.cut[r.Part]
		return ok && r.Offset >= first.Offset
	})
	return s.decode()
}

// rejudge is judge for records that turned out to be bad once the table was looked at, or on a new head: other tables may have
// been written by then.
func (s *share) rejudge() error {
	switch {
	case len(s.rejected) == 0:
		return nil
	case s.config.DeadLetter.To != "":
		return refuseLetters(s.config.DeadLetter, []*share{s})
	case s.config.ReportFailures:
		return s.cutAtBad()
	}
	return &badRecords{s.rejected, "as the table is now, so nothing of the delivery is committed to it"}
}

// classify says what kind of reason refused a record, and which column it is about.
func classify(err error) (class, column string) {
	var misfit *coerce.Error
	switch {
	case !errors.As(err, &misfit):
		return deadletter.Message, ""
	case misfit.Column == "":
		return deadletter.Row, ""
	}
	return deadletter.Column, misfit.Column
}

// sink is where dead letters go: a topic, or objects that are written as the catalog's own are.
func (p *Pipeline) sink(ctx context.Context, c Catalog) (deadletter.Sink, error) {
	topic := p.config.DeadLetter.Topic()
	if topic == "" {
		return deadletter.Objects{Write: c.Write, Prefix: p.config.DeadLetter.To}, nil
	}
	if p.topic == nil {
		account, err := warehouse.OpenAccount(ctx)
		if err != nil {
			return nil, err
		}
		client, err := cluster.Open(ctx, p.config.Sources[kafka.MainSource], account)
		if err != nil {
			return nil, fmt.Errorf("open source %s: %w", kafka.MainSource, err)
		}
		p.topic = &cluster.Letters{Kafka: client, Topic: topic}
	}
	return p.topic, nil
}

// bury writes the dead letters of the rejected records, each once in a delivery. They are there before the snapshot that
// passes over their records.
func (s *share) bury(ctx context.Context) error {
	var letters []deadletter.Letter
	for _, r := range s.rejected {
		if s.buried[r.Ref()] {
			continue
		}
		l := deadletter.New(r.Record)
		l.Table, l.Reason, l.At, l.Version = s.name.String(), r.err.Error(), s.now().UTC(), deadletter.Version()
		l.Class, l.Column = classify(r.err)
		letters = append(letters, l)
	}
	if len(letters) == 0 {
		return nil
	}
	if err := s.letters.Bury(ctx, letters); err != nil {
		return fmt.Errorf("write %d dead letter(s) to %s: %w", len(letters), s.config.DeadLetter.To, err)
	}
	if s.buried == nil {
		s.buried = map[kafka.Ref]bool{}
	}
	for _, r := range s.rejected {
		s.buried[r.Ref()] = true
	}
	return nil
}
