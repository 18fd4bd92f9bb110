package demo_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/frazil/frazil/internal/local/demo"
	"github.com/frazil/frazil/internal/local/lambda"
	"github.com/frazil/frazil/internal/local/scenario"
)

func seeds(t *testing.T) []demo.Seed {
	t.Helper()
	files, err := filepath.Glob("../../../localstack/seeds/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no seeds: %v", err)
	}
	var out []demo.Seed
	for _, f := range files {
		s, err := scenario.Read(f)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, demo.Seed{Name: strings.TrimSuffix(filepath.Base(f), ".yaml"), Scenario: s})
	}
	return out
}

// TestDemo takes the seeds through the built binary of the function, a broker, a store and a catalog.
func TestDemo(t *testing.T) {
	t.Parallel()
	bootstrap, err := demo.Build(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := demo.Run(t.Context(), demo.Options{Out: &out, Bootstrap: bootstrap, Seeds: seeds(t)}); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	if n := strings.Count(out.String(), "as expected\n"); n != 3 {
		t.Errorf("%d tables are as expected, want 3:\n%s", n, out.String())
	}
	if title := "a CockroachDB changefeed is applied with its deletes"; !strings.Contains(out.String(), title) {
		t.Errorf("the demo does not say %q:\n%s", title, out.String())
	}
	if strings.Contains(out.String(), "\x1b") {
		t.Error("colours without a terminal")
	}

	wrong := seeds(t)[:1]
	for name, end := range wrong[0].Expect.Tables {
		*end.Rows = (*end.Rows)[1:]
		wrong[0].Expect.Tables[name] = end
	}
	out.Reset()
	if err := demo.Run(t.Context(), demo.Options{Out: &out, Bootstrap: bootstrap, Seeds: wrong}); err == nil || !strings.Contains(out.String(), "unexpected") {
		t.Errorf("a row too many is no difference: %v\n%s", err, out.String())
	}
	if _, err := os.Stat(bootstrap); err != nil {
		t.Errorf("the demo removed a function that it did not build: %v", err)
	}
}

// BenchmarkStart is a process from its start to its first request for an event.
func BenchmarkStart(b *testing.B) {
	bootstrap, err := demo.Build(b.Context(), b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	for b.Loop() {
		took, err := start(b.Context(), bootstrap)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(took.Microseconds())/1000, "ms-to-first-next")
	}
}

// start starts a process of the function and takes the time until it asks for its first event. The event names no
// table, so that nothing else has to be there.
func start(ctx context.Context, bootstrap string) (time.Duration, error) {
	f, err := lambda.Start(ctx, lambda.Options{
		Bootstrap: bootstrap, Name: "merge", MemoryMB: demo.MemoryMB,
		Env: []string{"FRAZIL_CATALOG_URI=http://localhost", "FRAZIL_TOPICS=t", "FRAZIL_TABLE=n.t", "FRAZIL_FORMAT=flat"},
	})
	if err != nil {
		return 0, err
	}
	defer f.Close()
	result, err := f.Invoke(ctx, []byte(`{"records":{}}`))
	if err == nil && result.FunctionError != nil {
		err = result.FunctionError
	}
	return result.InitDuration, err
}
