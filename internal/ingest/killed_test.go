package ingest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/frazil/frazil/internal/local/demo"
	"github.com/frazil/frazil/internal/local/fault"
	"github.com/frazil/frazil/internal/local/lambda"
	"github.com/frazil/frazil/internal/local/trial"
)

// binary is the real function behind a Runtime API, whose processes are killed by SIGKILL.
type binary struct {
	*lambda.Function
	line *fault.Line
}

func (b *binary) Deliver(ctx context.Context, steps []trial.Step, faults ...fault.Fault) error {
	b.line.Meet(func() {}, faults...)
	result, err := b.Function.Invoke(ctx, trial.Event(steps))
	b.line.Settle()
	if err == nil && result.FunctionError != nil {
		err = result.FunctionError
	}
	if left := b.line.Left(); len(left) > 0 {
		return &fault.Unmet{Faults: left, Result: err}
	}
	return err
}

func (b *binary) Kill() {
	b.Function.Kill()
	b.Close()
	b.line.Cut()
}

// deployed starts functions of a built binary for a trial.
func deployed(t *trial.Trial, bootstrap string) func(context.Context) (trial.Process, error) {
	return func(ctx context.Context) (trial.Process, error) {
		b := &binary{}
		var err error
		if b.line, err = fault.NewLine(t.Parts, func() { b.Function.Kill() }); err != nil {
			return nil, err
		}
		document := fmt.Sprintf("{catalogs: {main: {uri: %q, warehouse: %q}}, dead_letter: \"s3://frazil/dead\", "+
			"routes: [{table: \"main:shop.orders\", topics: [orders], format: debezium, deletes: %s}]}", b.line.Catalog, t.Parts.CatalogConfig().Warehouse, t.Deletes)
		b.Function, err = lambda.Start(ctx, lambda.Options{
			Bootstrap: bootstrap, Timeout: time.Minute, MemoryMB: demo.MemoryMB, Env: append(b.line.Env(), "FRAZIL_CONFIG="+document),
		})
		return b, err
	}
}

// TestAKilledFunctionLosesOrRepeatsNoRecord kills the real binary when a request of its has arrived.
func TestAKilledFunctionLosesOrRepeatsNoRecord(t *testing.T) {
	t.Parallel()
	bootstrap, err := demo.Build(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var all []*trial.Trial
	for _, at := range fault.Points {
		for i, after := range []string{trial.NewProcess, trial.OtherSlices, trial.TwoAtOnce} {
			kinds := []fault.Kind{fault.Kill, fault.ThenKill}
			if at != fault.Commit { // of which both matter
				kinds = kinds[i%2:][:1]
			}
			for _, kind := range kinds {
				all = append(all, trial.New(len(all), []fault.Fault{{At: at, Kind: kind}}, after))
			}
		}
	}
	for _, commit := range []fault.Kind{fault.ThenReset, fault.Unavailable} {
		all = append(all, trial.New(len(all), []fault.Fault{{At: fault.Commit, Kind: commit}, {At: fault.Reload, Kind: fault.Kill}}, trial.NewProcess))
	}
	if err := trial.Play(4, all, func(one *trial.Trial) error { return one.Run(t.Context(), deployed(one, bootstrap)) }); err != nil {
		t.Error(err)
	}
}
