package ingest_test

import (
	"context"
	"testing"

	"github.com/frazil/frazil/internal/local/fault"
	"github.com/frazil/frazil/internal/local/trial"
)

// inProcess is a pipeline that gets Lambda's events.
type inProcess struct{ *fault.Process }

func (p inProcess) Deliver(ctx context.Context, steps []trial.Step, faults ...fault.Fault) error {
	return p.Invoke(ctx, trial.Event(steps), faults...)
}

// TestNoFaultLosesOrRepeatsARecord is P1 and P4 for every fault of every request: the table is one or the other whole, and
// is right once the records were delivered again, by whomever. Those that end a process are in killed_test.go.
func TestNoFaultLosesOrRepeatsARecord(t *testing.T) {
	t.Parallel()
	all := trial.Matrix(false)
	err := trial.Play(16, all, func(one *trial.Trial) error {
		return one.Run(t.Context(), func(context.Context) (trial.Process, error) {
			p, err := fault.Start(one.Parts, one.Config)
			return inProcess{p}, err
		})
	})
	if err != nil {
		t.Error(err)
	}
	t.Logf("%d trials", len(all))
}
