package ingest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/frazil/frazil/internal/commit"
	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/ledger"
	"github.com/frazil/frazil/internal/stage"
)

// Ledger is what holds of a table's ledger.
func (p *Pipeline) Ledger(ctx context.Context, table config.Table) (*ledger.Ledger, error) {
	t, err := p.target(ctx, table)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.load(ctx); err != nil {
		return nil, fmt.Errorf("table %s: %w", table, err)
	}
	return t.ledger, nil
}

// Changes counts how often this process has found that others had changed a table, in whatever way. What it commits itself is no
// such change.
func (p *Pipeline) Changes(table config.Table) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if t := p.tables[table.String()]; t != nil {
		return t.changes.Load()
	}
	return 0
}

// MoveLedger changes a table's ledger on its owner's word, by a snapshot that changes no file. Others may write the table
// meanwhile: move is asked again for each head. An empty move ends it.
func (p *Pipeline) MoveLedger(ctx context.Context, table config.Table, move func(*ledger.Ledger, time.Time) (ledger.Move, error)) error {
	t, err := p.target(ctx, table)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	var last error
	for n := range maxAttempts {
		began := t.now()
		if err := t.load(ctx); err != nil {
			return fmt.Errorf("table %s: %w", table, err)
		}
		m, err := move(t.ledger, t.now())
		if err != nil || m.Empty() {
			return err
		}
		last = t.carry(ctx, m)
		if !errors.Is(last, commit.ErrRejected) && !errors.Is(last, commit.ErrUnknown) {
			return last
		}
		if err := commit.Pause(ctx, n+1, t.now().Sub(began)); err != nil {
			return errors.Join(err, last)
		}
	}
	return last
}

// carry commits a snapshot that changes nothing but the ledger.
func (t *target) carry(ctx context.Context, m ledger.Move) error {
	live, err := t.open(ctx)
	if err != nil {
		return err
	}
	a, err := commit.New(commit.Base{Table: t.head, Live: live}, &stage.Files{}, m, t.now())
	if err != nil {
		return err
	}
	_, err = a.Publish(ctx, t.catalog, t.catalog)
	return err
}
