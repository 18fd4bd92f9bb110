package soak_test

import (
	"strings"
	"testing"

	"github.com/frazil/frazil/internal/local/soak"
)

// The long run is `make soak`.
func TestSomeRoundsEndAsTheirOracles(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	if err := soak.Run(t.Context(), soak.Options{Faulted: 10_000, Rounds: 3, Seed: 1, Out: &out}); err != nil {
		t.Error(err)
	}
	t.Log(out.String())
}
