package stage_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/iceberg-go"
	"github.com/frazil/frazil/internal/locate"
	"github.com/frazil/frazil/internal/resolve"
	"github.com/frazil/frazil/internal/rows"
	"github.com/frazil/frazil/internal/stage"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
)

// partitioned sets a spec with one field.
func partitioned(source int, name string, by iceberg.Transform) func(*stage.Target) {
	return func(to *stage.Target) {
		to.Spec = iceberg.NewPartitionSpecID(3, iceberg.PartitionField{SourceIDs: []int{source}, FieldID: 1000, Name: name, Transform: by})
	}
}

// inFolders lists the files as "folder rows partition".
func inFolders(files *stage.Files) (out []string) {
	for _, f := range files.Data {
		path := strings.TrimPrefix(f.FilePath(), "s3://b/data/")
		out = append(out, fmt.Sprint(path[:strings.LastIndexByte(path, '/')+1], " ", f.Count(), " ", f.Partition()[1000]))
	}
	return out
}

func TestRowsGoToTheirPartitions(t *testing.T) {
	t.Parallel()
	b := batch(t, []iceberg.Type{prim.Date, prim.String},
		[]rows.Cell{{Int: -1}, {Bytes: []byte("a b")}}, []rows.Cell{{Int: 0}, {Null: true}}, []rows.Cell{{Null: true}, {Bytes: []byte("a b")}}, []rows.Cell{{Int: -31}, {Bytes: []byte("ü/=")}})
	for name, c := range map[string]struct {
		spec func(*stage.Target)
		want []string
	}{
		"day":      {partitioned(10, "d", iceberg.DayTransform{}), []string{"d=1969-12-31/ 1 -1", "d=1970-01-01/ 1 0", "d=null/ 1 <nil>", "d=1969-12-01/ 1 -31"}},
		"month":    {partitioned(10, "m", iceberg.MonthTransform{}), []string{"m=1969-12/ 2 -1", "m=1970-01/ 1 0", "m=null/ 1 <nil>"}},
		"identity": {partitioned(11, "s", iceberg.IdentityTransform{}), []string{"s=a+b/ 2 a b", "s=null/ 1 <nil>", "s=%C3%BC%2F%3D/ 1 ü/="}},
		"truncate": {partitioned(11, "s", iceberg.TruncateTransform{Width: 1}), []string{"s=a/ 2 a", "s=null/ 1 <nil>", "s=%C3%BC/ 1 ü"}},
		"void":     {partitioned(11, "s", iceberg.VoidTransform{}), []string{"s=null/ 4 <nil>"}},
	} {
		if diff := cmp.Diff(c.want, inFolders(laidOut(t, b, nil, c.spec))); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// The hashes are those of the Iceberg spec (appendix B).
func TestBucketsAreThoseOfTheSpec(t *testing.T) {
	t.Parallel()
	at := time.Date(2017, 11, 16, 22, 31, 8, 0, time.UTC)
	id := uuid.MustParse("f79c3e09-677c-4bbd-a479-3f349cb785e7")
	for _, c := range []struct {
		typ  iceberg.Type
		cell rows.Cell
		hash int32
	}{
		{prim.Int32, rows.Cell{Int: 34}, 2017239379},
		{prim.Int64, rows.Cell{Int: 34}, 2017239379},
		{iceberg.DecimalTypeOf(9, 2), rows.Cell{Decimal: decimal128.FromI64(1420)}, -500754589},
		{iceberg.DecimalTypeOf(38, 2), rows.Cell{Decimal: decimal128.FromI64(1420)}, -500754589},
		{prim.Date, rows.Cell{Int: at.Unix() / 86400}, -653330422},
		{prim.Time, rows.Cell{Int: at.UnixMicro() % 86_400_000_000}, -662762989},
		{prim.Timestamp, rows.Cell{Int: at.UnixMicro()}, -2047944441},
		{prim.TimestampTz, rows.Cell{Int: at.UnixMicro() + 1}, -1207196810},
		{prim.TimestampNs, rows.Cell{Int: at.UnixNano()}, -2047944441},
		{prim.TimestampTzNs, rows.Cell{Int: at.UnixNano() + 1001}, -1207196810},
		{prim.String, rows.Cell{Bytes: []byte("iceberg")}, 1210000089},
		{prim.UUID, rows.Cell{Bytes: id[:]}, 1488055340},
		{iceberg.FixedTypeOf(4), rows.Cell{Bytes: []byte{0, 1, 2, 3}}, -188683207},
		{prim.Binary, rows.Cell{Bytes: []byte{0, 1, 2, 3}}, -188683207},
	} {
		files := laidOut(t, batch(t, []iceberg.Type{c.typ}, []rows.Cell{c.cell}), nil, partitioned(10, "p", iceberg.BucketTransform{NumBuckets: math.MaxInt32}))
		if got, want := files.Data[0].Partition()[1000], c.hash&math.MaxInt32%math.MaxInt32; got != want {
			t.Errorf("%s: bucket %v, want %d", c.typ, got, want)
		}
	}
}

// What frazil does not know of a table it does not guess: partitions would be wrong, an order be claimed that is none.
func TestUnknownTransforms(t *testing.T) {
	t.Parallel()
	foreign, err := iceberg.ParseTransform("zorder[3]")
	if err != nil {
		t.Fatal(err)
	}
	b := batch(t, []iceberg.Type{prim.Int32}, []rows.Cell{{Int: 5}}, []rows.Cell{{Int: 4}})
	to := target(t, b.Schema)
	partitioned(10, "p", foreign)(&to)
	o := &resolve.Outcome{Batch: b, Write: picks(0), Found: &locate.Found{}}
	if _, err := stage.Write(t.Context(), nil, &locate.Snapshot{}, o, stage.Position, to); err == nil || !strings.Contains(err.Error(), "partition field p: the transform zorder[3] is not supported") {
		t.Errorf("partitions: %v", err)
	}
	several := iceberg.PartitionField{SourceIDs: []int{10, 11}, FieldID: 1000, Name: "p", Transform: iceberg.BucketTransform{NumBuckets: 2}}
	to.Spec = iceberg.NewPartitionSpecID(1, several)
	if _, err := stage.Write(t.Context(), nil, &locate.Snapshot{}, o, stage.Position, to); err == nil || !strings.Contains(err.Error(), "of several columns is not supported") {
		t.Errorf("partitions of several columns: %v", err)
	}
	files := laidOut(t, b, nil, func(to *stage.Target) {
		to.Sort = stage.Order{ID: 4, Fields: []stage.OrderField{{SourceID: 10, Transform: iceberg.IdentityTransform{}}, {SourceID: 10, Transform: foreign}}}
	})
	if got := contents(t, files.Objects[0].Data); files.Data[0].SortOrderID() != nil || !strings.HasSuffix(got[0], " 5") {
		t.Errorf("rows %q claim order %v", got, files.Data[0].SortOrderID())
	}
}

// A path has to fit into a key of S3.
func TestAPartitionOfALongNameHasNoFolder(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 2000)
	files := laidOut(t, batch(t, []iceberg.Type{prim.String}, []rows.Cell{{Bytes: []byte(long)}}), nil, partitioned(10, "s", iceberg.IdentityTransform{}))
	if f := files.Data[0]; len(f.FilePath()) > 200 || f.Partition()[1000] != long {
		t.Errorf("%d bytes of path", len(f.FilePath()))
	}
}

func TestRowsAreInTheTablesOrder(t *testing.T) {
	t.Parallel()
	null := rows.Cell{Null: true}
	b := batch(t, []iceberg.Type{prim.Int32, prim.Float64},
		[]rows.Cell{{Int: 5}, {Float: 1}}, []rows.Cell{null, {Float: 2}}, []rows.Cell{{Int: -5}, {Float: 3}}, []rows.Cell{{Int: 5}, {Float: -1}}, []rows.Cell{null, null})
	for name, c := range map[string]struct {
		fields []stage.OrderField
		want   []string
	}{
		"ascending, nulls first": {[]stage.OrderField{{SourceID: 10, Transform: iceberg.IdentityTransform{}}}, []string{"1", "4", "2", "0", "3"}},
		"descending, nulls last": {[]stage.OrderField{{SourceID: 10, Transform: iceberg.IdentityTransform{}, Descending: true, NullsLast: true}}, []string{"0", "3", "2", "1", "4"}},
		"two fields": {[]stage.OrderField{
			{SourceID: 10, Transform: iceberg.TruncateTransform{Width: 100}, NullsLast: true}, {SourceID: 11, Transform: iceberg.IdentityTransform{}}},
			[]string{"2", "3", "0", "4", "1"}},
	} {
		files := laidOut(t, b, nil, func(to *stage.Target) { to.Sort = stage.Order{ID: 4, Fields: c.fields} })
		var got []string
		for _, line := range contents(t, files.Objects[0].Data) {
			got = append(got, strings.Fields(line)[0])
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if id := files.Data[0].SortOrderID(); id == nil || *id != 4 {
			t.Errorf("%s: the file does not claim its order: %v", name, id)
		}
	}
	if id := laidOut(t, b, nil).Data[0].SortOrderID(); id != nil {
		t.Errorf("a file without order claims %d", *id)
	}
}

// A column of type unknown has no place in files, also inside a struct.
func TestUnknownColumnsAreNotStored(t *testing.T) {
	t.Parallel()
	nested := &iceberg.StructType{FieldList: []iceberg.NestedField{{ID: 20, Name: "a", Type: prim.Int32}, {ID: 21, Name: "u", Type: iceberg.UnknownType{}}}}
	empty := &iceberg.StructType{FieldList: []iceberg.NestedField{{ID: 22, Name: "u", Type: iceberg.UnknownType{}}}}
	null := rows.Cell{Null: true}
	files := laidOut(t, batch(t, []iceberg.Type{iceberg.UnknownType{}, nested, empty}, []rows.Cell{null, {Children: []rows.Cell{{Int: 5}, null}}, null}, []rows.Cell{null, null, null}), nil)
	schema := open(t, files.Objects[0].Data).MetaData().Schema
	var ids []int32
	for i := range schema.NumColumns() {
		ids = append(ids, schema.Column(i).SchemaNode().FieldID())
	}
	if diff := cmp.Diff([]int32{1, 20}, ids); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{` 0 {"a":5}`, " 1 (null)"}, contents(t, files.Objects[0].Data)); diff != "" {
		t.Error(diff)
	}
	lower := files.Data[0].LowerBoundValues()[20]
	if len(lower) != 4 || binary.LittleEndian.Uint32(lower) != 5 {
		t.Errorf("the bound of a field of a struct is %x", lower)
	}
}
