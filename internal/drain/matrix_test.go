package drain_test

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/frazil/frazil/internal/consume"
	"github.com/frazil/frazil/internal/drain"
	"github.com/frazil/frazil/internal/local/fault"
	"github.com/frazil/frazil/internal/local/trial"
	"github.com/frazil/frazil/internal/schedule"
)

// topic is that of a trial. Records are delivered once they are in it: a drain reads what the table lacks of them, whatever is
// delivered again.
type topic struct {
	*trial.Trial
	batch  int // records
	drains int // that were begun
}

// scheduled is a drain of a topic, as a schedule invokes it.
type scheduled struct {
	process
	topic *topic
}

func (d *scheduled) Deliver(ctx context.Context, steps []trial.Step, faults ...fault.Fault) error {
	if err := d.topic.Produce(ctx, steps); err != nil {
		return err
	}
	return d.Work(ctx, func(ctx context.Context) error { return schedule.Invocation(ctx, d.Drain) }, faults...)
}

// start begins a drain: the first one of the trial, or another one so much later that the lease of the first is over. Of
// those, slices of their own are batches of one record.
func (t *topic) start(ctx context.Context) (trial.Process, error) {
	life, err := fault.Begin(t.Parts)
	if err != nil {
		return nil, err
	}
	d, err := drain.New(ctx, life.Config(t.Config), slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	batch := t.batch
	if t.drains++; t.drains > 1 {
		d.At(func() time.Time { return time.Now().Add(time.Hour) })
		if t.After == trial.OtherSlices {
			batch = 1
		}
	}
	if batch > 0 {
		d.Limit(func(l *consume.Limits) { l.Records = batch })
	}
	return &scheduled{process{life, d}, t}, nil
}

// half are trials of each fault with every other one of those who may run again, and all with the kinds that take turns anyway.
func half(all []*trial.Trial) []*trial.Trial {
	return slices.DeleteFunc(all, func(one *trial.Trial) bool {
		f := one.Script[len(one.Script)-1]
		n := slices.Index(fault.Kinds, f.Kind) + slices.Index(fault.Points, f.At) + slices.Index(trial.Afters, one.After)
		return n%2 > 0 && !slices.Contains([]fault.Kind{fault.Unavailable, fault.Throttled, fault.ThenHang}, f.Kind)
	})
}

// inBatches are faults of later requests of a run: of the second and the third batch of two records each.
func inBatches() (all []*trial.Trial) {
	for k, kind := range fault.Kinds {
		for p, at := range []fault.Point{fault.Manifest, fault.List, fault.Commit} {
			for skip := range 3 {
				f := fault.Fault{At: at, Kind: kind, Skip: skip}
				after := []string{trial.SameProcess, trial.NewProcess, trial.TwoAtOnce}[(k+p+skip)%3]
				if f.Check() != nil || kind == fault.Throttled && at != fault.Commit {
					continue
				}
				if (kind == fault.Hang || kind == fault.ThenHang) && at == fault.Commit && skip != 1 { // which takes seconds
					continue
				}
				if f.Kills() && after == trial.SameProcess {
					after = trial.OtherSlices
				}
				one := trial.New(len(all), []fault.Fault{f}, after)
				one.Batches = true
				all = append(all, one)
			}
		}
	}
	return all
}

// TestNoFaultLosesOrRepeatsARecord is P1 and P4 of drain, as package ingest has it of merge: for every fault of every request of
// a run, also those that end it.
func TestNoFaultLosesOrRepeatsARecord(t *testing.T) {
	t.Parallel()
	all := append(half(trial.Matrix(true)), inBatches()...)
	for _, one := range all {
		one.Kafka = true
	}
	err := trial.Play(16, all, func(one *trial.Trial) error {
		records := &topic{Trial: one}
		if one.Batches {
			records.batch = 2
		}
		return one.Run(t.Context(), records.start)
	})
	if err != nil {
		t.Error(err)
	}
	t.Logf("%d trials", len(all))
}
