package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"
)

// reader cuts the records of a consumer into batches.
type reader struct {
	client  *kgo.Client
	mapping *Mapping
	pending []*kgo.Record // read, and in no batch yet
}

// next waits for records and returns a batch of at least one.
func (r *reader) next(ctx context.Context) (*batch, error) {
	b := newBatch(r.mapping.origin(), cmp.Or(r.mapping.BatchSize, defaultBatch), cmp.Or(r.mapping.MaxBytes, MaxEvent))
	for len(r.pending) == 0 {
		if err := r.poll(ctx, b.maxRecords); err != nil {
			return nil, err
		}
	}
	window, cancel := context.WithTimeout(ctx, r.mapping.Window)
	defer cancel()
	for r.fill(b) && window.Err() == nil {
		if err := r.poll(window, b.maxRecords-len(b.records)); err != nil && ctx.Err() != nil {
			return nil, ctx.Err()
		} else if err != nil && !errors.Is(err, context.DeadlineExceeded) {
			return nil, err
		}
	}
	if len(b.records) == 0 {
		first := r.pending[0]
		return nil, fmt.Errorf("record at topic %s, partition %d, offset %d: %w", first.Topic, first.Partition, first.Offset, ErrTooLarge)
	}
	return b, nil
}

// fill moves pending records into b and reports whether b could take more.
func (r *reader) fill(b *batch) bool {
	for len(r.pending) > 0 {
		if !b.add(r.pending[0]) {
			return false
		}
		r.pending = r.pending[1:]
	}
	return len(b.records) < b.maxRecords
}

// poll appends up to n records to pending, waiting for the first.
func (r *reader) poll(ctx context.Context, n int) error {
	fetches := r.client.PollRecords(ctx, n)
	// What came with an error is kept: the client would not give it again.
	r.pending = append(r.pending, fetches.Records()...)
	if err := fetches.Err(); err != nil {
		return fmt.Errorf("read records: %w", err)
	}
	return nil
}
