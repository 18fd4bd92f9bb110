package maintain_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/iceberg-go/table"
	"github.com/frazil/frazil/internal/local/catalog"
	"github.com/frazil/frazil/internal/local/lake"
	"github.com/frazil/frazil/internal/local/objectio"
)

func TestSmallFilesBecomeOneAndDeletesGo(t *testing.T) {
	t.Parallel()
	for _, version := range []int{2, 3} {
		for _, deletes := range []string{"position", "equality", "rewrite"} {
			t.Run(fmt.Sprint(deletes, version), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, orders(version, nil), deletes, "{compact: {}}")
				for id := range 9 {
					w.put(1, id+1)
				}
				w.put(2, 1, 2, -3)
				var before []string
				if version == 3 {
					before = w.lineage()
				}
				w.run()
				w.wantRows("1=2", "2=2", "4=1", "5=1", "6=1", "7=1", "8=1", "9=1")
				w.wantFiles(1, 0)
				if w.operation() != table.OpReplace {
					t.Errorf("the snapshot is an %s", w.operation())
				}
				if version == 3 && !slices.Equal(w.lineage(), before) {
					t.Errorf("row lineage: %s, was %s", w.lineage(), before)
				}
				n := w.snapshots()
				w.run()
				if w.snapshots() != n {
					t.Error("it compacted what was compact")
				}
				w.put(3, 1, 20) // the writer goes on, from the ledger that was
				w.wantRows("1=3", "2=2", "4=1", "5=1", "6=1", "7=1", "8=1", "9=1", "20=3")
			})
		}
	}
}

func TestRowsOfFilesOfManyRowGroupsStayWhatTheyAre(t *testing.T) {
	t.Parallel()
	for _, order := range [][]string{nil, {"n desc", "id"}} {
		spec := orders(3, map[string]string{"write.parquet.row-group-size-bytes": "200"})
		spec.Sort = order
		w := newWorld(t, spec, "position", "{compact: {files: 2, dead: 1%}}")
		var want []string
		for file := range 2 {
			var ids []int
			for id := file*100 + 1; id <= file*100+100; id++ {
				ids = append(ids, id)
				if id%30 > 0 && id%77 > 0 {
					want = append(want, fmt.Sprintf("%d=%d", id, file))
				}
			}
			w.put(file, ids...)
		}
		w.put(0, -30, -60, -77, -90, -120, -150, -154, -180)
		before := w.lineage()
		w.run()
		w.wantRows(want...)
		w.wantFiles(1, 0)
		if !slices.Equal(w.lineage(), before) {
			t.Errorf("row lineage: %s, was %s", w.lineage(), before)
		}
	}
}

func TestFewSmallFilesWait(t *testing.T) {
	t.Parallel()
	w := newWorld(t, orders(2, nil), "position", "{compact: {}}")
	for id := range 4 {
		w.put(1, id+1)
	}
	w.run()
	w.wantFiles(4, 0)
}

func TestFilesOfAPastSpecGoToTodaysPartitions(t *testing.T) {
	t.Parallel()
	w := newWorld(t, orders(2, nil), "position", "{compact: {}}")
	for id := range 5 {
		w.put(1, id+1, id+11)
	}
	w.must(w.lake.Repartition(t.Context(), name, []string{"truncate(10, id)"}))
	w.run()
	w.wantRows("1=1", "2=1", "3=1", "4=1", "5=1", "11=1", "12=1", "13=1", "14=1", "15=1")
	w.wantFiles(2, 0)
}

// TestAChangeMeanwhileIsNotLost has a writer commit between the reading of files and the commit of what was made of them.
func TestAChangeMeanwhileIsNotLost(t *testing.T) {
	t.Parallel()
	for _, version := range []int{2, 3} {
		for _, deletes := range []string{"position", "equality", "rewrite"} {
			t.Run(fmt.Sprint(deletes, version), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, orders(version, nil), deletes, "{compact: {}}")
				for id := range 6 {
					w.put(1, id+1)
				}
				w.beforeCommit(func() { w.put(2, 1, -2, 7) })
				w.run()
				w.wantRows("1=2", "3=1", "4=1", "5=1", "6=1", "7=2")
				w.beforeCommit(func() { w.put(3, 3) })
				w.run()
				w.wantRows("1=2", "3=3", "4=1", "5=1", "6=1", "7=2")
				w.run()
				w.wantRows("1=2", "3=3", "4=1", "5=1", "6=1", "7=2")
			})
		}
	}
}

// TestEqualityDeletesMeanwhileSpoilNothing: what was read before them is told apart from what comes after by its sequence number.
func TestEqualityDeletesMeanwhileSpoilNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, orders(3, nil), "equality", "{compact: {}}")
	for id := range 6 {
		w.put(1, id+1)
	}
	w.beforeCommit(func() { w.put(2, 1, -2) })
	w.run()
	w.wantRows("1=2", "3=1", "4=1", "5=1", "6=1")
	if data, _, err := w.lake.Files(t.Context(), name); err != nil || data != 2 {
		t.Errorf("%d data files, %v: what was compacted is lost", data, err)
	}
}

// TestEqualityDeletesOfOnePartitionKeepToIt: rows that move to another spec's partitions meanwhile are neither missed by a delete
// of the past spec, nor hit by one of today's.
func TestEqualityDeletesOfOnePartitionKeepToIt(t *testing.T) {
	t.Parallel()
	past, today := []string{"bucket(1, id)"}, []string{"truncate(10, id)"}
	for _, c := range []struct {
		by   []string
		want []string
	}{
		{today, []string{"1=1", "2=1", "3=1", "4=1", "5=1", "6=1"}},
		{past, []string{"2=1", "3=1", "4=1", "5=1", "6=1"}},
	} {
		spec := orders(2, nil)
		spec.Partition = past
		w := newWorld(t, spec, "position", "{compact: {}}")
		for id := range 6 {
			w.put(1, id+1)
		}
		w.must(w.lake.Repartition(t.Context(), name, today))
		w.beforeCommit(func() {
			w.must(w.lake.Repartition(t.Context(), name, c.by))
			w.must(w.lake.Delete(t.Context(), name, []lake.Row{{"id": "1"}}, lake.Equality))
		})
		w.run()
		w.wantRows(c.want...)
	}
}

func TestARollBackMeanwhileSpoilsWhatWasRead(t *testing.T) {
	t.Parallel()
	for _, deletes := range []string{"position", "equality"} {
		w := newWorld(t, orders(2, nil), deletes, "{compact: {}}")
		for id := range 6 {
			w.put(1, id+1)
		}
		w.put(1, -1)
		w.beforeCommit(func() { w.must(w.lake.Rollback(t.Context(), name, 1)) })
		w.run()
		w.wantRows("1=1", "2=1", "3=1", "4=1", "5=1", "6=1")
		w.run()
		w.wantRows("1=1", "2=1", "3=1", "4=1", "5=1", "6=1")
	}
}

func TestAnUnknownOutcomeIsSettled(t *testing.T) {
	t.Parallel()
	for i, f := range []catalog.Fault{catalog.ApplyThenDrop(), catalog.ApplyThenStatus(504), catalog.Refuse(504), catalog.Refuse(409)} {
		w := newWorld(t, orders(3, nil), "position", "{compact: {}}")
		for id := range 6 {
			w.put(1, id+1)
		}
		w.put(2, 1)
		before := w.lineage()
		w.parts.Catalog.SetFault(catalog.Once(catalog.OpCommitTable, func() catalog.Fault { return f }))
		w.run()
		w.wantFiles(1, 0)
		if !slices.Equal(w.lineage(), before) {
			t.Errorf("row lineage: %s, was %s", w.lineage(), before)
		}
		if n := len(w.objects("data")); i < 2 && n != 9 { // 7 data files, a vector and the new one
			t.Errorf("%d files: %s", n, w.objects("data"))
		}
	}
}

func TestABudgetIsKeptTo(t *testing.T) {
	t.Parallel()
	w := newWorld(t, orders(2, nil), "position", "{compact: {}, budget: {bytes: 1KB}}")
	for id := range 6 {
		w.put(1, id+1)
	}
	w.run()
	w.wantFiles(6, 0)
}

func TestManifestsAreGathered(t *testing.T) {
	t.Parallel()
	w := newWorld(t, orders(2, map[string]string{"frazil.care.manifests": "true"}), "position", "{compact: {files: 100}}")
	for id := range 30 {
		w.must(w.lake.SetProperties(t.Context(), name, map[string]string{"frazil.care.manifests": "false"}))
		w.put(1, id+1)
	}
	w.must(w.lake.SetProperties(t.Context(), name, map[string]string{"frazil.care.manifests": "true"}))
	w.run()
	list, err := w.load().CurrentSnapshot().Manifests(objectio.New(w.parts.Objects))
	w.must(err)
	if len(list) != 1 {
		t.Errorf("%d manifests", len(list))
	}
	w.wantFiles(30, 0)
	w.put(2, 1)
}

// A catalog that is away stops no table of another one.
func TestACatalogThatDoesNotAnswerStopsItsTablesOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t, orders(2, nil), "position", "{compact: {files: 2}}")
	w.put(1, 1)
	w.put(1, 2)
	away := w.config.Catalogs["main"]
	away.URI = "http://127.0.0.1:1"
	w.config.Catalogs["away"] = away
	first := w.config.Routes[0]
	first.Table.Catalog, first.Topics = "away", []string{"others"}
	w.config.Routes = slices.Insert(w.config.Routes, 0, first)
	m := w.maintain()
	if err := m.Run(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "away:shop.orders") || strings.Contains(err.Error(), "main:shop.orders") {
		t.Errorf("got %v, want an error of away:shop.orders alone", err)
	}
	w.wantFiles(1, 0)
}
