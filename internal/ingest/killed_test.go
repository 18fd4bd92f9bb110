package ingest_test

import (
	"testing"

	"github.com/frazil/frazil/internal/local/demo"
	"github.com/frazil/frazil/internal/local/trial"
)

// TestAKilledFunctionLosesOrRepeatsNoRecord kills the real binary when a request of its has arrived.
func TestAKilledFunctionLosesOrRepeatsNoRecord(t *testing.T) {
	t.Parallel()
	bootstrap, err := demo.Build(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := trial.Play(4, trial.Kills(), func(one *trial.Trial) error { return one.Run(t.Context(), one.Deployed(bootstrap)) }); err != nil {
		t.Error(err)
	}
}
