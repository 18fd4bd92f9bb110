package ingest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/frazil/frazil/internal/local/fault"
	"github.com/frazil/frazil/internal/local/stack"
	"golang.org/x/sync/errgroup"
)

// Who delivers again what a fault met.
const (
	sameProcess = "the same process"
	newProcess  = "a new process"
	otherSlices = "a new process in other slices"
	twoAtOnce   = "two new processes at once"
)

// trials are all faults that end no process, each with everybody who may deliver again. The faults that differ little from
// another one of their point take turns in that, as do the profiles of catalogs, encodings, and format versions. A reload is met
// where a delivery begins and behind a commit, which has landed or is not done.
func trials() (all []*trial) {
	for a, after := range []string{sameProcess, newProcess, otherSlices, twoAtOnce} {
		for k, kind := range fault.Kinds {
			for p, at := range fault.Points {
				f := fault.Fault{At: at, Kind: kind}
				if f.Check() != nil || f.Kills() { // killed_test.go
					continue
				}
				if kind == fault.Throttled && at != fault.Commit && at != fault.Reload { // a store does it as Unavailable
					continue
				}
				turn := (k+p)%4 == a
				if turn || at == fault.Commit || !slices.Contains([]fault.Kind{fault.Unavailable, fault.Throttled, fault.ThenHang}, kind) {
					all = append(all, newTrial(len(all), []fault.Fault{f}, after))
				}
				switch {
				case at == fault.Reload:
					commit := []fault.Kind{fault.ThenReset, fault.Unavailable}[(a+k)%2]
					all = append(all, newTrial(len(all), []fault.Fault{{At: fault.Commit, Kind: commit}, f}, after))
				case at == fault.Commit && turn:
					for _, profile := range stack.Profiles[1:] {
						all = append(all, newTrial(len(all), []fault.Fault{f}, after).at(profile))
					}
				}
			}
		}
	}
	return all
}

func newTrial(n int, script []fault.Fault, after string) *trial {
	t := &trial{script: script, after: after, deletes: []string{"position", "equality", "rewrite", "auto"}[n%4], version: 2 + n/4%2, care: n / 8 % len(cares)}
	if script[0].At == fault.Deletes && t.deletes != "equality" { // the others need not write any
		t.deletes = "position"
	}
	return t
}

// at has a trial played by a catalog and store of a profile.
func (t *trial) at(p stack.Profile) *trial {
	t.profile, t.version = p, min(t.version, p.Newest)
	return t
}

// TestNoFaultLosesOrRepeatsARecord is P1 and P4 for every fault of every request: the table is one or the other whole, and
// is right once the records were delivered again, by whomever.
func TestNoFaultLosesOrRepeatsARecord(t *testing.T) {
	t.Parallel()
	all := trials()
	slices.SortStableFunc(all, func(a, b *trial) int { return b.waits() - a.waits() }) // seconds, which others can use
	play(t, 16, all, func(trial *trial) error { return trial.run(t.Context(), trial.inProcess) })
}

// play runs trials, some at a time.
func play(t *testing.T, atOnce int, all []*trial, run func(*trial) error) {
	t.Helper()
	errs := make([]error, len(all))
	var g errgroup.Group
	g.SetLimit(atOnce)
	for i, trial := range all {
		g.Go(func() error {
			errs[i] = run(trial)
			return nil
		})
	}
	_ = g.Wait() // the errors are in errs
	for i, err := range errs {
		if err != nil {
			t.Errorf("%s:\n%v", all[i], err)
		}
	}
	t.Logf("%d trials", len(all))
}

// run plays a trial with the processes that start makes.
func (t *trial) run(ctx context.Context, start func(context.Context) (process, error)) error {
	if err := t.open(ctx); err != nil {
		return err
	}
	defer t.parts.Close()
	warm, err := start(ctx)
	if err != nil {
		return err
	}
	defer warm.Kill()
	if t.script[0].At != fault.Reload { // which is what a process does first
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
func (t *trial) meet(ctx context.Context, p process) error {
	chapters := [][]step{second}
	if t.script[0].At == fault.Reload {
		chapters = [][]step{first, second}
	}
	err := p.Invoke(ctx, eventOf(slices.Concat(chapters...)), t.script...)
	var unmet *fault.Unmet
	if errors.As(err, &unmet) {
		return unmet
	}
	got, readErr := t.rows(ctx)
	if readErr != nil {
		return readErr
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

// again delivers everything again, as Lambda does until it has succeeded.
func (t *trial) again(ctx context.Context, warm process, start func(context.Context) (process, error)) error {
	all := slices.Concat(first, second)
	if t.after == sameProcess {
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
	switch t.after {
	case otherSlices:
		return errors.Join(t.applied(ctx, p, all[:4]), t.applied(ctx, p, all[2:7]), t.applied(ctx, p, all[5:]))
	case twoAtOnce:
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
