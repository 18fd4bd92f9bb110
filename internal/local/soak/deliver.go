package soak

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/frazil/frazil/internal/local/fault"
	"github.com/frazil/frazil/internal/local/source"
	"github.com/twmb/franz-go/pkg/kgo"
)

// slice is the records of one partition in a delivery: from an offset on, up to another.
type slice struct {
	*part
	from, to int64
}

func (s slice) String() string { return fmt.Sprintf("%s[%d,%d)", s.name(), s.from, s.to) }

// slices are a delivery: of some partitions some records, from at or below the oracle's ledger on.
func (r *round) slices(of []*part) (all []slice) {
	for _, p := range of {
		if r.IntN(4) == 0 {
			continue
		}
		from := p.table.next[p.name()]
		from -= r.Int64N(min(from, 4) + 1)
		to := from + 1 + r.Int64N(8)
		for int64(len(p.events)) < to {
			p.grow(r.Rand)
		}
		all = append(all, slice{p, from, to})
	}
	if len(all) == 0 {
		return r.slices(of)
	}
	return all
}

// faults are what the next invocation meets.
func (r *round) faults() (script []fault.Fault) {
	for n := r.IntN(10); n < 9; n += 6 { // seldom none, mostly one, else two
		f := fault.Fault{At: fault.Commit, Kind: pick(r, fault.Kinds...)}
		if r.IntN(2) == 0 {
			f.At = pick(r, fault.Points...)
		}
		if f.Check() != nil {
			continue
		}
		if f.At == fault.Commit && (f.Kind == fault.Hang || f.Kind == fault.ThenHang) && r.IntN(40) > 0 {
			continue // it takes seconds
		}
		script = append(script, f)
	}
	return script
}

// invoke has a process apply a delivery. It counts the faults that were met; those that were not are nobody's fault.
func (r *round) invoke(ctx context.Context, p *fault.Process, all []slice, script ...fault.Fault) error {
	var records []*kgo.Record
	for _, s := range all {
		for _, e := range s.events[s.from:s.to] {
			records = append(records, e.record)
		}
	}
	event, err := source.Event(records, source.Origin{Brokers: "soak:9092"})
	if err != nil {
		return err
	}
	err = p.Invoke(ctx, event, script...)
	r.figures.count(invocations)
	met := script[:len(script)-len(p.Left())]
	if len(met) > 0 {
		r.figures.count(faulted)
	}
	for _, f := range met {
		r.figures.count(fmt.Sprintf("faults: %s %s", f.At, f.Kind))
	}
	if err != nil {
		r.figures.count("failed invocations")
	}
	var unmet *fault.Unmet
	if errors.As(err, &unmet) {
		return unmet.Result
	}
	return err
}

// alone is one invocation, perhaps with another writer in its way.
func (r *round) alone(ctx context.Context) error {
	i := r.IntN(len(r.running))
	all, script := r.slices(r.sources), r.faults()
	meanwhile := error(nil)
	if r.IntN(8) == 0 {
		r.running[i].Between(func(path string) { meanwhile = r.meanwhile(ctx, path) })
	}
	r.note("process %d: %v meets %v", i, all, script)
	err := r.invoke(ctx, r.running[i], all, script...)
	r.running[i].Between(nil)
	r.note("  -> %v", err)
	if meanwhile != nil {
		return meanwhile
	}
	if err != nil && len(script) == 0 {
		return fmt.Errorf("an invocation without a fault failed: %w", err)
	}
	if r.late = nil; err != nil {
		r.late = func(ctx context.Context) error { return r.settle(ctx, all, err) }
	}
	if err := r.settle(ctx, all, err); err != nil {
		return err
	}
	return r.revive()
}

// atOnce is two invocations at the same time: of the same records, or of those of other partitions.
func (r *round) atOnce(ctx context.Context) error {
	first := r.slices(r.sources)
	second := first
	if cut := r.IntN(len(r.sources)); cut > 0 && r.IntN(2) == 0 {
		first, second = r.slices(r.sources[:cut]), r.slices(r.sources[cut:])
	}
	scripts := [][]fault.Fault{r.faults(), r.faults()}
	r.note("at once: %v meets %v, %v meets %v", first, scripts[0], second, scripts[1])
	results := make(chan error)
	go func() { results <- r.invoke(ctx, r.running[1], second, scripts[1]...) }()
	err := r.invoke(ctx, r.running[0], first, scripts[0]...)
	other := <-results
	r.note("  -> %v; %v", err, other)
	if err != nil && len(scripts[0]) == 0 || other != nil && len(scripts[1]) == 0 {
		return fmt.Errorf("an invocation without a fault failed: %w", errors.Join(err, other))
	}
	r.figures.count("invocations at once: pairs")
	if err == nil || other != nil { // what failed may be in all the same
		first, second, err, other = second, first, other, err
	}
	both := func(ctx context.Context) error {
		return errors.Join(r.settle(ctx, first, err), r.settle(ctx, second, other))
	}
	if r.late = nil; err != nil || other != nil {
		r.late = both
	}
	if err := both(ctx); err != nil {
		return err
	}
	return r.revive()
}

// settle brings the oracles up to a delivery. When it failed, the ledger of each table tells whether it is in there, all of
// it or nothing.
func (r *round) settle(ctx context.Context, all []slice, failed error) error {
	for _, t := range r.tables {
		ledger, err := t.auditor.Ledger(ctx)
		if err != nil {
			return err
		}
		var own, moved []slice
		for _, s := range all {
			if s.table != t {
				continue
			}
			t.touched = true
			if s.to > t.next[s.name()] {
				own = append(own, s)
				if ledger[s.name()] >= s.to {
					moved = append(moved, s)
				} else if ledger[s.name()] > t.next[s.name()] {
					return fmt.Errorf("%s: a part of %s is in: the ledger expects %d", t.spec.Name, s, ledger[s.name()])
				}
			}
		}
		switch {
		case len(moved) > 0 && len(moved) < len(own):
			return fmt.Errorf("%s: of %v only %v are in", t.spec.Name, own, moved)
		case len(moved) == 0 && failed != nil:
			continue
		}
		for _, s := range own {
			for _, e := range s.events[t.next[s.name()]:s.to] {
				t.apply(e)
			}
			if len(moved) > 0 { // a delivery without effect moves no ledger
				t.next[s.name()] = s.to
			}
		}
	}
	return nil
}

// revive replaces the processes that were killed.
func (r *round) revive() error {
	for i, p := range r.running {
		if p.Dead() {
			r.figures.count("processes killed")
			if err := r.replace(i); err != nil {
				return err
			}
		}
	}
	return nil
}

// letters looks for the dead letters of all bad records, whole, and of no others.
func (r *round) letters() error {
	bad, found := map[string][]byte{}, map[string]bool{}
	for _, p := range r.sources {
		for _, e := range p.events {
			if e.bad {
				bad[fmt.Sprintf("%s at %d", p.name(), e.record.Offset)] = e.record.Value
			}
		}
	}
	letters, err := r.parts.Letters("dead/")
	if err != nil {
		return err
	}
	for _, l := range letters {
		at := fmt.Sprintf("%s-%d at %d", l.Topic, l.Partition, l.Offset)
		if value, is := bad[at]; !is || !bytes.Equal(value, l.Value) {
			return fmt.Errorf("there is a dead letter of %s, which is not bad, or with another value", at)
		}
		found[at] = true
	}
	var missing []string
	for at := range bad {
		if !found[at] {
			missing = append(missing, at)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("there are no dead letters of %s", strings.Join(missing, ", "))
	}
	return nil
}
