package trial

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/frazil/frazil/internal/local/fault"
	"golang.org/x/sync/errgroup"
)

// Process is what applies records: a function, or a drain.
type Process interface {
	// Deliver has some records applied, and meets faults on the way: fault.ErrKilled where one of them ends the process, a *fault.Unmet
	// where there was no such request.
	Deliver(ctx context.Context, steps []Step, faults ...fault.Fault) error
	Kill()
}

// Run plays the trial with the processes that start makes.
func (t *Trial) Run(ctx context.Context, start func(context.Context) (Process, error)) error {
	if err := t.open(ctx); err != nil {
		return err
	}
	defer t.Parts.Close()
	warm, err := start(ctx)
	if err != nil {
		return err
	}
	defer warm.Kill()
	if t.Script[0].At != fault.Reload { // which is what a process does first
		if err := warm.Deliver(ctx, first); err != nil {
			return fmt.Errorf("before the fault: %w", err)
		}
	}
	if err := t.meet(ctx, warm); err != nil {
		return fmt.Errorf("with the fault: %w", err)
	}
	if err := t.again(ctx, warm, start); err != nil {
		return fmt.Errorf("delivered again: %w", err)
	}
	if err := t.check(ctx, first, second); err != nil {
		return fmt.Errorf("delivered again: %w", err)
	}
	last, err := start(ctx)
	if err != nil {
		return err
	}
	defer last.Kill()
	if err := last.Deliver(ctx, third); err != nil {
		return fmt.Errorf("afterwards: %w", err)
	}
	return t.check(ctx, first, second, third)
}

// meet delivers the second chapter to the fault. Whatever comes of it: all of it is in, or nothing; and all of it when no
// error says otherwise.
func (t *Trial) meet(ctx context.Context, p Process) error {
	chapters := [][]Step{second}
	if t.Script[0].At == fault.Reload {
		chapters = [][]Step{first, second}
	}
	err := p.Deliver(ctx, slices.Concat(chapters...), t.Script...)
	var unmet *fault.Unmet
	if errors.As(err, &unmet) {
		return unmet
	}
	got, readErr := t.rows(ctx)
	if readErr != nil {
		return readErr
	}
	if t.Batches { // without an error, too: what the time does not suffice for is left
		return t.inParts(ctx, got)
	}
	before, after := tableAfter(first), tableAfter(first, second)
	if len(chapters) == 2 {
		before = tableAfter()
	}
	if !slices.Equal(got, after) && (err == nil || !slices.Equal(got, before)) {
		return fmt.Errorf("the table has %q; the invocation said: %w", got, err)
	}
	return nil
}

// inParts checks that rows are those that the ledger speaks of.
func (t *Trial) inParts(ctx context.Context, rows []string) error {
	report, err := t.auditor.Audit(ctx)
	if err != nil {
		return err
	}
	if want := tableAt(report.Ledger); !slices.Equal(rows, want) || len(report.Faults) > 0 {
		return fmt.Errorf("the table has %q, and by its ledger %v it should have %q; %q", rows, report.Ledger, want, report.Faults)
	}
	return nil
}

// again delivers everything again, as Lambda does until it has succeeded.
func (t *Trial) again(ctx context.Context, warm Process, start func(context.Context) (Process, error)) error {
	all := slices.Concat(first, second)
	if t.After == SameProcess {
		return warm.Deliver(ctx, all)
	}
	p, err := start(ctx)
	if err != nil {
		return err
	}
	defer p.Kill()
	if t.profile.Name == "s3tables" { // which cares for its files on its own
		if err := t.lake.Compact(ctx, "shop.orders"); err != nil {
			return err
		}
	}
	switch t.After {
	case OtherSlices:
		return errors.Join(p.Deliver(ctx, all[:4]), p.Deliver(ctx, all[2:7]), p.Deliver(ctx, all[5:]))
	case TwoAtOnce:
		other, err := start(ctx)
		if err != nil {
			return err
		}
		defer other.Kill()
		var g errgroup.Group
		g.Go(func() error { return other.Deliver(ctx, all) })
		return errors.Join(p.Deliver(ctx, all), g.Wait())
	}
	return p.Deliver(ctx, all)
}
