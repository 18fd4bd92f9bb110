package trial

import (
	"errors"
	"fmt"
	"slices"

	"github.com/frazil/frazil/internal/local/fault"
	"github.com/frazil/frazil/internal/local/stack"
	"golang.org/x/sync/errgroup"
)

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

// Kills are trials in which a process ends when a request of its has arrived.
func Kills() (all []*Trial) {
	for _, at := range fault.Points {
		for i, after := range []string{NewProcess, OtherSlices, TwoAtOnce} {
			kinds := []fault.Kind{fault.Kill, fault.ThenKill}
			if at != fault.Commit { // of which both matter
				kinds = kinds[i%2:][:1]
			}
			for _, kind := range kinds {
				all = append(all, New(len(all), []fault.Fault{{At: at, Kind: kind}}, after))
			}
		}
	}
	for _, commit := range []fault.Kind{fault.ThenReset, fault.Unavailable} {
		all = append(all, New(len(all), []fault.Fault{{At: fault.Commit, Kind: commit}, {At: fault.Reload, Kind: fault.Kill}}, NewProcess))
	}
	return all
}

// New is trial n of a script: the number chooses what the trials take turns in.
func New(n int, script []fault.Fault, after string) *Trial {
	t := &Trial{Script: script, After: after, deletes: []string{"position", "equality", "rewrite", "auto"}[n%4], version: 2 + n/4%2, care: n / 8 % len(Cares), produced: map[int32]int64{}}
	if script[0].At == fault.Deletes && t.deletes != "equality" { // the others need not write any
		t.deletes = "position"
	}
	return t
}

// at has a trial played by a catalog and store of a profile.
func (t *Trial) at(p stack.Profile) *Trial {
	t.profile, t.version = p, min(t.version, p.Newest)
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
