package scenario_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/frazil/frazil/internal/local/scenario"
)

func TestScenarios(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenario files: %v", err)
	}
	seeds, err := filepath.Glob("../../../localstack/seeds/*.yaml")
	if err != nil || len(seeds) == 0 {
		t.Fatalf("no seeds: %v", err)
	}
	for _, file := range append(files, seeds...) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			t.Parallel()
			s, err := scenario.Read(file)
			if err != nil {
				t.Fatal(err)
			}
			differences, err := scenario.Run(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range differences {
				t.Error(d)
			}
		})
	}
}
