package ingest_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/frazil/frazil/internal/kafka"
	"github.com/frazil/frazil/internal/local/lake"
	"github.com/frazil/frazil/internal/local/trial"
	"github.com/google/go-cmp/cmp"
)

// One stream makes one table, however it is cut, whatever takes rows away, and whatever is done for the files meanwhile.
func TestTheTableIsTheSameWithAndWithoutCare(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 9))
	h := makeHistory(r, 1, 90)
	want := oracle{}
	for _, e := range h.events[0] {
		want.apply(e)
	}
	n := 0
	for _, deletes := range []string{"position", "rewrite", "auto", "equality"} {
		for care, properties := range trial.Cares {
			for _, size := range []int{2, 9, 30} {
				spec := shopOrders
				spec.Version, spec.Properties = 2+n%2, properties
				if n++; n%3 == 0 {
					spec.Partition = []string{"bucket(2, id)"}
				}
				t.Run(fmt.Sprintf("%s, care %d, batches of %d, v%d", deletes, care, size, spec.Version), func(t *testing.T) {
					t.Parallel()
					w := newWorld(t, spec, "topics: [orders], format: debezium, deletes: "+deletes)
					p := w.pipeline()
					for batch := range slices.Chunk(h.events[0], size) {
						var records []kafka.Record
						for _, e := range batch {
							records = append(records, e.record)
						}
						w.must(p.Deliver(t.Context(), records))
					}
					j := journey{world: w, want: want}
					w.must(j.check())
					for _, fault := range w.audit().Faults {
						t.Error(fault)
					}
				})
			}
		}
	}
}

// life delivers n commits of two rows of few keys, and returns what is there after each.
func (w *world) life(n int) (manifests, files, puts []int) {
	w.Helper()
	p, part := w.pipeline(), partition(0)
	for i := range n {
		before := w.objects.Stats()["PUT"]
		w.must(deliver(w.Context(), p, flat(part, int64(2*i), fmt.Sprintf(`{"id":%d,"n":%d}`, i, i)), flat(part, int64(2*i+1), fmt.Sprintf(`{"id":%d,"n":%d}`, i*7%50, i))))
		puts = append(puts, w.objects.Stats()["PUT"]-before)
		s := w.load().CurrentSnapshot()
		manifests, files = append(manifests, len(w.manifests(s))), append(files, int(w.count(s).dataFiles))
	}
	for _, fault := range w.audit().Faults {
		w.Error(fault)
	}
	return manifests, files, puts
}

// What a commit finds and writes does not grow with the commits before it.
func TestFilesAndManifestsStayFewOverALife(t *testing.T) {
	t.Parallel()
	for _, version := range []int{2, 3} {
		spec := shopOrders
		spec.Version, spec.Properties = version, map[string]string{"frazil.care.level-files": "4", "commit.manifest.min-count-to-merge": "4"}
		manifests, files, puts := newWorld(t, spec, flatRoute).life(60)
		if most := slices.Max(manifests); most > 12 {
			t.Errorf("v%d: up to %d manifests", version, most)
		}
		if most := slices.Max(files); most > 4 {
			t.Errorf("v%d: up to %d data files", version, most)
		}
		if most := slices.Max(puts); most > 5 {
			t.Errorf("v%d: a commit of up to %d objects", version, most)
		}
	}
}

func TestManifestsAreLeftWhereTheirMergingIsOff(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"frazil.care.manifests", "commit.manifest-merge.enabled"} {
		spec := shopOrders
		spec.Properties = maps.Clone(trial.Cares[1])
		delete(spec.Properties, "frazil.care.manifests")
		spec.Properties[name], spec.Properties["commit.manifest.min-count-to-merge"] = "false", "2"
		const n = 8
		if manifests, files, _ := newWorld(t, spec, flatRoute).life(n); files[n-1] != n || manifests[n-1] < n {
			t.Errorf("%s: %d data files in %d manifests", name, files[n-1], manifests[n-1])
		}
	}
}

// Each manifest would be larger than the table wants with another one's entries in it.
func TestAManifestIsNotMergedAboveItsTargetSize(t *testing.T) {
	t.Parallel()
	spec := shopOrders
	spec.Properties = maps.Clone(trial.Cares[1])
	maps.Copy(spec.Properties, map[string]string{"frazil.care.manifests": "true", "commit.manifest.min-count-to-merge": "2", "commit.manifest.target-size-bytes": "100"})
	const n = 8
	if manifests, _, _ := newWorld(t, spec, flatRoute).life(n); manifests[n-1] < n {
		t.Errorf("%d manifests after %d commits", manifests[n-1], n)
	}
}

// The rows of a table of version 3 stay themselves while their files are merged under them (P6).
func TestCareKeepsRowIDs(t *testing.T) {
	t.Parallel()
	spec := shopOrders
	spec.Version, spec.Properties = 3, trial.Cares[2]
	w := newWorld(t, spec, flatRoute)
	p, part := w.pipeline(), partition(0)
	first := map[string]lake.Row{}
	for i := range 9 {
		w.must(deliver(t.Context(), p, flat(part, int64(i), fmt.Sprintf(`{"id":%d,"n":%d}`, i, i))))
		rows, err := w.lake.Lineage(t.Context(), w.name)
		w.must(err)
		for _, row := range rows {
			id := row["id"]
			if first[id] == nil {
				first[id] = row
			}
			if diff := cmp.Diff(first[id], row); diff != "" {
				t.Errorf("after %d commits: %s", i+1, diff)
			}
		}
		if s := w.load().CurrentSnapshot(); w.count(s).dataFiles != 1 || len(rows) != i+1 || s.Summary.Properties["frazil.files-merged"] != merged(i) {
			t.Errorf("after %d commits: %d data files, %d rows, %v", i+1, w.count(s).dataFiles, len(rows), s.Summary.Properties)
		}
	}
}

// merged is how many files the i-th commit merges into its own, as the summary has it.
func merged(i int) string {
	if i == 0 {
		return ""
	}
	return strconv.Itoa(1)
}

// A commit knows the partitions that it writes rows to among those of the files that are there, whatever their values are.
func TestSmallFilesAreMergedInPartitionsOfEveryTransform(t *testing.T) {
	t.Parallel()
	for typ, transforms := range partitionTexts {
		for _, transform := range transforms {
			if !strings.HasSuffix(transform, ", ") {
				transform += "("
			}
			t.Run(transform+typ, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, lake.Spec{
					Name: "shop.parts", Version: 3, Key: []string{"id"}, Partition: []string{transform + "c)"}, Properties: trial.Cares[2],
					Columns: []lake.Column{{Name: "id", Type: "long", Required: true}, {Name: "c", Type: typ}},
				}, flatRoute+", binary_encoding: hex")
				p, part, offset := w.pipeline(), partition(0), int64(0)
				var files []int64
				for range 2 {
					var records []kafka.Record
					for _, value := range append(samples[typ], "null") {
						records = append(records, flat(part, offset, fmt.Sprintf(`{"id":%d,"c":%s}`, offset, value)))
						offset++
					}
					w.must(deliver(t.Context(), p, records...))
					files = append(files, w.count(w.load().CurrentSnapshot()).dataFiles)
				}
				if files[0] != files[1] {
					t.Errorf("%d data files, then %d", files[0], files[1])
				}
			})
		}
	}
}

// A writer may leave a data file without rows: of a table that had none alive, when it compacted it.
func TestAFileWithoutRowsIsCaredFor(t *testing.T) {
	t.Parallel()
	spec := leftAlone(shopOrders)
	spec.Properties["frazil.care.level-files"] = "2"
	w := newWorld(t, spec, flatRoute, lake.Row{"id": "1", "n": "1"})
	p, part := w.pipeline(), partition(0)
	w.must(deliver(t.Context(), p, gone(part, 0, `{"id":1}`)))
	w.must(w.lake.Compact(t.Context(), w.name))
	if n := w.count(w.load().CurrentSnapshot()); n.dataFiles != 1 || n.records != 0 {
		t.Fatalf("the table has %d data files of %d rows", n.dataFiles, n.records)
	}
	for offset := range int64(5) {
		w.must(deliver(t.Context(), p, flat(part, 1+offset, fmt.Sprintf(`{"id":%d,"n":1}`, offset))))
	}
	w.wantRows("id=0 n=1", "id=1 n=1", "id=2 n=1", "id=3 n=1", "id=4 n=1")
}
