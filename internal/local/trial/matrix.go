package trial

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/frazil/frazil/internal/local/fault"
	"github.com/frazil/frazil/internal/local/stack"
	"golang.org/x/sync/errgroup"
)

// Process is what applies records: a function, or a drain.
type Process interface {
	// Deliver has some records applied, and meets faults on the way: fault.ErrKilled where one of them ends the process, a *fault.Unmet
	// where there was no such request.
	Deliver(ctx context.Context, steps []Step, faults ...fault.Fault) error
	Kill()
}

// Afters are all who may deliver again.
var Afters = []string{SameProcess, NewProcess, OtherSlices, TwoAtOnce}

// Who delivers again what a fault met.
const (
	SameProcess = "the same process"
	NewProcess  = "a new process"
	OtherSlices = "a new process in other slices"
	TwoAtOnce   = "two new processes at once"
)

// Matrix are all faults, but for those that end a process unless kills says so, each with everybody who may deliver again. The
// faults that differ little from another one of their point take turns in that, as do the profiles of catalogs, encodings, and format
// versions. A reload is met where a delivery begins and behind a commit, which has landed or is not done.
func Matrix(kills bool) (all []*Trial) {
	for a, after := range Afters {
		for k, kind := range fault.Kinds {
			for p, at := range fault.Points {
				f := fault.Fault{At: at, Kind: kind}
				if f.Check() != nil || f.Kills() && (!kills || after == SameProcess) {
					continue
				}
				if kind == fault.Throttled && at != fault.Commit && at != fault.Reload { // a store does it as Unavailable
					continue
				}
				turn := (k+p)%4 == a
				if turn || at == fault.Commit || !slices.Contains([]fault.Kind{fault.Unavailable, fault.Throttled, fault.ThenHang}, kind) {
					all = append(all, New(len(all), []fault.Fault{f}, after))
				}
				switch {
				case at == fault.Reload:
					commit := []fault.Kind{fault.ThenReset, fault.Unavailable}[(a+k)%2]
					all = append(all, New(len(all), []fault.Fault{{At: fault.Commit, Kind: commit}, f}, after))
				case at == fault.Commit && turn:
					for _, profile := range stack.Profiles[1:] {
						all = append(all, New(len(all), []fault.Fault{f}, after).at(profile))
					}
				}
			}
		}
	}
	return all
}

// New is trial n of a script: the number chooses what the trials take turns in.
func New(n int, script []fault.Fault, after string) *Trial {
	t := &Trial{Script: script, After: after, Deletes: []string{"position", "equality", "rewrite", "auto"}[n%4], Version: 2 + n/4%2, care: n / 8 % len(Cares), produced: map[int32]int64{}}
	if script[0].At == fault.Deletes && t.Deletes != "equality" { // the others need not write any
		t.Deletes = "position"
	}
	return t
}

// at has a trial played by a catalog and store of a profile.
func (t *Trial) at(p stack.Profile) *Trial {
	t.profile, t.Version = p, min(t.Version, p.Newest)
	return t
}

// Play runs trials, some at a time, and returns what went wrong in each that did.
func Play(atOnce int, all []*Trial, run func(*Trial) error) error {
	all = slices.SortedStableFunc(slices.Values(all), func(a, b *Trial) int { return b.waits() - a.waits() }) // seconds, which others can use
	errs := make([]error, len(all))
	var g errgroup.Group
	g.SetLimit(atOnce)
	for i, t := range all {
		g.Go(func() error {
			if err := run(t); err != nil {
				errs[i] = fmt.Errorf("%s:\n%w", t, err)
			}
			return nil
		})
	}
	_ = g.Wait() // the errors are in errs
	return errors.Join(errs...)
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
		if err := t.applied(ctx, warm, first); err != nil {
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
	if err := t.applied(ctx, last, third); err != nil {
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
		return t.applied(ctx, warm, all)
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
		return errors.Join(t.applied(ctx, p, all[:4]), t.applied(ctx, p, all[2:7]), t.applied(ctx, p, all[5:]))
	case TwoAtOnce:
		other, err := start(ctx)
		if err != nil {
			return err
		}
		defer other.Kill()
		var g errgroup.Group
		g.Go(func() error { return t.applied(ctx, other, all) })
		return errors.Join(t.applied(ctx, p, all), g.Wait())
	}
	return t.applied(ctx, p, all)
}
