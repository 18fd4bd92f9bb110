package maintain_test

import (
	"slices"
	"testing"
	"time"

	"github.com/apache/iceberg-go/table"
	"github.com/frazil/frazil/internal/local/audit"
	"github.com/frazil/frazil/internal/local/catalog"
	"github.com/frazil/frazil/internal/local/lake"
	"github.com/frazil/frazil/internal/local/stack"
)

const week = 7 * 24 * time.Hour

// orphans are the files in the store that no snapshot has, and that are there as they should be.
func (w *world) orphans() []string {
	w.Helper()
	report, err := audit.New(w.lake, w.parts.Objects, name).Audit(w.Context())
	w.must(err)
	if len(report.Faults) > 0 {
		w.Errorf("%q", report.Faults)
	}
	return report.Orphans
}

func TestOldSnapshotsGoWithTheirFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t, orders(2, map[string]string{"frazil.care.manifests": "true", "commit.manifest.min-count-to-merge": "2"}), "position",
		"{compact: {}, expire: {keep: 2}}")
	for id := range 6 {
		w.put(1, id+1)
	}
	w.put(2, 1, -2)
	w.run()
	if w.snapshots() != 8 {
		t.Fatalf("%d snapshots: a young one went", w.snapshots())
	}
	w.runLater(week)
	if w.snapshots() != 2 || len(w.orphans()) > 0 {
		t.Errorf("%d snapshots, orphans %q", w.snapshots(), w.orphans())
	}
	w.wantRows("1=2", "3=1", "4=1", "5=1", "6=1")
	w.put(3, 3)
	w.runLater(week)
	w.wantRows("1=2", "3=3", "4=1", "5=1", "6=1")
	if n := len(w.objects("data")); w.snapshots() != 2 || n != 4 { // the compacted file, a new one, a delete file, and what they became
		t.Errorf("%d snapshots, %d files", w.snapshots(), n)
	}
}

// TestWhatACompactionRemovedGoes with the snapshots that had it, though that of the compaction lists it as removed.
func TestWhatACompactionRemovedGoes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, orders(2, nil), "position", "{compact: {}, expire: {}}")
	for id := range 6 {
		w.put(1, id+1)
	}
	w.runLater(week)
	w.wantFiles(1, 0)
	if n := len(w.objects("data")); n != 1 {
		t.Errorf("%d files: %q", n, w.objects("data"))
	}
}

// TestFilesElsewhereOutliveTheirSnapshots: they may be another table's. Those of the table go.
func TestFilesElsewhereOutliveTheirSnapshots(t *testing.T) {
	t.Parallel()
	w := newWorld(t, orders(2, nil), "position", "{compact: {files: 2}, expire: {}}")
	w.must(w.lake.SetProperties(t.Context(), name, map[string]string{"write.data.path": "s3://" + stack.Bucket + "/elsewhere"}))
	w.must(w.lake.Append(t.Context(), name, []lake.Row{{"id": "1", "n": "1"}}))
	w.put(2, 2)
	w.runLater(week)
	w.wantRows("1=1", "2=2")
	if elsewhere := w.parts.Objects.Keys(stack.Bucket, "elsewhere/"); len(elsewhere) != 1 || len(w.objects("data")) != 1 {
		t.Errorf("%q and %q stay", elsewhere, w.objects("data"))
	}
}

func TestWhatTheTableSaysOfRetentionHolds(t *testing.T) {
	t.Parallel()
	for property, want := range map[string]int{"": 1, "history.expire.min-snapshots-to-keep=3": 3, "history.expire.max-snapshot-age-ms=9223372036854775807": 5, "gc.enabled=false": 5} {
		w := newWorld(t, orders(2, properties(property)), "position", "{expire: {}}")
		for id := range 5 {
			w.put(1, id+1)
		}
		w.runLater(week)
		if got := w.snapshots(); got != want {
			t.Errorf("%q: %d snapshots, want %d", property, got, want)
		}
	}
}

func TestBranchesAndTagsKeepTheirSnapshots(t *testing.T) {
	t.Parallel()
	w := newWorld(t, orders(2, nil), "position", "{expire: {}}")
	var ids []int64
	for id := range 6 {
		w.put(1, id+1)
		ids = append(ids, w.load().CurrentSnapshot().SnapshotID)
	}
	w.refer("tag", ids[0], table.TagRef, 0, 0)
	w.refer("branch", ids[2], table.BranchRef, 0, 2)
	w.refer("brief", ids[4], table.TagRef, 1, 0) // of an age that has passed by the time
	w.runLater(week)
	var got []int64
	for _, s := range w.load().Metadata().Snapshots() {
		got = append(got, s.SnapshotID)
	}
	if want := []int64{ids[0], ids[1], ids[2], ids[5]}; !slices.Equal(got, want) {
		t.Errorf("%v stay, want %v of %v", got, want, ids)
	}
	w.wantRows("1=1", "2=1", "3=1", "4=1", "5=1", "6=1")
}

func TestAFirstExpiryIsTriedAgainBehindOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, orders(2, nil), "position", "{expire: {}}")
	for id := range 5 {
		w.put(1, id+1)
	}
	w.beforeCommit(func() { w.put(2, 1) })
	w.runLater(week)
	w.wantRows("1=2", "2=1", "3=1", "4=1", "5=1")
	if n := w.snapshots(); n != 1 || len(w.orphans()) > 0 {
		t.Errorf("%d snapshots, orphans %q", n, w.orphans())
	}
}

func TestExpiryOfUnknownOutcome(t *testing.T) {
	t.Parallel()
	for i, f := range []catalog.Fault{catalog.ApplyThenDrop(), catalog.Refuse(503)} {
		w := newWorld(t, orders(2, nil), "position", "{expire: {}}")
		for id := range 5 {
			w.put(1, id+1)
		}
		w.put(2, 1)
		w.parts.Catalog.SetFault(catalog.Once(catalog.OpCommitTable, func() catalog.Fault { return f }))
		m := w.maintain()
		m.Now = func() time.Time { return time.Now().Add(week) }
		err := m.Run(t.Context(), nil)
		if done := w.snapshots() == 1; done != (i == 0) || done != (err == nil) {
			t.Errorf("%d: %d snapshots, %v", i, w.snapshots(), err)
		}
		if len(w.orphans()) > 0 {
			t.Errorf("%d: orphans %q", i, w.orphans())
		}
		w.wantRows("1=2", "2=1", "3=1", "4=1", "5=1")
	}
}

// TestARollBackIsRememberedWhenSnapshotsExpire: its proof would go with them (P1).
func TestARollBackIsRememberedWhenSnapshotsExpire(t *testing.T) {
	t.Parallel()
	for _, policy := range []string{"{expire: {}}", "{compact: {}, expire: {}}"} {
		w := newWorld(t, orders(2, nil), "position", policy)
		for id := range 8 {
			w.put(1, id+1)
		}
		w.must(w.lake.Rollback(t.Context(), name, 2))
		w.runLater(week)
		w.wantRows("1=1", "2=1", "3=1", "4=1", "5=1", "6=1")
		lost := w.offset - 2
		if err := w.pipeline().Deliver(t.Context(), w.flat(w.offset, 10)); err == nil {
			t.Errorf("%s: a delivery that leaves out what was lost is applied", policy)
		}
		w.offset = lost
		w.put(1, 7, 8, 9)
		w.wantRows("1=1", "2=1", "3=1", "4=1", "5=1", "6=1", "7=1", "8=1", "9=1")
	}
}

// TestATableCanBeRolledBackToACompaction whose ancestors have expired: it has a copy of the ledger.
func TestATableCanBeRolledBackToACompaction(t *testing.T) {
	t.Parallel()
	w := newWorld(t, orders(2, nil), "position", "{compact: {}, expire: {}}")
	for id := range 6 {
		w.put(1, id+1)
	}
	w.runLater(week)
	if w.snapshots() != 1 || w.operation() != table.OpReplace {
		t.Fatalf("%d snapshots", w.snapshots())
	}
	w.put(2, 1)
	w.must(w.lake.Rollback(t.Context(), name, 1))
	w.offset--
	w.put(3, 1)
	w.wantRows("1=3", "2=1", "3=1", "4=1", "5=1", "6=1")
}

func TestAStoreThatKeepsAllKeepsTheRest(t *testing.T) {
	t.Parallel()
	w := newWorld(t, orders(2, nil), "position", "{compact: {}, expire: {}, orphans: {delete: true}}")
	w.parts.Play(stack.Profiles[2])
	for id := range 6 {
		w.put(1, id+1)
	}
	w.runLater(week)
	w.wantRows("1=1", "2=1", "3=1", "4=1", "5=1", "6=1")
	w.wantFiles(1, 0)
	if w.snapshots() != 1 {
		t.Errorf("%d snapshots", w.snapshots())
	}
}
