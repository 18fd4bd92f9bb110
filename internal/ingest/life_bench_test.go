package ingest_test

import (
	"context"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/frazil/frazil/internal/local/demo"
	"github.com/frazil/frazil/internal/local/lambda"
	"github.com/frazil/frazil/internal/local/objectio"
	"github.com/frazil/frazil/internal/local/shop"
)

var (
	lives  = flag.Int("commits", 200, "how many commits BenchmarkLife lives through")
	upkeep = flag.Int("every", 100, "how many commits of BenchmarkLife's maintained table are between two runs of maintain")
)

// BenchmarkLife applies so many change sets of a thousand keys, drawn from all, to a table of a million rows in ten files, one
// after the other, to one of the tables with runs of maintain in between. Figures are those of the commits since the mark before it, by
// the mark: cpu-ms, ms and bytes written are means, since the care for files comes by turns, requests the median; maintain-cpu-ms is
// what the runs took, divided by the commits. Files and manifests are those that are there at the mark, before a run that is due then.
// metadata-B is what a commit writes of manifests and their list, scan-ms what iceberg-go takes to read the table (at 0: before
// the first commit).
func BenchmarkLife(b *testing.B) {
	f := &field{}
	defer f.close()
	for _, life := range []struct {
		encoding string
		every    int // commits from one run of maintain to the next; 0: there is none
	}{{"position-v3", 0}, {"position-v2", 0}, {"auto-v3", 0}, {"position-v3", *upkeep}} {
		m := merging{keys: 1000, rows: 1_000_000, distribution: shop.Uniform, key: shop.Long, encoding: life.encoding}
		name := life.encoding
		if life.every > 0 {
			name += "/maintained"
		}
		b.Run(name, func(b *testing.B) {
			if f.bases == nil {
				f.bases = map[string]*shop.Base{}
			}
			if err := f.prepare(b, m); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if err := f.live(b, m, life.every); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func (f *field) live(b *testing.B, m merging, every int) error {
	t, err := f.table(b, m)
	if err != nil {
		return err
	}
	defer t.end()
	if *profiles != "" {
		t.profile = filepath.Join(*profiles, "life-"+m.encoding)
	}
	if err := t.report(b, 0, nil); err != nil {
		return err
	}
	var maintain *lambda.Function
	if every > 0 {
		if maintain, err = t.maintained(b); err != nil {
			return err
		}
		defer maintain.Close()
	}
	var since []measured
	var runs time.Duration
	for n := 1; n <= *lives; n++ {
		one, err := t.apply(false)
		if err != nil {
			return err
		}
		since = append(since, one)
		if slices.Contains([]int{1, 10, 50, 200, 1000}, n) {
			if err := t.report(b, n, since); err != nil {
				return err
			}
			if every > 0 {
				b.ReportMetric(runs.Seconds()*1e3/float64(len(since)), fmt.Sprintf("maintain-cpu-ms@%d", n))
			}
			since, runs = nil, 0
		}
		if every > 0 && n%every == 0 {
			r, err := maintain.Invoke(b.Context(), []byte("{}"))
			if err != nil {
				return err
			}
			if r.FunctionError != nil {
				return r.FunctionError
			}
			runs += r.CPU
		}
	}
	return nil
}

// maintained is the function that maintains the table. It starts with its first run.
func (t *trialled) maintained(b *testing.B) (*lambda.Function, error) {
	bootstrap, err := demo.BuildFunction(b.Context(), "maintain", b.TempDir())
	if err != nil {
		return nil, err
	}
	main := t.field.parts.CatalogConfig()
	document := fmt.Sprintf("FRAZIL_CONFIG={catalogs: {main: {uri: %q, warehouse: %q}}, routes: [{topics: [orders], format: flat, table: \"main:%s\"}], "+
		"maintain: {\"*\": {compact: {}}}}", main.URI, main.Warehouse, t.name)
	return lambda.Start(context.Background(), lambda.Options{
		Bootstrap: bootstrap, MemoryMB: 1769, Timeout: 15 * time.Minute, Env: append(t.field.parts.Env(), document), Log: io.Discard,
	})
}

// report gives the figures of a mark.
func (t *trialled) report(b *testing.B, mark int, since []measured) error {
	figure := func(value float64, unit string) { b.ReportMetric(value, fmt.Sprintf("%s@%d", unit, mark)) }
	mean := func(of func(measured) float64) (sum float64) {
		for _, m := range since {
			sum += of(m) / float64(len(since))
		}
		return sum
	}
	data, deletes, err := t.field.lake.Files(b.Context(), t.name)
	if err != nil {
		return err
	}
	manifests, written, err := t.metadata(b.Context())
	if err != nil {
		return err
	}
	scan, err := t.scan(b.Context())
	if err != nil {
		return err
	}
	figure(float64(scan.Microseconds())/1e3, "scan-ms")
	figure(float64(data), "data-files")
	figure(float64(deletes), "delete-files")
	if mark == 0 {
		return nil
	}
	figure(float64(manifests), "manifests")
	figure(float64(written), "metadata-B")
	figure(mean(func(m measured) float64 { return m.CPU * 1e3 }), "cpu-ms")
	figure(mean(func(m measured) float64 { return m.Seconds * 1e3 }), "ms")
	figure(mean(func(m measured) float64 { return float64(m.counts.Written) }), "B-written")
	figure(median(since, func(m measured) float64 { return float64(m.counts.Sum()) }), "requests")
	return nil
}

// metadata is how many manifests the head has, and the bytes of the list and of the manifests that it added.
func (t *trialled) metadata(ctx context.Context) (manifests int, written int64, err error) {
	table, err := t.field.lake.Load(ctx, t.name)
	if err != nil {
		return 0, 0, err
	}
	files := objectio.New(t.field.parts.Objects)
	s := table.CurrentSnapshot()
	all, err := s.Manifests(files)
	if err != nil {
		return 0, 0, err
	}
	list, err := files.ReadFile(s.ManifestList)
	written = int64(len(list))
	for _, m := range all {
		if m.SnapshotID() == s.SnapshotID {
			written += m.Length()
		}
	}
	return len(all), written, err
}

// scan is how long it takes to read the table whole, the shortest of three times.
func (t *trialled) scan(ctx context.Context) (shortest time.Duration, err error) {
	for range 3 {
		table, err := t.field.lake.Load(ctx, t.name)
		if err != nil {
			return 0, err
		}
		began := time.Now()
		_, batches, err := table.Scan().ToArrowRecords(ctx)
		if err != nil {
			return 0, err
		}
		for batch, err := range batches {
			if err != nil {
				return 0, err
			}
			batch.Release()
		}
		if took := time.Since(began); shortest == 0 || took < shortest {
			shortest = took
		}
	}
	return shortest, nil
}
