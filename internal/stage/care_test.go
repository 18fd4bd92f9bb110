package stage_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/apache/iceberg-go"
	"github.com/frazil/frazil/internal/locate"
	"github.com/frazil/frazil/internal/resolve"
	"github.com/frazil/frazil/internal/rows"
	"github.com/frazil/frazil/internal/stage"
	"github.com/google/go-cmp/cmp"
)

// put writes rows of the lot's batch once more, as if they were others.
func (l *lot) put(e stage.Encoding, indexes ...int) *stage.Files {
	l.Helper()
	f := l.write(e, &resolve.Outcome{Batch: l.batch, Write: picks(indexes...), Found: &locate.Found{}})
	l.apply(f)
	return f
}

func (l *lot) wantCare(f *stage.Files, want stage.Tally) {
	l.Helper()
	if diff := cmp.Diff(want, f.Care); diff != "" {
		l.Error(diff)
	}
}

func TestAHalfDeadFileIsWrittenAgain(t *testing.T) {
	t.Parallel()
	for _, version := range []int{2, 3} {
		l := newLot(t, version, nil)
		l.wantCare(l.kill(stage.Position, 1, 2, 3, 4, 11), stage.Tally{ByPosition: 2})
		f := l.kill(stage.Position, 5, 12)
		l.wantCare(f, stage.Tally{ByPosition: 1, Rewritten: 1})
		if len(f.Data) != 1 || f.Data[0].Count() != 5 || len(f.Deletes) != 1 {
			t.Errorf("v%d: %d data files and %d delete files", version, len(f.Data), len(f.Deletes))
		}
		l.wantDead(1, 2, 3, 4, 5, 11, 12)
	}
}

func TestAHalfDeadFileIsLeftWhereCareIsOffOrHasNoBudget(t *testing.T) {
	t.Parallel()
	for _, properties := range []map[string]string{{"frazil.care.half-dead": "false"}, {"frazil.care.budget-bytes": "300"}} {
		l := newLot(t, 3, properties)
		l.wantCare(l.kill(stage.Position, 1, 2, 3, 4, 5), stage.Tally{ByPosition: 1})
		l.wantDead(1, 2, 3, 4, 5)
	}
}

// With the file go the delete files that speak of it alone.
func TestADeadFileIsRemoved(t *testing.T) {
	t.Parallel()
	for name, versions := range map[string][2]int{"v2": {2, 2}, "v3": {3, 3}, "upgraded": {2, 3}} {
		for _, e := range []stage.Encoding{stage.Position, stage.Rewrite, stage.Auto} {
			l := newLot(t, versions[0], map[string]string{"frazil.care.half-dead": "false"})
			l.kill(stage.Position, 0, 1)
			l.target.Version = versions[1]
			l.kill(stage.Equality, 2, 11)
			f := l.kill(e, 3, 4, 5, 6, 7, 8, 9)
			l.wantCare(f, stage.Tally{Dead: 1})
			if len(f.Objects) != 0 || len(f.Removed) != 2 {
				t.Errorf("%s, %s: %d objects, %d files removed", name, e, len(f.Objects), len(f.Removed))
			}
			l.wantDead(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11)
		}
	}
}

// What another writer killed whole goes with our next commit that takes rows away; the vector is read, since manifests may be
// wrong.
func TestAFileThatAVectorKilledIsRemoved(t *testing.T) {
	t.Parallel()
	l := newLot(t, 3, careless)
	l.kill(stage.Position, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9)
	l.target.Layout = layout(t, l, nil)
	f := l.kill(stage.Position, 11)
	l.wantCare(f, stage.Tally{Dead: 1, ByPosition: 1})
	if len(f.Removed) != 2 {
		t.Errorf("%d files removed", len(f.Removed))
	}
	l.wantDead(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11)
}

// A vector that has as many positions as its file has rows, but not theirs.
func TestAFileIsNotDeadByPositionsOfNoRow(t *testing.T) {
	t.Parallel()
	for _, pos := range []int64{9, 10} {
		l := newLot(t, 3, careless)
		file := l.live[0]
		found := &locate.Found{Files: map[string]locate.File{file.FilePath(): file}}
		for i := range int64(9) {
			found.Hits = append(found.Hits, locate.Hit{File: file.FilePath(), Pos: i})
		}
		found.Hits = append(found.Hits, locate.Hit{File: file.FilePath(), Pos: pos})
		l.apply(l.write(stage.Position, &resolve.Outcome{Batch: l.batch, Found: found}))
		l.target.Layout = layout(t, l, map[string]string{"frazil.care.half-dead": "false"})
		if f := l.kill(stage.Position, 11); f.Care.Dead != int(10-pos) {
			t.Errorf("positions up to %d: %+v", pos, f.Care)
		}
	}
}

// Position deletes of two files that are gone, and a newer file whose path lies between theirs.
func TestPositionDeletesOfFilesThatAreGoneGoToo(t *testing.T) {
	t.Parallel()
	l := newLot(t, 2, careless)
	l.target.Spec, l.target.Specs = *iceberg.UnpartitionedSpec, []iceberg.PartitionSpec{*iceberg.UnpartitionedSpec}
	l.live = nil
	for _, prefix := range []string{"a", "c"} {
		l.target.Path = func(name string) string { return "s3://b/data/" + prefix + name }
		l.put(stage.Position, map[string][]int{"a": {0, 1, 2}, "c": {3, 4, 5}}[prefix]...)
	}
	if f := l.kill(stage.Position, 1, 4); len(f.Deletes) != 1 {
		t.Fatalf("%d delete files", len(f.Deletes))
	}
	l.target.Path = func(name string) string { return "s3://b/data/b" + name }
	if f := l.kill(stage.Rewrite, 0); len(f.Data) != 1 || len(f.Removed) != 1 {
		t.Errorf("the delete file still speaks of a file: %d removed", len(f.Removed))
	}
	if f := l.kill(stage.Rewrite, 3); len(f.Data) != 1 || len(f.Removed) != 2 {
		t.Errorf("it speaks of none any more: %d removed", len(f.Removed))
	}
	if diff := cmp.Diff([]int64{2, 5}, l.alive()); diff != "" {
		t.Error(diff)
	}
}

// What delete files say of a data file that goes is not merged with what they say of others.
func TestMergedDeleteFilesSayNothingOfFilesThatGo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		with          []int64 // killed with the row 0 of the file that will go
		removed, rows int
	}{
		"a delete file of its own":       {[]int64{0}, 2, 1},
		"one that speaks of others, too": {[]int64{0, 8}, 1 + 10, 9 + 1 + 1},
	} {
		l := newLot(t, 2, map[string]string{"frazil.care.half-dead": "false"})
		for id := range int64(8) {
			l.kill(stage.Position, id)
		}
		l.put(stage.Position, 0, 1)
		l.kill(stage.Position, c.with...)
		l.put(stage.Position, 3, 4, 5)
		l.kill(stage.Position, 4)
		f := l.kill(stage.Position, 1, 3)
		l.wantCare(f, stage.Tally{Dead: 1, ByPosition: 1})
		if len(f.Removed) != c.removed || len(f.Deletes) != 1 || f.Deletes[0].Count() != int64(c.rows) {
			t.Errorf("%s: %d removed, %d delete files of %d rows", name, len(f.Removed), len(f.Deletes), f.Deletes[0].Count())
		}
	}
}

func layout(t *testing.T, l *lot, properties map[string]string) stage.Layout {
	t.Helper()
	out, err := stage.NewLayout(properties, l.target.Schema, nil)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Small files of a partition become one with the rows that come to it, without what is dead in them by then.
func TestSmallFilesOfAPartitionBecomeOne(t *testing.T) {
	t.Parallel()
	for _, version := range []int{2, 3} {
		l := newLot(t, version, map[string]string{"frazil.care.level-files": "3"})
		l.kill(stage.Position, 1, 11)
		l.kill(stage.Equality, 2)
		l.wantCare(l.put(stage.Position, 3), stage.Tally{})
		f := l.put(stage.Position, 4, 14)
		l.wantCare(f, stage.Tally{Merged: 2})
		if len(f.Data) != 2 || f.Data[0].Count() != 10 || f.Data[1].Count() != 1 {
			t.Errorf("v%d: %d data files, of %d rows", version, len(f.Data), f.Data[0].Count())
		}
		if len(f.Removed) != 3 { // with the vector or delete file of the older
			t.Errorf("v%d: %d files removed", version, len(f.Removed))
		}
		if diff := cmp.Diff([]int64{0, 3, 3, 4, 4, 5, 6, 7, 8, 9, 10, 12, 13, 14, 14, 15, 16, 17, 18, 19}, l.alive()); diff != "" {
			t.Error(diff)
		}
	}
}

func TestSmallFilesAreLeftWhereLevelsAreOff(t *testing.T) {
	t.Parallel()
	for _, properties := range []map[string]string{{"frazil.care.levels": "false"}, {"frazil.care.budget-bytes": "0"}} {
		properties = maps.Clone(properties)
		properties["frazil.care.level-files"] = "2"
		l := newLot(t, 2, properties)
		l.wantCare(l.put(stage.Position, 3, 4), stage.Tally{})
		l.wantCare(l.put(stage.Rewrite, 3, 4), stage.Tally{})
	}
}

func TestTheBudgetIsThatOfAllPartitions(t *testing.T) {
	t.Parallel()
	l := newLot(t, 3, map[string]string{"frazil.care.level-files": "2"})
	budget := l.live[0].FileSizeBytes() * 3 / 2
	l.target.Layout = layout(t, l, map[string]string{"frazil.care.level-files": "2", "frazil.care.budget-bytes": fmt.Sprint(budget)})
	l.wantCare(l.put(stage.Position, 0, 10), stage.Tally{Merged: 1})
}

// A process that has memory for no more than a few of them leaves files alone that are small to others.
func TestWhatIsSmallGoesByTheMemory(t *testing.T) {
	t.Parallel()
	for fit, want := range map[int64]stage.Tally{3: {}, 9: {Merged: 1}} {
		l := newLot(t, 3, map[string]string{"frazil.care.level-files": "2"})
		l.target.Layout = l.target.Layout.Sparing(l.live[0].FileSizeBytes() * fit)
		l.wantCare(l.put(stage.Position, 0, 1, 2, 3, 4), want)
	}
}

// Equality deletes are for who wants nothing read.
func TestEqualityDeletesComeWithoutCare(t *testing.T) {
	t.Parallel()
	l := newLot(t, 2, map[string]string{"frazil.care.level-files": "2"})
	l.wantCare(l.put(stage.Equality, 3, 4), stage.Tally{})
	l.wantCare(l.kill(stage.Equality, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9), stage.Tally{})
}

// lame is a store that has lost what is asked for whole: keys are read by ranges.
type lame struct{ *lot }

func (l lame) Read(context.Context, string) ([]byte, error) { return nil, errors.New("out of order") }

func TestCareNeverFailsACommit(t *testing.T) {
	t.Parallel()
	l := newLot(t, 3, map[string]string{"frazil.care.level-files": "2"})
	o := &resolve.Outcome{Batch: l.batch, Write: picks(3), Found: &locate.Found{}}
	f, err := stage.Write(t.Context(), lame{l}, l.snapshot(), o, stage.Position, l.target)
	if err != nil || len(f.Data) != 1 || f.Data[0].Count() != 1 || len(f.Removed) != 0 {
		t.Fatalf("%v: %v", f, err)
	}
	if f.Care.Neglected == nil || !strings.Contains(f.Care.Neglected.Error(), "out of order") || f.Care.Merged != 0 {
		t.Errorf("the tally is %+v", f.Care)
	}
}

// Rows of before a column was required cannot be written by the new schema.
func TestAFileWithoutRequiredValuesIsLeft(t *testing.T) {
	t.Parallel()
	l := newLot(t, 2, map[string]string{"frazil.care.level-files": "2"})
	l.batch = batch(t, []iceberg.Type{prim.Int32}, []rows.Cell{{Null: true}}, []rows.Cell{{Null: true}}, []rows.Cell{{Int: 4}})
	l.put(stage.Position, 0, 1)
	schema, err := rows.NewSchema(iceberg.NewSchemaWithIdentifiers(1, []int{1},
		iceberg.NestedField{ID: 1, Name: "id", Type: prim.Int64, Required: true},
		iceberg.NestedField{ID: 10, Name: "p", Type: prim.Int32, Required: true}), nil)
	if err != nil {
		t.Fatal(err)
	}
	l.target.Spec = *iceberg.UnpartitionedSpec
	l.live[len(l.live)-1].DataFile = unpartitioned(t, l.live[len(l.live)-1])
	l.batch = rows.NewBatch(schema)
	l.batch.Put(0, []rows.Cell{{Int: 7}, {Int: 7}})
	f := l.put(stage.Position, 0)
	if f.Care.Neglected == nil || f.Care.Merged != 0 || f.Data[0].Count() != 1 {
		t.Errorf("%+v, %d rows", f.Care, f.Data[0].Count())
	}
}

// unpartitioned is a file as one of a table without partitions.
func unpartitioned(t *testing.T, f locate.File) iceberg.DataFile {
	t.Helper()
	b, err := iceberg.NewDataFileBuilder(*iceberg.UnpartitionedSpec, f.ContentType(), f.FilePath(), f.FileFormat(), nil, nil, nil, f.Count(), f.FileSizeBytes())
	if err != nil {
		t.Fatal(err)
	}
	return b.Build()
}

func TestACommitWithoutChangesChangesNoFile(t *testing.T) {
	t.Parallel()
	l := newLot(t, 3, careless)
	l.kill(stage.Position, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9)
	l.target.Layout = layout(t, l, nil)
	if f := l.put(stage.Position); len(f.Removed)+len(f.Objects) != 0 {
		t.Errorf("%d files removed, %d written", len(f.Removed), len(f.Objects))
	}
}

func TestAutoWritesSmallFilesAgainAndLeavesTheRest(t *testing.T) {
	t.Parallel()
	l := newLot(t, 3, map[string]string{"frazil.care.half-dead": "false"})
	l.wantCare(l.kill(stage.Auto, 1), stage.Tally{Rewritten: 1})
	budget := (l.live[0].FileSizeBytes() + l.live[1].FileSizeBytes()) * 3 / 4 // for one of the two
	l.target.Layout = layout(t, l, map[string]string{"frazil.care.half-dead": "false", "frazil.care.budget-bytes": fmt.Sprint(budget)})
	l.wantCare(l.kill(stage.Auto, 2, 11), stage.Tally{Rewritten: 1, ByPosition: 1})
	l.wantDead(1, 2, 11)
}

func TestWrongCarePropertiesAreErrors(t *testing.T) {
	t.Parallel()
	l := newLot(t, 2, nil)
	for name, value := range map[string]string{
		"frazil.care.levels": "yes", "frazil.care.half-dead": "", "frazil.care.dead-files": "1", "frazil.care.budget-bytes": "-1",
		"frazil.care.level-files": "1", "frazil.care.small-bytes": "0",
	} {
		if _, err := stage.NewLayout(map[string]string{name: value}, l.target.Schema, nil); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s=%q: %v", name, value, err)
		}
	}
}
