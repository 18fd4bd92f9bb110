package locate_test

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/iceberg-go"
	"github.com/frazil/frazil/internal/locate"
	"github.com/frazil/frazil/internal/rows"
)

// Buckets of the keys 34 and iceberg are those of the Iceberg spec, appendix B: hashes 2017239379 and 1210000089.
func TestFilesOfOtherPartitionsAreNotRead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		of        iceberg.Type
		transform iceberg.Transform
		key       []rows.Cell
		column    arrow.Array
		here      any
		elsewhere any
		more      []int // columns of the transform
	}{
		"bucket of a long":    {prim.Int64, iceberg.BucketTransform{NumBuckets: 16}, long(34), longs(34), int32(2017239379 % 16), int32(4), nil},
		"bucket of a string":  {prim.String, iceberg.BucketTransform{NumBuckets: 16}, text("iceberg"), strs("iceberg"), int32(1210000089 % 16), int32(4), nil},
		"a long as it is":     {prim.Int64, iceberg.IdentityTransform{}, long(34), longs(34), int64(34), int64(35), nil},
		"an int as a long":    {prim.Int64, iceberg.IdentityTransform{}, long(34), longs(34), int32(34), int32(35), nil},
		"a text as it is":     {prim.String, iceberg.IdentityTransform{}, text("34"), strs("34"), "34", "035", nil},
		"another, may be all": {prim.String, iceberg.TruncateTransform{Width: 1}, text("34"), strs("34"), "4", nil, nil},
		"of several columns":  {prim.Int64, iceberg.BucketTransform{NumBuckets: 16}, long(34), longs(34), int32(4), nil, []int{2}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, schema := newShelf(), keyed(t, c.of)
			spec := iceberg.NewPartitionSpecID(3, iceberg.PartitionField{SourceIDs: append([]int{1}, c.more...), FieldID: 1000, Name: "p", Transform: c.transform})
			in := func(path string, value any) locate.File {
				f := s.parquet(t, path, []column{{1, "k0", c.column}})
				b, err := iceberg.NewDataFileBuilder(spec, iceberg.EntryContentData, path, iceberg.ParquetFile, map[int]any{1000: value}, nil, nil, f.Count(), f.FileSizeBytes())
				if err != nil {
					t.Fatal(err)
				}
				return live(b.Build(), 1)
			}
			files := []locate.File{in("s3://b/here", c.here)}
			if c.elsewhere != nil {
				files = append(files, in("s3://b/elsewhere", c.elsewhere))
			}
			live := snapshot(schema, files, nil)
			live.Table.Specs = []iceberg.PartitionSpec{spec}
			want(t, find(t, s, live, schema, keysOf(schema, c.key)), "0@here:0")
			if s.read["s3://b/elsewhere"] > 0 {
				t.Error("a file of another partition was read")
			}
		})
	}
}
