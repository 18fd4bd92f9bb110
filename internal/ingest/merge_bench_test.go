package ingest_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/frazil/frazil/internal/local/lake"
	"github.com/frazil/frazil/internal/local/meter"
	"github.com/frazil/frazil/internal/local/shop"
	"github.com/frazil/frazil/internal/local/stack"
)

// profiles is where the measured processes leave their CPU profiles, one for each benchmark.
var profiles = flag.String("profiles", "", "folder for CPU profiles of the processes that BenchmarkMerge measures")

// merging is what one benchmark measures.
type merging struct {
	keys         int
	rows         int // in ten files
	distribution shop.Distribution
	key          shop.Key
	start        string // warm: the process has applied change sets before; cold: it is new
	encoding     string // position or rewrite, and the format version
	latency      time.Duration
}

func (m merging) String() string {
	return fmt.Sprintf("%s/%s/%s/%s/%s/%s/%dms", short(m.keys), short(m.rows), m.distribution, m.key, m.start, m.encoding, m.latency.Milliseconds())
}

func short(n int) string {
	if n >= 1_000_000 {
		return fmt.Sprintf("%dM", n/1_000_000)
	}
	if n >= 1000 {
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprint(n)
}

// usual says whether the benchmark runs when none of them is asked for by name. All of them take hours.
func (m merging) usual() bool {
	near := m.latency == 0 || m.latency == 20*time.Millisecond && m.keys == 1000
	return near && m.keys >= 1000 && m.rows == 1_000_000 && m.distribution == shop.Uniform && m.key == shop.Long && m.encoding == "position-v3"
}

func mergings() (all []merging) {
	for _, rows := range []int{1_000_000, 10_000_000} {
		for _, key := range []shop.Key{shop.Long, shop.UUID, shop.Composite} {
			for _, keys := range []int{100, 1000, 10_000, 100_000} {
				for _, d := range []shop.Distribution{shop.Sequential, shop.Uniform, shop.Skewed} {
					for _, start := range []string{"warm", "cold"} {
						for _, encoding := range []string{"position-v2", "position-v3", "rewrite-v3"} {
							for _, ms := range []time.Duration{0, 20, 40} {
								all = append(all, merging{keys, rows, d, key, start, encoding, ms * time.Millisecond})
							}
						}
					}
				}
			}
		}
	}
	return all
}

// BenchmarkMerge applies change sets (70 % updates, 20 % inserts, 10 % deletes) to a table in ten files, on a store and a
// catalog behind HTTP that take so long to answer. The process of frazil is one of its own: CPU, memory and time are its,
// from before it opens the file of changes, as flat rows, until the commit is acknowledged. All figures are medians but
// the memory, which is the most that was resident, above what was before the first delivery. A cold process is
// started, and has nothing of the table. Rounds are the longest chain of requests that had to wait for each other;
// model-ms adds to the time what the bytes read take at 75 MB/s.
//
// Only some run unless they are chosen: -bench='Merge/10k/10M/uniform/long/cold/position-v3/20ms'. -profiles=FOLDER keeps
// CPU profiles of the processes.
func BenchmarkMerge(b *testing.B) {
	chosen := strings.Contains(flag.Lookup("test.bench").Value.String(), "Merge/")
	f := &field{bases: map[string]*shop.Base{}}
	defer f.close()
	for _, m := range mergings() {
		if chosen || m.usual() {
			b.Run(m.String(), func(b *testing.B) {
				if err := f.prepare(b, m); err != nil {
					b.Fatal(err)
				}
				if err := f.measure(b, m); err != nil {
					b.Fatal(err)
				}
			})
		}
	}
}

// field is where the benchmarks take place. Tables of the same rows share their first data files.
type field struct {
	parts  *stack.Stack
	meter  *meter.Meter
	lake   *lake.Lake
	folder string // of the built program
	bases  map[string]*shop.Base
	tables int
}

func (f *field) prepare(b *testing.B, m merging) (err error) {
	if f.parts == nil {
		if err := f.open(b); err != nil {
			return err
		}
	}
	name := fmt.Sprintf("base.%s_%d", m.key, m.rows)
	if f.bases[name] == nil {
		f.bases[name], err = shop.Write(b.Context(), f.lake, name, m.rows, 10, m.key)
	}
	return err
}

func (f *field) open(b *testing.B) (err error) {
	if f.parts, err = stack.StartLake(); err != nil {
		return err
	}
	if f.meter, err = meter.Start(f.parts); err != nil {
		return err
	}
	if f.lake, err = lake.Open(context.Background(), f.parts.CatalogConfig()); err != nil {
		return err
	}
	if f.folder, err = os.MkdirTemp("", "frazil"); err != nil {
		return err
	}
	out, err := exec.CommandContext(b.Context(), "go", "build", "-o", f.program(), "../../.ci/versus/apply").CombinedOutput()
	if err != nil {
		return fmt.Errorf("build: %w\n%s", err, out)
	}
	return nil
}

func (f *field) program() string { return filepath.Join(f.folder, "apply") }

func (f *field) close() {
	if f.parts != nil {
		f.meter.Close()
		f.parts.Close()
		_ = os.RemoveAll(f.folder)
	}
}

// measured is what one delivery took.
type measured struct {
	Seconds, CPU, Peak, Idle float64
	Error                    string
	counts                   meter.Counts
}

// measure applies change sets to a new table.
func (f *field) measure(b *testing.B, m merging) error {
	t, err := f.table(b, m)
	if err != nil {
		return err
	}
	defer t.end()
	if *profiles != "" {
		t.profile = filepath.Join(*profiles, strings.ReplaceAll(m.String(), "/", "_"))
	}
	f.meter.SetLatency(0)
	for range 2 {
		if _, err := t.apply(true); err != nil {
			return err
		}
	}
	f.meter.SetLatency(m.latency)
	var all []measured
	for b.Loop() {
		if m.start == "cold" {
			t.end()
		}
		one, err := t.apply(false)
		if err != nil {
			return err
		}
		all = append(all, one)
	}
	summarise(b, all)
	if m.latency > 0 { // else what was sent together may look like a chain
		b.ReportMetric(median(all, func(m measured) float64 { return float64(m.counts.Rounds) }), "rounds")
	}
	return nil
}

// table makes a new table, and a process for it that is not started yet.
func (f *field) table(b *testing.B, m merging) (*trialled, error) {
	f.tables++
	name := fmt.Sprintf("bench.orders_%d", f.tables)
	base := f.bases[fmt.Sprintf("base.%s_%d", m.key, m.rows)]
	deletes, version, _ := strings.Cut(m.encoding, "-v")
	if err := base.Create(b.Context(), f.lake, name, int(version[0]-'0'), nil); err != nil {
		return nil, err
	}
	c, err := stack.Configure(f.meter.CatalogConfig(), fmt.Sprintf("routes: [{topics: [orders], format: flat, table: \"main:%s\", deletes: %s}]", name, deletes))
	if err != nil {
		return nil, err
	}
	document, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	return &trialled{
		field: f, name: name, document: string(document), changes: shop.NewChanges(base, m.distribution), keys: m.keys, file: filepath.Join(b.TempDir(), "changes"),
	}, nil
}

// trialled is a process of frazil's that applies change sets to one table.
type trialled struct {
	field    *field
	name     string // of the table
	document string
	changes  *shop.Changes
	keys     int
	file     string
	profile  string

	process *exec.Cmd
	in      *json.Encoder
	out     *bufio.Scanner
	close   func() error
	offset  int
}

func (t *trialled) start() error {
	t.process = exec.Command(t.field.program(), "-cpuprofile", t.profile, "-offset", fmt.Sprint(t.offset), t.document)
	t.process.Stderr = os.Stderr
	in, err := t.process.StdinPipe()
	if err != nil {
		return err
	}
	out, err := t.process.StdoutPipe()
	if err != nil {
		return err
	}
	t.in, t.out, t.close = json.NewEncoder(in), bufio.NewScanner(out), in.Close
	return t.process.Start()
}

// end ends the process, if there is one.
func (t *trialled) end() {
	if t.process != nil {
		_ = t.close()
		_ = t.process.Wait()
		t.process = nil
	}
}

// apply has the next change set applied.
func (t *trialled) apply(warmUp bool) (m measured, err error) {
	if err := os.WriteFile(t.file, t.changes.Next(t.keys).Text(shop.Flat), 0o600); err != nil {
		return m, err
	}
	if t.process == nil {
		if err := t.start(); err != nil {
			return m, err
		}
	}
	t.offset += t.keys
	t.field.meter.Take()
	if err := t.in.Encode(map[string]any{"File": t.file, "WarmUp": warmUp}); err != nil {
		return m, err
	}
	if !t.out.Scan() {
		return m, errors.New("the process ended")
	}
	if err := json.Unmarshal(t.out.Bytes(), &m); err != nil {
		return m, err
	}
	if m.Error != "" {
		return m, errors.New(m.Error)
	}
	m.counts = t.field.meter.Take()
	return m, nil
}

func median(all []measured, of func(measured) float64) float64 {
	var figures []float64
	for _, m := range all {
		figures = append(figures, of(m))
	}
	slices.Sort(figures)
	return figures[len(figures)/2]
}

func summarise(b *testing.B, all []measured) {
	seconds := median(all, func(m measured) float64 { return m.Seconds })
	read := median(all, func(m measured) float64 { return float64(m.counts.Read) / 1e6 })
	var most float64
	for _, m := range all {
		most = max(most, m.Peak-m.Idle)
	}
	b.ReportMetric(seconds*1e9, "ns/op")
	b.ReportMetric(median(all, func(m measured) float64 { return m.CPU * 1e3 }), "cpu-ms")
	b.ReportMetric(most, "MB-above-idle")
	b.ReportMetric(median(all, func(m measured) float64 { return float64(m.counts.Sum()) }), "requests")
	for _, kind := range []string{"GET", "HEAD", "PUT", "CATALOG"} {
		b.ReportMetric(median(all, func(m measured) float64 { return float64(m.counts.Requests[kind]) }), kind)
	}
	b.ReportMetric(read, "MB-read")
	b.ReportMetric(median(all, func(m measured) float64 { return float64(m.counts.Written) / 1e6 }), "MB-written")
	b.ReportMetric(seconds*1e3+read/75*1e3, "model-ms")
}
