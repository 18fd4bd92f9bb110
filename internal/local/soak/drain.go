package soak

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/drain"
	"github.com/frazil/frazil/internal/local/fault"
	"github.com/frazil/frazil/internal/local/stack"
)

// createTopics makes the topics that a drain reads.
func (r *round) createTopics(ctx context.Context) error {
	partitions := map[string]int32{}
	for _, p := range r.sources {
		partitions[p.topic] = max(partitions[p.topic], p.number+1)
	}
	for topic, n := range partitions {
		if err := r.kafka.CreateTopic(ctx, topic, n); err != nil {
			return err
		}
	}
	return nil
}

// produce brings the topics up to what their sources have done.
func (r *round) produce(ctx context.Context) error {
	for _, p := range r.sources {
		for ; p.produced < len(p.events); p.produced++ {
			record := *p.events[p.produced].record
			at, err := r.kafka.Produce(ctx, &record)
			if err != nil {
				return err
			}
			if at[0] != int64(p.produced) {
				return fmt.Errorf("record %d of %s came to offset %d", p.produced, p.name(), at[0])
			}
		}
	}
	return nil
}

// drain has a drain read the topics to their ends, while an invocation applies some of it, or somebody else is at the tables.
func (r *round) drain(ctx context.Context) error {
	some := r.slices(r.sources)
	if err := r.produce(ctx); err != nil {
		return err
	}
	line, err := fault.NewLine(r.parts, func() {})
	if err != nil {
		return err
	}
	defer line.Cut()
	d, err := drain.New(ctx, line.Config(r.drains), slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	var meanwhile, invoked error
	done := make(chan struct{})
	if r.IntN(2) == 0 {
		r.note("drain, with somebody in its way")
		close(done)
		line.Between(func(path string) { meanwhile = r.meanwhile(ctx, path) })
	} else {
		r.note("drain, with %v at once", some)
		go func() {
			defer close(done)
			invoked = r.invoke(ctx, r.running[0], some)
		}()
	}
	drained := d.Run(ctx, nil)
	<-done
	r.figures.count("drains")
	if err := errors.Join(drained, invoked, meanwhile); err != nil {
		return fmt.Errorf("drain: %w", err)
	}
	return r.drained(ctx)
}

// drained brings the oracles up to the ends of the topics. A drain may take several commits to get there.
func (r *round) drained(ctx context.Context) error {
	for _, t := range r.tables {
		ledger, err := t.auditor.Ledger(ctx)
		if err != nil {
			return err
		}
		t.touched = true
		for _, p := range r.sources {
			if p.table != t {
				continue
			}
			for _, e := range p.events[t.next[p.name()]:] {
				t.apply(e)
			}
			t.next[p.name()] = ledger[p.name()]
		}
	}
	return nil
}

// withBroker is a document with the broker as its source.
func withBroker(parts *stack.Stack, document string) (*config.Config, error) {
	return stack.Configure(parts.CatalogConfig(), fmt.Sprintf("sources: {main: {brokers: [%q]}}\n%s", parts.Kafka, document))
}
