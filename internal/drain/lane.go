package drain

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"slices"
	"time"

	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/consume"
	"github.com/frazil/frazil/internal/ingest"
	"github.com/frazil/frazil/internal/kafka"
	"github.com/frazil/frazil/internal/lease"
	"github.com/frazil/frazil/internal/ledger"
	"github.com/frazil/frazil/internal/report"
)

// lastBatch is what is kept of a run's time, half of it at most, for applying what was read by then.
const lastBatch = 45 * time.Second

// leastTime is what a batch needs: a commit has to be able to learn its outcome.
const leastTime = 10 * time.Second

// releaseTime is what a run, or a process that has followed, waits at most for the end of its lease.
const releaseTime = 3 * time.Second

// run drains once, unless another one does.
func (l *lane) run(ctx context.Context, stop <-chan struct{}) error {
	err := l.drain(ctx, stop)
	if taken := new(lease.Taken); errors.As(err, &taken) {
		attrs := append(report.Attrs(l.now(), report.Yielded(1)), slog.String("reason", taken.Error()))
		l.log.LogAttrs(ctx, slog.LevelInfo, "left to another drain", attrs...)
		return nil
	}
	if !l.Follows {
		l.release(ctx)
	}
	return err
}

// release ends the lease of this process, if there is one: its last commit has not always known that it would be the last. What
// is not ended ends by itself.
func (l *lane) release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, releaseTime)
	defer cancel()
	if err := l.pipeline.Release(ctx, l.table, l.claim); err != nil {
		l.log.LogAttrs(ctx, slog.LevelInfo, "the lease ends by itself", slog.String("reason", err.Error()))
	}
}

func (l *lane) drain(ctx context.Context, stop <-chan struct{}) error {
	source, err := consume.Open(ctx, l.source, l.config.Sources[l.source], l.account, l.limits)
	if err != nil {
		return err
	}
	defer source.Close()
	stretches, err := l.stretches(ctx, source)
	if err != nil {
		return err
	}
	reading, cancel := whileThereIsTime(ctx, stop)
	defer cancel()
	return l.apply(ctx, ahead(l.take(ctx, source.Batches(reading, stretches)), cancel))
}

// whileThereIsTime is the context in which records are read.
func whileThereIsTime(ctx context.Context, stop <-chan struct{}) (context.Context, context.CancelFunc) {
	reading, cancel := context.WithCancel(ctx)
	end := cancel
	if deadline, ok := ctx.Deadline(); ok {
		reading, end = context.WithDeadline(reading, deadline.Add(-min(lastBatch, time.Until(deadline)/2)))
	}
	go func() {
		select {
		case <-stop:
		case <-reading.Done():
		}
		cancel()
	}()
	return reading, end
}

// taken is a batch that waits to be applied.
type taken struct {
	*ingest.Delivery
	consume.Batch
}

// take decodes batches.
func (l *lane) take(ctx context.Context, batches iter.Seq2[consume.Batch, error]) iter.Seq2[taken, error] {
	return func(yield func(taken, error) bool) {
		for b, err := range batches {
			t := taken{Batch: b}
			if err == nil {
				t.Delivery, err = l.pipeline.Take(ctx, b.Records, b.Read...)
			}
			if err == nil {
				t.Claim(l.claim, b.Last && !l.Follows)
			}
			if !yield(t, err) || err != nil {
				return
			}
		}
	}
}

// apply applies batches, of which none begins that will not have ended in time.
func (l *lane) apply(ctx context.Context, batches iter.Seq2[taken, error]) error {
	records, longest := 0, leastTime
	for b, err := range batches {
		if err != nil {
			return err
		}
		began := time.Now()
		if deadline, ok := ctx.Deadline(); ok && deadline.Sub(began) < longest {
			l.log.LogAttrs(ctx, slog.LevelInfo, "left for the next run", slog.Int("records", len(b.Records)))
			break
		}
		if err := b.Apply(ctx); err != nil {
			return err
		}
		l.pass(b.Batch)
		records, longest = records+len(b.Records), max(longest, time.Since(began))
	}
	l.log.LogAttrs(ctx, slog.LevelInfo, "drained", slog.Int("records", records))
	return nil
}

// pass notes that the table has a batch: the ledger need not say so of records that changed nothing.
func (l *lane) pass(b consume.Batch) {
	if l.changed() { // perhaps behind these ranges: they may be taken out of it again
		return
	}
	newest := map[*kafka.Partition]int64{}
	for _, r := range b.Records {
		newest[r.Part] = max(newest[r.Part], r.Time)
	}
	for _, r := range b.Read {
		l.passed[*r.Part] = ledger.Mark{Next: r.Next, Time: max(newest[r.Part], l.passed[*r.Part].Time)}
	}
}

// changed reports whether others have changed the table since it was asked last, and forgets then how far the runs have come.
func (l *lane) changed() bool {
	changes := l.pipeline.Changes(l.table)
	if l.passed != nil && changes == l.changes {
		return false
	}
	l.passed, l.changes = map[kafka.Partition]ledger.Mark{}, changes
	return true
}

// stretches are what the table does not have of its topics, from where its ledger stands on, or from where the last run has come
// to where nobody else has changed it since. Of a partition that the ledger does not know it is all that there is.
func (l *lane) stretches(ctx context.Context, source *consume.Cluster) ([]consume.Stretch, error) {
	names, err := l.names(ctx, source)
	if err != nil {
		return nil, err
	}
	// The table comes first: what it is said to have Kafka must have had already.
	held, err := l.pipeline.Ledger(ctx, l.table)
	if err == nil {
		err = l.pipeline.Free(l.table, l.claim)
	}
	if err != nil {
		return nil, err
	}
	l.changed()
	logs, err := source.Logs(ctx, names)
	if err != nil {
		return nil, err
	}
	var out []consume.Stretch
	var errs []error
	for _, log := range logs {
		s := consume.Stretch{Log: log, From: log.Start}
		if mark, known := held.Mark(log.Part); known {
			passed := l.passed[*log.Part]
			s.Applied = ledger.Mark{Next: max(mark.Next, passed.Next), Time: max(mark.Time, passed.Time)}
			s.From = s.Applied.Next
			errs = append(errs, log.Holds(s.From))
		}
		out = append(out, s)
	}
	return out, errors.Join(errs...)
}

// names are the lane's topics: those that it names, and those of the cluster that it has patterns for.
func (l *lane) names(ctx context.Context, source *consume.Cluster) ([]string, error) {
	var names, all []string
	for _, topic := range l.topics {
		pattern, is, err := config.Pattern(topic)
		switch {
		case err != nil:
			return nil, err
		case !is:
			names = append(names, topic)
			continue
		case all == nil:
			if all, err = source.Topics(ctx); err != nil {
				return nil, err
			}
		}
		before := len(names)
		for _, name := range all {
			if pattern.MatchString(name) && !l.isOfLetters(name) {
				names = append(names, name)
			}
		}
		if len(names) == before { // lawful, if they are still to come; a cluster does not list what one may not read either
			l.log.LogAttrs(ctx, slog.LevelWarn, "no topic matches a pattern of the route", slog.String("pattern", topic))
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// isOfLetters reports whether a topic is that of the dead letters: they would be refused again and again.
func (l *lane) isOfLetters(topic string) bool {
	return l.source == kafka.MainSource && topic == l.config.DeadLetter.Topic()
}
