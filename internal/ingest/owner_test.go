package ingest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"
	"github.com/frazil/frazil/internal/kafka"
	"github.com/frazil/frazil/internal/local/lake"
	"github.com/frazil/frazil/internal/local/stack"
)

// update sends updates as another client of the catalog does.
func (w *world) update(u ...table.Update) {
	w.Helper()
	t := w.load()
	_, _, err := w.client.CommitTable(w.Context(), t.Identifier(), nil, u)
	w.must(err)
}

func TestATagOnAnOldSnapshotIsNoRollback(t *testing.T) {
	t.Parallel()
	w := newWorld(t, shopOrders, `topics: ["/.*/"], format: flat`)
	other := &kafka.Partition{Source: kafka.MainSource, Topic: "other"}
	warm := w.pipeline()
	w.must(deliver(t.Context(), warm, flat(partition(0), 0, `{"id":1,"n":1}`)))
	first := w.load().CurrentSnapshot().SnapshotID
	w.must(deliver(t.Context(), warm, flat(other, 0, `{"id":2,"n":1}`)))
	second := w.load().CurrentSnapshot().SnapshotID
	w.must(deliver(t.Context(), warm, flat(other, 1, `{"id":2,"n":2}`)))
	w.update(table.NewSetSnapshotRefUpdate("month-end", first, table.TagRef, 0, 0, 0))
	w.update(table.NewRemoveSnapshotsUpdate([]int64{second}, false)) // the history between is gone
	w.must(deliver(t.Context(), warm, flat(other, 2, `{"id":2,"n":3}`)))
	w.must(deliver(t.Context(), w.pipeline(), flat(other, 3, `{"id":2,"n":4}`)))
	w.wantRows("id=1 n=1", "id=2 n=4")
}

func TestALedgerThatTheOwnerSetBackHoldsForAWarmProcess(t *testing.T) {
	t.Parallel()
	w := newWorld(t, shopOrders, `topics: [orders], format: flat`)
	warm := w.pipeline()
	w.must(deliver(t.Context(), warm, flat(partition(0), 0, `{"id":1,"n":1}`), flat(partition(0), 1, `{"id":2,"n":1}`)))
	w.must(w.lake.SetProperties(t.Context(), w.name, map[string]string{"frazil.ledger.main.orders": `{"partitions":[0],"next":[0],"time":[0]}`}))
	w.must(deliver(t.Context(), warm, flat(partition(0), 0, `{"id":1,"n":7}`), flat(partition(0), 1, `{"id":2,"n":7}`), flat(partition(0), 2, `{"id":3,"n":7}`)))
	w.wantRows("id=1 n=7", "id=2 n=7", "id=3 n=7")
}

func TestACommitToAnotherBranchIsAConflict(t *testing.T) {
	t.Parallel()
	w := newWorld(t, shopOrders, `topics: [orders], format: flat`)
	warm := w.pipeline()
	w.must(deliver(t.Context(), warm, flat(partition(0), 0, `{"id":1,"n":1}`)))
	s := *w.load().CurrentSnapshot()
	parent := s.SnapshotID
	s.SnapshotID, s.ParentSnapshotID, s.SequenceNumber = 4711, &parent, s.SequenceNumber+1
	w.update(table.NewAddSnapshotUpdate(&s), table.NewSetSnapshotRefUpdate("audit", s.SnapshotID, table.BranchRef, 0, 0, 0))
	w.must(deliver(t.Context(), warm, flat(partition(0), 1, `{"id":1,"n":2}`)))
	w.wantRows("id=1 n=2")
}

func TestATableUpgradedMeanwhileIsWrittenByItsNewRules(t *testing.T) {
	t.Parallel()
	w := newWorld(t, leftAlone(shopOrders), `topics: [orders], format: flat`)
	warm := w.pipeline()
	w.must(deliver(t.Context(), warm, flat(partition(0), 0, `{"id":1,"n":1}`), flat(partition(0), 1, `{"id":2,"n":2}`)))
	w.update(table.NewUpgradeFormatVersionUpdate(3))
	w.must(deliver(t.Context(), warm, flat(partition(0), 2, `{"id":1,"n":3}`)))
	w.wantRows("id=1 n=3", "id=2 n=2")
	if s := w.load().CurrentSnapshot(); s.Summary.Properties["added-dvs"] != "1" || s.FirstRowID == nil {
		t.Errorf("the snapshot is none of version 3: %+v %v", s, s.Summary)
	}
}

func TestFilesStayBelowTheTablesLocation(t *testing.T) {
	t.Parallel()
	spec := shopOrders
	spec.Name = "shop.größe x" // no letters that an address would have to escape may change on the way
	w := newWorld(t, spec, `topics: [orders], format: flat`)
	for _, name := range []string{"write.data.path", "write.folder-storage.path", "write.object-storage.path"} {
		w.must(w.lake.SetProperties(t.Context(), w.name, map[string]string{name: "s3://frazil/elsewhere"}))
	}
	w.must(deliver(t.Context(), w.pipeline(), flat(partition(0), 0, `{"id":1,"n":10}`)))
	w.must(deliver(t.Context(), w.pipeline(), flat(partition(0), 1, `{"id":1,"n":11}`)))
	for _, k := range w.objects.Keys(stack.Bucket, "") {
		if path := "s3://" + stack.Bucket + "/" + k; !strings.HasPrefix(path, w.load().Location()+"/") {
			t.Errorf("%s is outside of %s", path, w.load().Location())
		}
	}
	w.wantRows("id=1 n=11")
}

// Iceberg's own name of a partition by a nested column has a dot, which no Avro schema takes; sources have columns with
// blanks.
func TestPartitionsOfAnyNameAreWritten(t *testing.T) {
	t.Parallel()
	spec := shopOrders
	spec.Columns = append(slices.Clone(spec.Columns), lake.Column{Name: "addr", Type: "struct<city: string>"}, lake.Column{Name: "2nd größe", Type: "int"})
	w := newWorld(t, spec, `topics: [orders], format: flat`)
	w.alter(func(tx *table.Transaction) error {
		return tx.UpdateSpec(true).AddField("addr.city", iceberg.IdentityTransform{}, "addr.city").
			AddField("2nd größe", iceberg.BucketTransform{NumBuckets: 2}, "2nd größe (2)").Commit()
	})
	p := w.pipeline()
	w.must(deliver(t.Context(), p, flat(partition(0), 0, `{"id":1,"n":1,"addr":{"city":"Bath"},"2nd größe":5}`), flat(partition(0), 1, `{"id":2,"addr":null}`)))
	w.must(deliver(t.Context(), p, flat(partition(0), 2, `{"id":1,"n":2,"addr":{"city":"Ely"}}`)))
	w.must(deliver(t.Context(), w.pipeline(), flat(partition(0), 3, `{"id":1,"n":3,"addr":{"city":"Bath"}}`)))
	w.wantRows(`id=1 n=3 addr={"city":"Bath"}`, `id=2`)
}

// The column that a spec of the past was made of may be gone; files of that spec still have their partitions.
func TestFilesOfASpecWhoseColumnIsGoneCanBeReplaced(t *testing.T) {
	t.Parallel()
	for _, deletes := range []string{"position", "rewrite"} {
		for _, version := range []int{2, 3} {
			spec := shopOrders
			spec.Version, spec.Partition = version, []string{"identity(n)"}
			w := newWorld(t, spec, "topics: [orders], format: flat, deletes: "+deletes)
			p := w.pipeline()
			w.must(deliver(t.Context(), p, flat(partition(0), 0, `{"id":1,"n":1}`), flat(partition(0), 1, `{"id":2,"n":1}`), flat(partition(0), 2, `{"id":3,"n":2}`)))
			w.must(w.lake.Repartition(t.Context(), w.name, nil))
			w.must(w.lake.Alter(t.Context(), w.name, []lake.Column{{Name: "id", Type: "long", Required: true}, {Name: "m", Type: "int"}}))
			w.must(deliver(t.Context(), p, flat(partition(0), 3, `{"id":2,"m":5}`)))
			w.must(deliver(t.Context(), p, gone(partition(0), 4, `{"id":3}`)))
			w.must(deliver(t.Context(), p, flat(partition(0), 5, `{"id":1,"m":7}`)))
			w.wantRows("id=1 m=7", "id=2 m=5")
		}
	}
}

// Bounds are cut; the keys behind them are not.
func TestKeysOf64KiBAreToldApart(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("\U0010FFFF", 16<<10) // no code point above it: an upper bound of the first of them cannot be raised
	for _, deletes := range []string{"position", "rewrite", "equality"} {
		spec := lake.Spec{
			Name: "shop.orders", Columns: []lake.Column{{Name: "id", Type: "string", Required: true}, {Name: "n", Type: "int"}}, Key: []string{"id"},
			Partition: []string{"truncate(100, id)"},
		}
		w := newWorld(t, spec, "topics: [orders], format: flat, deletes: "+deletes)
		row := func(offset int64, end string, n int) kafka.Record {
			return flat(partition(0), offset, fmt.Sprintf(`{"id":"%s%s","n":%d}`, long, end, n))
		}
		w.must(deliver(t.Context(), w.pipeline(), row(0, "a", 1), row(1, "b", 2), row(2, "", 3)))
		w.must(deliver(t.Context(), w.pipeline(), row(3, "b", 20), gone(partition(0), 4, `{"id":"`+long+`a"}`)))
		w.wantRows("id="+long+" n=3", "id="+long+"b n=20")
	}
}

// Spark and PyIceberg skip manifests by the bounds of their partitions.
func TestAnEmptyTextIsABoundOfItsPartitions(t *testing.T) {
	t.Parallel()
	spec := shopOrders
	spec.Columns, spec.Partition = append(slices.Clone(spec.Columns), lake.Column{Name: "s", Type: "string"}), []string{"identity(s)"}
	w := newWorld(t, spec, `topics: [orders], format: flat`)
	w.must(deliver(t.Context(), w.pipeline(), flat(partition(0), 0, `{"id":1,"s":""}`), flat(partition(0), 1, `{"id":2,"s":"a"}`)))
	for n := range 3 { // as it was written, and taken over
		list := w.manifests(w.load().CurrentSnapshot())
		p := list[len(list)-1].Partitions()[0]
		if p.LowerBound == nil || len(*p.LowerBound) != 0 || p.UpperBound == nil || string(*p.UpperBound) != "a" {
			t.Errorf("after %d more: the bounds are %v and %v", n, p.LowerBound, p.UpperBound)
		}
		w.must(deliver(t.Context(), w.pipeline(), flat(partition(0), int64(2+n), fmt.Sprintf(`{"id":%d,"s":"b"}`, 10+n))))
	}
}
