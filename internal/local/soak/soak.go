package soak

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// Options say how long a soak is.
type Options struct {
	Faulted int    // the invocations that have to meet a fault
	Seed    uint64 // of the first round; each has a seed of its own, one above the last
	Rounds  int    // ends after so many rounds, however many faults they met; 0: does not matter
	Out     io.Writer
}

// ErrDiffers is a table that is not as it has to be. It is printed.
var ErrDiffers = errors.New("a table differs")

// Run plays rounds until enough invocations have met a fault, or a table differs from its oracle.
func Run(ctx context.Context, o Options) error {
	began := time.Now()
	total := &figures{counts: map[string]int{}}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(4 * runtime.GOMAXPROCS(0)) // most of them wait, for deadlines and for pauses to end
	for n := 0; total.faulted() < o.Faulted && (o.Rounds == 0 || n < o.Rounds) && ctx.Err() == nil; n++ {
		g.Go(func() error {
			r := newRound(o.Seed + uint64(n))
			err := r.play(ctx)
			switch {
			case ctx.Err() != nil: // another one differs, or somebody has had enough
				return ctx.Err()
			case err != nil:
				fmt.Fprintf(o.Out, "seed %d differs: %v\nits last steps:\n%s\nagain: go run ./localstack soak -seed %d -rounds 1\n", r.seed, err, r.tail(), r.seed)
				return ErrDiffers
			}
			total.add(r.figures)
			return nil
		})
	}
	err := g.Wait()
	total.print(o.Out, time.Since(began))
	return err
}

// figures count what happened.
type figures struct {
	mu     sync.Mutex
	counts map[string]int
}

const (
	invocations = "invocations"
	faulted     = "faulted invocations"
)

func (f *figures) count(what string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.counts[what]++
}

func (f *figures) add(o *figures) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for what, n := range o.counts {
		f.counts[what] += n
	}
}

func (f *figures) faulted() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.counts[faulted]
}

func (f *figures) print(out io.Writer, took time.Duration) {
	for _, what := range slices.Sorted(maps.Keys(f.counts)) {
		fmt.Fprintf(out, "%8d  %s\n", f.counts[what], what)
	}
	fmt.Fprintf(out, "%8.1f  invocations a second\n", float64(f.counts[invocations])/took.Seconds())
}
