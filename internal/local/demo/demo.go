package demo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/frazil/frazil/internal/local/scenario"
	"github.com/frazil/frazil/internal/local/source"
	"github.com/frazil/frazil/internal/local/stack"
	"golang.org/x/sync/errgroup"
)

// ErrDiffers says that a table did not come out as expected; what differs has been printed.
var ErrDiffers = errors.New("a table differs from its expected end")

// ErrInterrupted is the end that somebody asked for.
var ErrInterrupted = errors.New("interrupted")

// Options say how a demo or a stack runs.
type Options struct {
	Out       io.Writer
	Colour    bool
	Bootstrap string // a built function; empty: it is built
	Seeds     []Seed
	Document  string // a file that Up writes its configuration to, for what else works on its tables; empty: none
}

// delivered is what became of one seed's records.
type delivered struct {
	records, invocations int
	redelivered          int
	cold                 time.Duration // the start of a process
	slowest, total       time.Duration // of invocations
}

// Run creates the seeds' tables, produces their records, takes them through the function, prints what came of it and
// compares the tables with the seeds' expected ends.
func Run(ctx context.Context, o Options) error {
	p := printer{o.Out, o.Colour}
	p.title("frazil", "Kafka change events in, Iceberg tables out: the real function binary behind embedded parts, on this machine")
	began := time.Now()
	bootstrap, remove, err := o.bootstrap(ctx, p)
	if err != nil {
		return err
	}
	defer remove()
	parts, err := stack.Start(false)
	if err != nil {
		return err
	}
	defer parts.Close()
	w, err := newWorld(ctx, parts.Endpoints, bootstrap, o.Seeds, nil)
	if err != nil {
		return err
	}
	defer w.close()
	p.parts(w)

	results := make([]delivered, len(o.Seeds))
	g, gctx := errgroup.WithContext(ctx)
	for i, s := range o.Seeds {
		g.Go(func() (err error) {
			results[i], err = w.feed(gctx, s)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		if ctx.Err() != nil {
			return ErrInterrupted
		}
		return fmt.Errorf("%w\nthe function's log:\n%s", err, w.log.String())
	}
	var differences []string
	for i, s := range o.Seeds {
		d, err := p.seed(ctx, w, s, results[i])
		if err != nil {
			return err
		}
		differences = append(differences, d...)
	}
	w.function.Close()
	p.verdict(differences, w.function.Peak(), time.Since(began))
	if len(differences) > 0 {
		return ErrDiffers
	}
	return nil
}

// bootstrap is the function to run, and what removes it afterwards.
func (o Options) bootstrap(ctx context.Context, p printer) (path string, remove func(), err error) {
	if o.Bootstrap != "" {
		return o.Bootstrap, func() {}, nil
	}
	dir, err := os.MkdirTemp("", "frazil")
	if err != nil {
		return "", nil, err
	}
	remove = func() { _ = os.RemoveAll(dir) }
	done := p.progress("building functions/merge (the first time takes minutes)")
	path, err = Build(ctx, dir)
	done(err)
	if err != nil {
		remove()
	}
	return path, remove, err
}

// feed produces a seed's batches one after the other, and waits until each is applied. A batch that the seed replays is
// delivered twice by the event source mapping.
func (w *world) feed(ctx context.Context, s Seed) (d delivered, err error) {
	if err := w.create(ctx, s); err != nil {
		return d, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	replays := make(chan bool, 1) // whether the batch under way is delivered twice
	mappings := map[string]*source.Mapping{}
	for topic := range s.topics() {
		m := w.mapping(topic, func(ctx context.Context, event []byte) error {
			result, err := w.invoke(ctx, event)
			if err != nil {
				cancel(err) // the seeds hold no bad records: there is nothing to wait for
				return err
			}
			d.invocations++
			d.cold = max(d.cold, result.InitDuration)
			d.slowest = max(d.slowest, result.Duration)
			d.total += result.Duration
			return nil
		})
		m.Redeliver = func(int) bool {
			again := <-replays
			replays <- again
			if again {
				d.redelivered++
			}
			return again
		}
		mappings[topic] = m
		go func() {
			if err := m.Run(ctx); err != nil {
				cancel(err)
			}
		}()
	}
	for i, e := range s.Batches {
		if len(e.Records) == 0 {
			continue
		}
		replays <- slices.ContainsFunc(s.Batches, func(e scenario.Entry) bool { return e.Replay != nil && *e.Replay == i })
		if err := w.produce(ctx, e); err != nil {
			return d, err
		}
		d.records += len(e.Records)
		if err := w.drained(ctx, mappings); err != nil {
			return d, fmt.Errorf("seed %s: batch %d: %w", s.Name, i, cmp.Or(context.Cause(ctx), err))
		}
		<-replays
	}
	return d, nil
}
