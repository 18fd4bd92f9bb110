package ingest

import (
	"context"
	"fmt"

	"github.com/apache/iceberg-go/table"
	"github.com/frazil/frazil/internal/commit"
	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/lease"
)

// load takes the table's current state. It may be another reader's by then, who sees to the records too.
func (s *share) load(ctx context.Context) error {
	if err := s.target.load(ctx); err != nil || s.claim == nil {
		return err
	}
	return s.claim.Free(s.head.Properties())
}

// note has an attempt say who reads the records.
func (s *share) note(a *commit.Attempt) {
	if s.claim == nil {
		return
	}
	if !s.last {
		a.Note(s.claim.Property, s.claim.Text())
	} else if _, there := s.head.Properties()[s.claim.Property]; there {
		a.Note(s.claim.Property, "")
	}
}

// Free is a *lease.Taken if a table, as this process saw it last, is another holder's.
func (p *Pipeline) Free(table config.Table, c *lease.Claim) error {
	if t := p.known(table); t != nil && t.seen.Load() != nil {
		return c.Free(t.seen.Load().Properties())
	}
	return nil
}

// known is a table that was opened; nil: it was not.
func (p *Pipeline) known(table config.Table) *target {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.tables[table.String()]
}

// Release ends the lease that a table, as this process saw it last, has of c. It asserts nothing of the table but that it is the
// same one: to end a lease that is another one's by now costs work, and no row.
func (p *Pipeline) Release(ctx context.Context, name config.Table, c *lease.Claim) error {
	t := p.known(name)
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	seen := t.seen.Load()
	if seen == nil || !c.Held(seen.Properties()) {
		return nil
	}
	after, err := t.catalog.Commit(ctx, seen, []table.Requirement{table.AssertTableUUID(seen.Metadata().TableUUID())},
		[]table.Update{table.NewRemovePropertiesUpdate([]string{c.Property})})
	if err != nil {
		return fmt.Errorf("end the lease of table %s: %w", name, err)
	}
	t.head = nil // others may have written the table, which is to be noticed
	if a, b := after.CurrentSnapshot(), seen.CurrentSnapshot(); a != nil && b != nil && a.SnapshotID == b.SnapshotID {
		t.seen.Store(after)
	}
	return nil
}
