package locate_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/apache/iceberg-go"
	"github.com/frazil/frazil/internal/locate"
	"github.com/frazil/frazil/internal/resolve"
	"github.com/frazil/frazil/internal/rows"
	"github.com/frazil/frazil/internal/stage"
	"github.com/frazil/frazil/internal/tablefile"
	"github.com/google/go-cmp/cmp"
)

var prim = iceberg.PrimitiveTypes

// shelf is a store that counts what is read of each object, in bytes.
type shelf struct {
	mu      sync.Mutex
	objects map[string][]byte
	read    map[string]int64
}

func newShelf() *shelf { return &shelf{objects: map[string][]byte{}, read: map[string]int64{}} }

func (s *shelf) Read(ctx context.Context, path string) ([]byte, error) {
	return s.ReadRange(ctx, path, 0, int64(len(s.objects[path])))
}

func (s *shelf) ReadRange(_ context.Context, path string, off, n int64) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	data, ok := s.objects[path]
	if !ok || off < 0 || n < 0 || off+n > int64(len(data)) {
		return nil, fmt.Errorf("%d bytes of %s from %d on: %w", n, path, off, fs.ErrNotExist)
	}
	s.read[path] += n
	return data[off : off+n], nil
}

// keyed has the key columns k0, k1 … (field ids from 1 on) and a text column v.
func keyed(t testing.TB, types ...iceberg.Type) *rows.Schema {
	t.Helper()
	var fields []iceberg.NestedField
	var key []string
	for i, typ := range types {
		name := fmt.Sprintf("k%d", i)
		fields, key = append(fields, iceberg.NestedField{ID: 1 + i, Name: name, Type: typ}), append(key, name)
	}
	s, err := rows.NewSchema(iceberg.NewSchema(0, append(fields, iceberg.NestedField{ID: 99, Name: "v", Type: prim.String})...), key)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// keysOf is the keys made of the given cells, one list per key.
func keysOf(s *rows.Schema, list ...[]rows.Cell) *rows.Keys {
	keys := rows.NewKeys(len(s.Key))
	for _, cells := range list {
		var p rows.Parts
		for i := range cells {
			p.Cell(s.Columns[i].Type, &cells[i])
		}
		keys.Intern(&p)
	}
	return keys
}

func long(v int64) []rows.Cell { return []rows.Cell{{Int: v}} }

func text(v string) []rows.Cell { return []rows.Cell{{Bytes: []byte(v)}} }

// staged writes rows, given by their key cells, and deletes as frazil does.
func (s *shelf) staged(t testing.TB, schema *rows.Schema, sequence int64, kill []locate.Hit, list ...[]rows.Cell) (data, deletes []locate.File) {
	t.Helper()
	b := rows.NewBatch(schema)
	o := &resolve.Outcome{Batch: b, Found: &locate.Found{Hits: kill, Files: map[string]locate.File{}}}
	for _, h := range kill {
		o.Found.Files[h.File] = file(t, h.File, 100, 100, nil, nil)
	}
	for i, cells := range list {
		b.Put(rows.Key(i), append(cells[:len(cells):len(cells)], rows.Cell{Bytes: []byte("v")}))
		o.Write = append(o.Write, resolve.Row{Index: i, ID: locate.NoID})
	}
	layout, err := stage.NewLayout(nil, tableOf(schema), nil)
	if err != nil {
		t.Fatal(err)
	}
	files, err := stage.Write(t.Context(), s, &locate.Snapshot{}, o, stage.Position, stage.Target{
		Version: 2, Schema: tableOf(schema), Spec: *iceberg.UnpartitionedSpec, Specs: []iceberg.PartitionSpec{*iceberg.UnpartitionedSpec},
		Layout: layout, Path: func(name string) string { return "s3://b/" + name },
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range files.Objects {
		s.objects[object.Path] = object.Data
	}
	for _, f := range files.Data {
		data = append(data, live(f, sequence))
	}
	for _, f := range files.Deletes {
		deletes = append(deletes, live(f, sequence))
	}
	return data, deletes
}

func live(f iceberg.DataFile, sequence int64) locate.File {
	return locate.File{File: tablefile.File{DataFile: f, Sequence: sequence}}
}

func tableOf(s *rows.Schema) *iceberg.Schema {
	var fields []iceberg.NestedField
	for _, c := range s.Columns {
		fields = append(fields, iceberg.NestedField{ID: c.FieldID, Name: c.Name, Type: c.Type})
	}
	return iceberg.NewSchema(0, fields...)
}

// snapshot has the files that are given.
func snapshot(s *rows.Schema, data, deletes []locate.File) *locate.Snapshot {
	return locate.Of(locate.Table{Schemas: []*iceberg.Schema{tableOf(s)}, Specs: []iceberg.PartitionSpec{*iceberg.UnpartitionedSpec}}, append(data, deletes...))
}

// parquet writes a file of another writer: any columns, any settings, no bounds.
func (s *shelf) parquet(t testing.TB, path string, columns []column, options ...parquet.WriterProperty) locate.File {
	t.Helper()
	var fields []arrow.Field
	var arrays []arrow.Array
	for _, c := range columns {
		meta := arrow.NewMetadata([]string{"PARQUET:field_id"}, []string{fmt.Sprint(c.id)})
		if c.id == 0 {
			meta = arrow.Metadata{}
		}
		fields = append(fields, arrow.Field{Name: c.name, Type: c.values.DataType(), Nullable: c.values.NullN() > 0, Metadata: meta})
		arrays = append(arrays, c.values)
	}
	schema := arrow.NewSchema(fields, nil)
	var buf bytes.Buffer
	w, err := pqarrow.NewFileWriter(schema, &buf, parquet.NewWriterProperties(options...), pqarrow.DefaultWriterProps())
	if err != nil {
		t.Fatal(err)
	}
	n := int64(arrays[0].Len())
	if err := w.WriteBuffered(array.NewRecordBatch(schema, arrays, n)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	s.objects[path] = buf.Bytes()
	return file(t, path, n, int64(buf.Len()), nil, nil)
}

// column of a file; id 0 is none.
type column struct {
	id     int
	name   string
	values arrow.Array
}

func file(t testing.TB, path string, count, size int64, lower, upper map[int][]byte) locate.File {
	t.Helper()
	b, err := iceberg.NewDataFileBuilder(*iceberg.UnpartitionedSpec, iceberg.EntryContentData, path, iceberg.ParquetFile, nil, nil, nil, count, size)
	if err != nil {
		t.Fatal(err)
	}
	return live(b.LowerBoundValues(lower).UpperBoundValues(upper).Build(), 1)
}

func longs(v ...int64) arrow.Array {
	b := array.NewInt64Builder(memory.DefaultAllocator)
	b.AppendValues(v, nil)
	return b.NewArray()
}

func strs(v ...string) arrow.Array {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	b.AppendValues(v, nil)
	return b.NewArray()
}

// find returns the hits as "key@file:position", files by their last path element. They are the same whether the files are read,
// are read into indexes, or have some.
func find(t testing.TB, store tablefile.Store, s *locate.Snapshot, schema *rows.Schema, keys *rows.Keys) []string {
	t.Helper()
	probed := find1(t, store, s, schema, keys)
	indexed := s.With(tablefile.NewMemory(1 << 30))
	for _, how := range []string{"reads into an index", "asks an index"} {
		if diff := cmp.Diff(probed, find1(t, store, indexed, schema, keys)); diff != "" {
			t.Errorf("find that %s: %s", how, diff)
		}
	}
	return probed
}

func find1(t testing.TB, store tablefile.Store, s *locate.Snapshot, schema *rows.Schema, keys *rows.Keys) (out []string) {
	t.Helper()
	found, err := s.Find(t.Context(), store, schema, keys)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range found.Hits {
		out = append(out, fmt.Sprintf("%d@%s:%d", h.Key, h.File[strings.LastIndexByte(h.File, '/')+1:], h.Pos))
	}
	return out
}

func want(t testing.TB, got []string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestFilesWhoseBoundsHoldNoKeyAreNotRead(t *testing.T) {
	t.Parallel()
	s, schema := newShelf(), keyed(t, prim.Int64, prim.String)
	pair := func(n int64, s string) []rows.Cell { return []rows.Cell{{Int: n}, {Bytes: []byte(s)}} }
	var data []locate.File
	for i := range int64(4) {
		f, _ := s.staged(t, schema, 1, nil, pair(i*10, "m"), pair(i*10+5, "p"))
		data = append(data, f...)
	}
	// Within the bounds of file 1 in both columns, and of file 2 in the first one only.
	keys := keysOf(schema, pair(15, "p"), pair(22, "z"))
	found, err := snapshot(schema, data, nil).Find(t.Context(), s, schema, keys)
	if err != nil || len(found.Hits) != 1 || found.Hits[0] != (locate.Hit{File: data[1].FilePath(), Pos: 1, ID: locate.NoID}) {
		t.Errorf("found %+v, %v", found, err)
	}
	for i, f := range data {
		if read := s.read[f.FilePath()] > 0; read != (i == 1) {
			t.Errorf("file %d was read: %v", i, read)
		}
	}
}

func TestRowsThatADeleteFileRemovedAreLeftOut(t *testing.T) {
	t.Parallel()
	s, schema := newShelf(), keyed(t, prim.Int64)
	old, _ := s.staged(t, schema, 5, nil, long(1), long(2), long(3), long(4))
	young, _ := s.staged(t, schema, 7, nil, long(2), long(3))
	kill := func(f locate.File, positions ...int64) (hits []locate.Hit) {
		for _, p := range positions {
			hits = append(hits, locate.Hit{File: f.FilePath(), Pos: p})
		}
		return hits
	}
	_, deletes := s.staged(t, schema, 7, kill(old[0], 1))                              // 2, when it was written anew
	_, same := s.staged(t, schema, 7, kill(young[0], 0))                               // of the data's own sequence number: applies
	_, before := s.staged(t, schema, 6, kill(young[0], 1))                             // older than the data: says nothing of it
	_, other := s.staged(t, schema, 9, kill(file(t, "s3://b/zzz", 1, 1, nil, nil), 0)) // of another file, by its bounds
	all := snapshot(schema, append(old, young...), slices.Concat(deletes, same, before, other))

	found, err := all.Find(t.Context(), s, schema, keysOf(schema, long(2), long(3), long(4)))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for _, h := range found.Hits {
		got[fmt.Sprintf("%d %v %d", h.Key, h.File == young[0].FilePath(), h.Pos)] = true
	}
	if diff := cmp.Diff(map[string]bool{"1 false 2": true, "1 true 1": true, "2 false 3": true}, got); diff != "" {
		t.Error(diff)
	}
	if s.read[other[0].FilePath()] > 0 {
		t.Error("a delete file of other data was read")
	}
}

func TestHitsAreOrderedAsPositionDeletesMustBe(t *testing.T) {
	t.Parallel()
	s, schema := newShelf(), keyed(t, prim.Int64)
	var data []locate.File
	for _, name := range []string{"s3://b/c", "s3://b/a", "s3://b/b"} {
		data = append(data, s.parquet(t, name, []column{{1, "k0", longs(7, 1, 7, 2)}}))
	}
	got := find(t, s, snapshot(schema, data, nil), schema, keysOf(schema, long(2), long(7)))
	want(t, got, "1@a:0", "1@a:2", "0@a:3", "1@b:0", "1@b:2", "0@b:3", "1@c:0", "1@c:2", "0@c:3")
}

// Every way in which writers lay out pages, over more rows than are decoded at a time, with and without nulls.
func TestAnyLayoutIsRead(t *testing.T) {
	t.Parallel()
	const n = 10_000
	ids, names := array.NewInt64Builder(memory.DefaultAllocator), array.NewStringBuilder(memory.DefaultAllocator)
	for i := range int64(n) {
		if i%10 == 3 {
			ids.AppendNull()
		} else {
			ids.Append(i)
		}
		names.Append(fmt.Sprintf("name %d", i%50)) // few, so that a dictionary is of use
	}
	columns := []column{{2, "k1", names.NewArray()}, {77, "other", longs(make([]int64, n)...)}, {1, "k0", ids.NewArray()}}
	schema := keyed(t, prim.Int64, prim.String)
	pair := func(i int64) []rows.Cell { return []rows.Cell{{Int: i}, {Bytes: fmt.Appendf(nil, "name %d", i%50)}} }
	keys := keysOf(schema, pair(0), pair(3), pair(4095), pair(4096), pair(9999), []rows.Cell{{Int: 5}, {Bytes: []byte("name 6")}}, pair(5004))
	for name, options := range map[string][]parquet.WriterProperty{
		"plain v1":            {parquet.WithDictionaryDefault(false), parquet.WithDataPageVersion(parquet.DataPageV1)},
		"plain v2":            {parquet.WithDictionaryDefault(false), parquet.WithDataPageVersion(parquet.DataPageV2)},
		"dictionary v1":       {parquet.WithDataPageVersion(parquet.DataPageV1)},
		"dictionary v2":       {parquet.WithDataPageVersion(parquet.DataPageV2)},
		"dictionary too full": {parquet.WithDictionaryPageSizeLimit(1000)},
		"many pages":          {parquet.WithDataPageSize(512), parquet.WithBatchSize(100)},
		"many row groups":     {parquet.WithMaxRowGroupLength(777)},
		"snappy":              {parquet.WithCompression(compress.Codecs.Snappy), parquet.WithMaxRowGroupLength(3000)},
		"zstd":                {parquet.WithCompression(compress.Codecs.Zstd), parquet.WithDataPageSize(4096)},
		"gzip":                {parquet.WithCompression(compress.Codecs.Gzip)},
		"delta":               {parquet.WithDictionaryDefault(false), parquet.WithEncodingFor("k0", parquet.Encodings.DeltaBinaryPacked), parquet.WithEncodingFor("k1", parquet.Encodings.DeltaByteArray)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShelf()
			f := s.parquet(t, "s3://b/f", columns, options...)
			want(t, find(t, s, snapshot(schema, []locate.File{f}, nil), schema, keys), "0@f:0", "2@f:4095", "3@f:4096", "6@f:5004", "4@f:9999")
		})
	}
}

// Of a large file only the footer and the key's columns are fetched, row group by row group.
func TestOfALargeFileOnlyTheKeysColumnsAreFetched(t *testing.T) {
	t.Parallel()
	var filler []string
	var ids []int64
	for i := range 30_000 {
		filler = append(filler, fmt.Sprintf("%x", uint64(i)*0x9e3779b97f4a7c15)+strings.Repeat("x", 80))
		ids = append(ids, int64(i)*3)
	}
	s, schema := newShelf(), keyed(t, prim.Int64)
	f := s.parquet(t, "s3://b/f", []column{{50, "filler", strs(filler...)}, {1, "k0", longs(ids...)}, {51, "more", strs(filler...)}},
		parquet.WithMaxRowGroupLength(10_000), parquet.WithDictionaryDefault(false))
	want(t, find(t, s, snapshot(schema, []locate.File{f}, nil), schema, keysOf(schema, long(3), long(4), long(60_000), long(89_997))), "0@f:1", "2@f:20000", "3@f:29999")
	if read := s.read["s3://b/f"]; f.FileSizeBytes() < 4<<20 || read > 1<<20 {
		t.Errorf("%d bytes of %d were read", read, f.FileSizeBytes())
	}
}

func TestAPromotedColumnIsFoundUnderItsOldType(t *testing.T) {
	t.Parallel()
	ints := array.NewInt32Builder(memory.DefaultAllocator)
	ints.AppendValues([]int32{-5, 7, 1 << 30}, nil)
	s, schema := newShelf(), keyed(t, prim.Int64)
	f := s.parquet(t, "s3://b/f", []column{{1, "k0", ints.NewArray()}})
	// Bounds of an int, as they were written.
	f = file(t, "s3://b/f", 3, f.FileSizeBytes(), map[int][]byte{1: {0xfb, 0xff, 0xff, 0xff}}, map[int][]byte{1: {0, 0, 0, 0x40}})
	want(t, find(t, s, snapshot(schema, []locate.File{f}, nil), schema, keysOf(schema, long(-5), long(1<<30), long(1<<40))), "0@f:0", "1@f:2")

	s.read = map[string]int64{}
	want(t, find(t, s, snapshot(schema, []locate.File{f}, nil), schema, keysOf(schema, long(1<<30+1), long(-6))))
	if len(s.read) > 0 {
		t.Error("a file was read whose bounds of the old type hold no key")
	}
}

func TestAFileWithoutAKeyColumnHasNoHits(t *testing.T) {
	t.Parallel()
	s, schema := newShelf(), keyed(t, prim.Int64, prim.String)
	f := s.parquet(t, "s3://b/f", []column{{1, "k0", longs(1, 2)}}) // k1 was added later: null in all rows
	want(t, find(t, s, snapshot(schema, []locate.File{f}, nil), schema, keysOf(schema, []rows.Cell{{Int: 1}, {}})))
}

func TestFilesThatCannotBeReadAreErrors(t *testing.T) {
	t.Parallel()
	s, schema := newShelf(), keyed(t, prim.Int64)
	good := s.parquet(t, "s3://b/good", []column{{1, "k0", longs(1, 2)}})
	bare := s.parquet(t, "s3://b/bare", []column{{0, "k0", longs(1, 2)}})
	texts := s.parquet(t, "s3://b/floats", []column{{1, "k0", floats(1)}})
	s.objects["s3://b/noise"] = []byte("this is not a Parquet file")
	cut := s.objects["s3://b/good"][:len(s.objects["s3://b/good"])-1]
	s.objects["s3://b/cut"] = cut
	for name, c := range map[string]struct {
		file  locate.File
		words string
	}{
		"no field ids":        {bare, "no field ids"},
		"other rows":          {file(t, "s3://b/good", 3, good.FileSizeBytes(), nil, nil), "2 rows, but 3 in its manifest"},
		"no Parquet":          {file(t, "s3://b/noise", 2, 26, nil, nil), "no Parquet file"},
		"cut short":           {file(t, "s3://b/cut", 2, int64(len(cut)), nil, nil), "no Parquet file"},
		"not there":           {file(t, "s3://b/none", 2, 100, nil, nil), "not exist"},
		"a type of other use": {texts, "cannot hold a long"},
	} {
		_, err := snapshot(schema, []locate.File{c.file}, nil).Find(t.Context(), s, schema, keysOf(schema, long(1)))
		if err == nil || !strings.Contains(err.Error(), c.words) || !strings.Contains(err.Error(), c.file.FilePath()) {
			t.Errorf("%s: got %v, want an error with %q and the path", name, err, c.words)
		}
	}
}

func floats(v ...float64) arrow.Array {
	b := array.NewFloat64Builder(memory.DefaultAllocator)
	b.AppendValues(v, nil)
	return b.NewArray()
}
