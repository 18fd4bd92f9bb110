package source

import (
	"context"
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"
)

// progress is what the group has committed, for those who wait for it.
type progress struct {
	mu        sync.Mutex
	committed map[int32]int64
	changed   chan struct{} // closed and replaced at each change
}

// Drained waits until the mapping has committed at least the given next offsets, by partition. It returns ctx's error
// when ctx ends first, so end ctx when Run returns.
func (m *Mapping) Drained(ctx context.Context, ends map[int32]int64) error {
	for {
		reached, changed := m.progress.reached(ends)
		if reached {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (p *progress) reached(ends map[int32]int64) (bool, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.changed == nil {
		p.changed = make(chan struct{})
	}
	for partition, end := range ends {
		if p.committed[partition] < end {
			return false, p.changed
		}
	}
	return true, p.changed
}

func (p *progress) begin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.committed = map[int32]int64{}
}

func (p *progress) set(partition int32, next int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.committed[partition] = next
	if p.changed != nil {
		close(p.changed)
		p.changed = nil
	}
}

func (p *progress) advance(records []*kgo.Record) {
	last := map[int32]int64{}
	for _, r := range records {
		last[r.Partition] = r.Offset + 1
	}
	for partition, next := range last {
		p.set(partition, next)
	}
}
