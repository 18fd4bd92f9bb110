package stage_test

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"testing"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table/dv"
	"github.com/frazil/frazil/internal/locate"
	"github.com/frazil/frazil/internal/resolve"
	"github.com/frazil/frazil/internal/rows"
	"github.com/frazil/frazil/internal/stage"
	"github.com/frazil/frazil/internal/tablefile"
	"github.com/google/go-cmp/cmp"
)

// lot is a table without a catalog: the live files of a snapshot and their bytes.
type lot struct {
	testing.TB
	batch    *rows.Batch
	target   stage.Target
	objects  map[string][]byte
	live     []locate.File
	sequence int64
}

func (l *lot) Read(_ context.Context, path string) ([]byte, error) {
	data, ok := l.objects[path]
	if !ok {
		return nil, fmt.Errorf("%s: %w", path, fs.ErrNotExist)
	}
	return data, nil
}

func (l *lot) ReadRange(ctx context.Context, path string, off, n int64) ([]byte, error) {
	data, err := l.Read(ctx, path)
	if err != nil {
		return nil, err
	}
	return data[off : off+n], nil
}

// careless tables keep their data files whatever dies in them.
var careless = map[string]string{"frazil.care.half-dead": "false", "frazil.care.dead-files": "false"}

// newLot has a data file with the ids 0 to 9 in each of two partitions of the column p.
func newLot(t testing.TB, version int, properties map[string]string) *lot {
	t.Helper()
	var list [][]rows.Cell
	for i := range 20 {
		list = append(list, []rows.Cell{{Int: int64(i / 10)}})
	}
	l := &lot{TB: t, batch: batch(t, []iceberg.Type{prim.Int32}, list...), objects: map[string][]byte{}}
	l.target = target(t, l.batch.Schema)
	partitioned(10, "p", iceberg.IdentityTransform{})(&l.target)
	l.target.Version, l.target.Specs = version, []iceberg.PartitionSpec{l.target.Spec, *iceberg.UnpartitionedSpec}
	l.target.Global = *iceberg.UnpartitionedSpec
	layout, err := stage.NewLayout(properties, l.target.Schema, nil)
	if err != nil {
		t.Fatal(err)
	}
	l.target.Layout = layout
	all := make([]int, 20)
	for i := range all {
		all[i] = i
	}
	l.apply(l.write(stage.Position, &resolve.Outcome{Batch: l.batch, Write: picks(all...), Found: &locate.Found{}}))
	return l
}

func (l *lot) snapshot() *locate.Snapshot {
	return locate.Of(locate.Table{Schemas: []*iceberg.Schema{l.target.Schema}, Specs: l.target.Specs}, l.live)
}

func (l *lot) write(e stage.Encoding, o *resolve.Outcome) *stage.Files {
	l.Helper()
	files, err := stage.Write(l.Context(), l, l.snapshot(), o, e, l.target)
	if err != nil {
		l.Fatal(err)
	}
	return files
}

// apply makes what was staged the snapshot.
func (l *lot) apply(f *stage.Files) {
	l.Helper()
	l.sequence++
	for _, o := range f.Objects {
		l.objects[o.Path] = o.Data
	}
	for _, gone := range f.Removed {
		n := len(l.live)
		l.live = slices.DeleteFunc(l.live, func(f locate.File) bool { return f.DataFile == gone.DataFile })
		if len(l.live) == n {
			l.Fatalf("%s was removed, but is not live", gone.FilePath())
		}
	}
	for _, added := range append(f.Data, f.Deletes...) {
		l.live = append(l.live, locate.File{File: tablefile.File{DataFile: added, Sequence: l.sequence}})
	}
}

// kill deletes the rows with the given ids.
func (l *lot) kill(e stage.Encoding, ids ...int64) *stage.Files {
	l.Helper()
	b := rows.NewBatch(l.batch.Schema)
	for _, id := range ids {
		var p rows.Parts
		p.Int(id)
		b.Delete(b.Keys.Intern(&p))
	}
	found, err := l.snapshot().Find(l.Context(), l, b.Schema, b.Keys)
	if err != nil {
		l.Fatal(err)
	}
	o := &resolve.Outcome{Batch: b, Found: found}
	for k := range rows.Key(b.Keys.Len()) {
		o.Keys = append(o.Keys, k)
	}
	files := l.write(e, o)
	l.apply(files)
	return files
}

// alive is the ids that are found.
func (l *lot) alive() (out []int64) {
	l.Helper()
	b := rows.NewBatch(l.batch.Schema)
	for id := range int64(20) {
		var p rows.Parts
		p.Int(id)
		b.Keys.Intern(&p)
	}
	found, err := l.snapshot().Find(l.Context(), l, b.Schema, b.Keys)
	if err != nil {
		l.Fatal(err)
	}
	for _, h := range found.Hits {
		out = append(out, int64(h.Key))
	}
	slices.Sort(out)
	return out
}

func (l *lot) wantDead(dead ...int64) {
	l.Helper()
	var want []int64
	for id := range int64(20) {
		if !slices.Contains(dead, id) {
			want = append(want, id)
		}
	}
	if diff := cmp.Diff(want, l.alive()); diff != "" {
		l.Error(diff)
	}
}

func TestAPartitionsPositionDeletesBecomeOneFileWhenTheyAreMany(t *testing.T) {
	t.Parallel()
	l := newLot(t, 2, careless)
	l.kill(stage.Position, 19)
	for id := range int64(9) {
		if f := l.kill(stage.Position, id); len(f.Deletes) != 1 || len(f.Removed) != 0 || f.Deletes[0].Partition()[1000] != int32(0) {
			t.Fatalf("deletes %d, removed %d", len(f.Deletes), len(f.Removed))
		}
	}
	l.kill(stage.Position, 18)
	l.wantDead(0, 1, 2, 3, 4, 5, 6, 7, 8, 18, 19)
	// The file of a data file that is gone.
	gone := l.live[0]
	l.live = slices.Delete(l.live, 0, 1)
	l.live = append(l.live, gone)
	f := l.kill(stage.Position, 9)
	if len(f.Removed) != 0 {
		t.Errorf("9 files and one more are not too many: %d removed", len(f.Removed))
	}
	l.wantDead(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 18, 19)
}

func TestManyPositionDeletesOfOneDataFileAreMerged(t *testing.T) {
	t.Parallel()
	l := newLot(t, 2, careless)
	for id := range int64(9) {
		l.kill(stage.Position, id)
	}
	// As if other writers had left more, some of them of a file that was rewritten since.
	stranger := l.live[len(l.live)-1]
	b, err := iceberg.NewDataFileBuilder(l.target.Spec, iceberg.EntryContentPosDeletes, stranger.FilePath(), iceberg.ParquetFile, stranger.Partition(), nil, nil, stranger.Count(), stranger.FileSizeBytes())
	if err != nil {
		t.Fatal(err)
	}
	l.live = append(l.live, locate.File{File: tablefile.File{DataFile: b.Build(), Sequence: stranger.Sequence}})
	f := l.kill(stage.Position, 9)
	if len(f.Deletes) != 1 || f.Deletes[0].Count() != 10 || len(f.Removed) != 10 {
		t.Errorf("%d files of %d positions were written, %d removed", len(f.Deletes), f.Deletes[0].Count(), len(f.Removed))
	}
	l.wantDead(0, 1, 2, 3, 4, 5, 6, 7, 8, 9)
}

func TestPositionDeletesByFileReplaceTheirOwn(t *testing.T) {
	t.Parallel()
	l := newLot(t, 2, map[string]string{"write.delete.granularity": "file"})
	l.kill(stage.Position, 1, 2, 11)
	f := l.kill(stage.Position, 3, 12)
	if len(f.Deletes) != 2 || len(f.Removed) != 2 || f.Deletes[0].Count() != 3 || f.Deletes[1].Count() != 2 || f.Deletes[0].ReferencedDataFile() == nil {
		t.Errorf("%d written, %d removed", len(f.Deletes), len(f.Removed))
	}
	l.wantDead(1, 2, 3, 11, 12)
}

func TestADataFileHasOneVector(t *testing.T) {
	t.Parallel()
	l := newLot(t, 3, nil)
	l.kill(stage.Position, 1, 2, 11)
	f := l.kill(stage.Position, 3)
	if len(f.Deletes) != 1 || f.Deletes[0].Count() != 3 || len(f.Removed) != 1 || len(f.Objects) != 1 {
		t.Fatalf("%d vectors written, %d removed, %d objects", len(f.Deletes), len(f.Removed), len(f.Objects))
	}
	v := f.Deletes[0]
	if v.FileFormat() != iceberg.PuffinFile || v.ReferencedDataFile() == nil || v.Partition()[1000] != int32(0) || v.FileSizeBytes() != int64(len(f.Objects[0].Data)) {
		t.Errorf("the entry: %v", v)
	}
	blob := f.Objects[0].Data[*v.ContentOffset():][:*v.ContentSizeInBytes()]
	if positions, err := dv.DeserializeDV(blob, 3); err != nil || !positions.Contains(1) || positions.Contains(0) {
		t.Errorf("the blob: %v", err)
	}
	l.wantDead(1, 2, 3, 11)
}

// DuckDB misreads short vectors behind a long one.
func TestVectorsLieInTheOrderOfTheirLengths(t *testing.T) {
	t.Parallel()
	l := newLot(t, 3, careless)
	f := l.kill(stage.Position, 1, 3, 5, 7, 9, 12)
	if len(f.Deletes) != 2 || *f.Deletes[0].ContentSizeInBytes() >= *f.Deletes[1].ContentSizeInBytes() || *f.Deletes[0].ContentOffset() >= *f.Deletes[1].ContentOffset() {
		t.Errorf("%d vectors: %v and %v bytes", len(f.Deletes), *f.Deletes[0].ContentSizeInBytes(), *f.Deletes[1].ContentSizeInBytes())
	}
	l.wantDead(1, 3, 5, 7, 9, 12)
}

// A table that was upgraded: readers of a file with a vector look at no position-delete file any more.
func TestTheFirstVectorHoldsWhatPositionDeleteFilesSaid(t *testing.T) {
	t.Parallel()
	l := newLot(t, 2, nil)
	l.kill(stage.Position, 1, 11)
	l.kill(stage.Position, 2)
	l.target.Version = 3
	if f := l.kill(stage.Position, 3); f.Deletes[0].Count() != 3 || len(f.Removed) != 2 {
		t.Errorf("a vector of %d positions, %d files removed", f.Deletes[0].Count(), len(f.Removed))
	}
	l.wantDead(1, 2, 3, 11)
}

func TestARewriteLeavesTheLiveRows(t *testing.T) {
	t.Parallel()
	for _, version := range []int{2, 3} {
		l := newLot(t, version, nil)
		l.kill(stage.Position, 1)
		l.kill(stage.Equality, 2, 12)
		f := l.kill(stage.Rewrite, 3)
		if len(f.Data) != 1 || f.Data[0].Count() != 7 || len(f.Deletes) != 0 || len(f.Removed) != 2 {
			t.Errorf("%d files of %d rows were written, %d removed", len(f.Data), f.Data[0].Count(), len(f.Removed))
		}
		l.wantDead(1, 2, 3, 12)
	}
}

func TestARewriteOfARowlessFileWritesNone(t *testing.T) {
	t.Parallel()
	l := newLot(t, 2, nil)
	if f := l.kill(stage.Rewrite, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9); len(f.Data)+len(f.Deletes)+len(f.Objects) != 0 || len(f.Removed) != 1 {
		t.Errorf("%d files, %d removed", len(f.Objects), len(f.Removed))
	}
	l.wantDead(0, 1, 2, 3, 4, 5, 6, 7, 8, 9)
}

func TestAnEqualityDeleteSpeaksOfAllPartitions(t *testing.T) {
	t.Parallel()
	l := newLot(t, 2, nil)
	f := l.kill(stage.Equality, 5, 15, 99)
	d := f.Deletes[0]
	if len(f.Deletes) != 1 || d.Count() != 3 || d.ContentType() != iceberg.EntryContentEqDeletes || int(d.SpecID()) != 0 || !slices.Equal(d.EqualityFieldIDs(), []int{1}) {
		t.Errorf("the entry: %v %v", d.SpecID(), d.EqualityFieldIDs())
	}
	if diff := cmp.Diff([]string{" 5", " 15", " 99"}, contents(t, f.Objects[0].Data)); diff != "" {
		t.Error(diff)
	}
	l.wantDead(5, 15)
}
