package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/iceberg-go/catalog"
	"github.com/frazil/frazil/internal/kafka"
	"github.com/frazil/frazil/internal/lease"
	"github.com/frazil/frazil/internal/ledger"
)

// routed is a record and the index of its route.
type routed struct {
	*kafka.Record
	route int
}

// share is what a delivery has for a table, and what becomes of it.
type share struct {
	*target
	records []routed
	read    map[kafka.Partition]kafka.Range // what was read for them, where the deliverer knows
	ahead   *decoded                        // what was made of all records before the turn of the delivery; nil: nothing, or taken
	cores   int                             // to decode on
	claim   *lease.Claim                    // of who reads them; nil: of nobody
	last    bool                            // the lease is to end with the commit

	*decoded // the records that the ledger does not have
	spans    ledger.Spans
	skipped  int                            // records that the ledger has
	cut      map[*kafka.Partition]rejection // the first bad record of partitions that end there
	buried   map[kafka.Ref]bool             // records whose dead letters are written
	// Records that turned out to have no row in the head whose cells they could keep (rule 13).
	groundless map[kafka.Ref]error
	lost       int // attempts that lost against another writer
	unknown    int // and those of which nobody knew whether they landed
}

// decodeAhead decodes all records for the head that was seen last. It holds no lock: what it makes is used if nothing that it
// goes by is another when the turn of the delivery comes.
func (s *share) decodeAhead() {
	if head := s.seen.Load(); head != nil {
		s.ahead, _ = s.decodeFor(head, s.records) // what is wrong shows again
	}
}

// prepare makes the batch of the delivery: what the table's ledger does not have is decoded and coerced. Records
// that cannot be applied are gathered in rejected. None is refused or skipped by a head that may be old: the owner may
// have changed the table, or set its ledger back.
func (s *share) prepare(ctx context.Context) error {
	s.fresh = false
	last := s.head
	if last != nil && !s.crowded {
		if err := s.decode(); err == nil && len(s.rejected) == 0 && s.skipped == 0 {
			return nil
		}
	}
	err := s.load(ctx)
	switch {
	case errors.Is(err, catalog.ErrNoSuchTable): // the topic may be the wrong one as well
		return fmt.Errorf("%s: %w", s.records[0].Ref(), err)
	case err != nil:
		return err
	}
	s.crowded = s.crowded && (last == nil || s.head.MetadataLocation() != last.MetadataLocation())
	return s.decode()
}

// decode makes the batch of what the head's ledger does not have.
func (s *share) decode() error {
	s.decoded = &decoded{} // whatever comes, nothing of another head is left
	if err := s.follow(); err != nil {
		return err
	}
	records, err := s.sift()
	if err != nil {
		return err
	}
	ahead := s.ahead
	if s.ahead = nil; ahead != nil && s.skipped == 0 && ahead.fits(s.head) {
		s.decoded = ahead
		return nil
	}
	made, err := s.decodeFor(s.head, records)
	if err != nil {
		return err
	}
	s.decoded = made
	return nil
}

// sift returns the records that the ledger does not have, and notes how far it goes with them.
func (s *share) sift() ([]routed, error) {
	s.skipped, s.spans = 0, ledger.Spans{}
	var left []routed // once one is skipped
	var part *kafka.Partition
	var mark ledger.Mark
	var span ledger.Span
	for i, r := range s.records {
		if r.Part != part { // mostly they come partition by partition
			var err error
			if mark, err = s.ledger.MarkFor(r.Record); err != nil {
				return nil, err
			}
			s.spans.Put(part, span)
			part, span = r.Part, s.spans[*r.Part]
		}
		applied, err := mark.Check(r.Record)
		switch {
		case err != nil:
			return nil, err
		case applied && s.skipped == 0:
			left = slices.Clone(s.records[:i])
		}
		if applied {
			s.skipped++
			continue
		}
		span.Add(r.Record)
		if s.skipped > 0 {
			left = append(left, r)
		}
	}
	s.spans.Put(part, span)
	for p, span := range s.spans {
		span.Next, span.Time = max(span.Next, s.read[p].Next), max(span.Time, s.newest[p])
		s.spans[p] = span
	}
	if s.skipped == 0 {
		return s.records, nil
	}
	return left, nil
}
