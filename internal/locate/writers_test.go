package locate_test

import (
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/iceberg-go"
	"github.com/frazil/frazil/internal/commit"
	"github.com/frazil/frazil/internal/local/catalog"
	"github.com/frazil/frazil/internal/local/lake"
	"github.com/frazil/frazil/internal/local/objectio"
	"github.com/frazil/frazil/internal/local/objects"
	"github.com/frazil/frazil/internal/local/stack"
	"github.com/frazil/frazil/internal/locate"
	"github.com/frazil/frazil/internal/rows"
	"github.com/frazil/frazil/internal/warehouse"
)

// iceberg-go's tables: a catalog and a store with what reads them.
type shop struct {
	testing.TB
	lake  *lake.Lake
	store *warehouse.Warehouse
}

func newShop(t *testing.T) shop {
	t.Helper()
	o := objects.New(stack.Bucket)
	store := httptest.NewServer(o)
	t.Cleanup(store.Close)
	server := httptest.NewServer(catalog.New(stack.Warehouse, objectio.New(o)))
	t.Cleanup(server.Close)
	at := stack.Endpoints{Store: store.URL, Catalog: server.URL}.CatalogConfig()
	l, err := lake.Open(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	w, err := warehouse.Open(t.Context(), "main", at)
	if err != nil {
		t.Fatal(err)
	}
	return shop{t, l, w}
}

// table makes a table with the key columns k0, k1 … and appends rows, one snapshot for each list of them.
func (s shop) table(name string, types []iceberg.Type, appends ...[]lake.Row) *locate.Snapshot {
	s.Helper()
	spec := lake.Spec{Name: name}
	for i, typ := range types {
		spec.Columns = append(spec.Columns, lake.Column{Name: fmt.Sprintf("k%d", i), Type: typ.String()})
	}
	spec.Columns = append(spec.Columns, lake.Column{Name: "v", Type: "string"})
	if err := s.lake.Create(s.Context(), spec); err != nil {
		s.Fatal(err)
	}
	for _, list := range appends {
		if err := s.lake.Append(s.Context(), name, list); err != nil {
			s.Fatal(err)
		}
	}
	loaded, err := s.lake.Load(s.Context(), name)
	if err != nil {
		s.Fatal(err)
	}
	source, err := commit.Source(loaded, nil)
	if err != nil {
		s.Fatal(err)
	}
	snapshot, err := locate.NewCache(nil).Open(s.Context(), s.store, source)
	if err != nil {
		s.Fatal(err)
	}
	return snapshot
}

// positions are the hits as "key:position".
func (s shop) positions(snapshot *locate.Snapshot, schema *rows.Schema, keys *rows.Keys) []string {
	s.Helper()
	out := []string{}
	for _, hit := range find(s, s.store, snapshot, schema, keys) {
		key, rest, _ := strings.Cut(hit, "@")
		out = append(out, key+rest[strings.LastIndexByte(rest, ':'):])
	}
	slices.Sort(out)
	return out
}

// literal is a value as lake writes it and as a key has it.
type literal struct {
	text string
	cell rows.Cell
}

var literals = map[iceberg.Type][]literal{
	prim.Bool:                     {{"true", rows.Cell{Int: 1}}, {"false", rows.Cell{Int: 0}}},
	prim.Int32:                    {{"-2147483648", rows.Cell{Int: -2147483648}}, {"0", rows.Cell{}}, {"2147483647", rows.Cell{Int: 2147483647}}},
	prim.Int64:                    {{"-9007199254740993", rows.Cell{Int: -9007199254740993}}, {"1", rows.Cell{Int: 1}}, {"256", rows.Cell{Int: 256}}},
	iceberg.DecimalTypeOf(9, 2):   {{"-0.01", rows.Cell{Decimal: decimal128.FromI64(-1)}}, {"1.28", rows.Cell{Decimal: decimal128.FromI64(128)}}},
	iceberg.DecimalTypeOf(18, 0):  {{"-129", rows.Cell{Decimal: decimal128.FromI64(-129)}}, {"123456789012345678", rows.Cell{Decimal: decimal128.FromI64(123456789012345678)}}},
	iceberg.DecimalTypeOf(38, 10): {{"-1", rows.Cell{Decimal: decimal128.FromI64(-10_000_000_000)}}, {"1844674407.3709551616", rows.Cell{Decimal: decimal128.New(1, 0)}}},
	prim.Date:                     {{"1969-12-31", rows.Cell{Int: -1}}, {"2024-03-05", rows.Cell{Int: 19787}}},
	prim.Timestamp:                {{"1969-12-31T23:59:59.999999", rows.Cell{Int: -1}}, {"2024-03-05T06:07:08.123456", rows.Cell{Int: 1709618828123456}}},
	prim.TimestampTz:              {{"1969-12-31T23:59:59.999999Z", rows.Cell{Int: -1}}, {"2024-03-05T06:07:08.123456Z", rows.Cell{Int: 1709618828123456}}},
	prim.String:                   {{"", rows.Cell{Bytes: []byte{}}}, {"é", rows.Cell{Bytes: []byte("é")}}, {"z", rows.Cell{Bytes: []byte("z")}}},
}

// absent is a value of each type, within the bounds of its literals, that no row has.
var absent = map[iceberg.Type]rows.Cell{
	prim.Int32: {Int: 5}, prim.Int64: {Int: 5}, iceberg.DecimalTypeOf(9, 2): {Decimal: decimal128.FromI64(5)},
	iceberg.DecimalTypeOf(18, 0): {Decimal: decimal128.FromI64(5)}, iceberg.DecimalTypeOf(38, 10): {Decimal: decimal128.FromI64(5)},
	prim.Date: {Int: 5}, prim.Timestamp: {Int: 5}, prim.TimestampTz: {Int: 5}, prim.String: {Bytes: []byte("m")},
}

func TestEveryKeyTypeIsFoundInFilesOfBothWriters(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	n := 0
	for typ, values := range literals {
		n++
		schema := keyed(t, typ)
		list := []lake.Row{{"v": "a row without a key"}}
		var cells [][]rows.Cell
		var wanted, wantedOwn []string
		for i, l := range values {
			list = append(list, lake.Row{"k0": l.text})
			cells = append(cells, []rows.Cell{l.cell})
			wanted = append(wanted, fmt.Sprintf("%d:%d", i, i+1))
			wantedOwn = append(wantedOwn, fmt.Sprintf("%d:%d", i, i))
		}
		keys := keysOf(schema, cells...)
		if c, ok := absent[typ]; ok {
			keys = keysOf(schema, append(cells, []rows.Cell{c})...)
		}
		if got := s.positions(s.table(fmt.Sprintf("shop.t%d", n), []iceberg.Type{typ}, list), schema, keys); !slices.Equal(got, wanted) {
			t.Errorf("%s by iceberg-go: got %q, want %q", typ, got, wanted)
		}
		own := newShelf()
		data, _ := own.staged(t, schema, 1, nil, cells...)
		var got []string
		for _, hit := range find(t, own, snapshot(schema, data, nil), schema, keys) {
			key, rest, _ := strings.Cut(hit, "@")
			got = append(got, key+rest[strings.LastIndexByte(rest, ':'):])
		}
		if !slices.Equal(got, wantedOwn) {
			t.Errorf("%s by frazil: got %q, want %q", typ, got, wantedOwn)
		}
	}
}

func TestACompositeKeyIsFoundByAllOfItsColumns(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	types := []iceberg.Type{prim.String, prim.Int64}
	schema := keyed(t, types...)
	snapshot := s.table("shop.lines", types,
		[]lake.Row{{"k0": "a", "k1": "1"}, {"k0": "a", "k1": "2"}, {"k0": "b", "k1": "1"}, {"k0": "a"}, {"k1": "1"}},
		[]lake.Row{{"k0": "a", "k1": "1"}})
	pair := func(s string, n int64) []rows.Cell { return []rows.Cell{{Bytes: []byte(s)}, {Int: n}} }
	got := s.positions(snapshot, schema, keysOf(schema, pair("a", 1), pair("b", 2), pair("b", 1), pair("", 1)))
	want(t, got, "0:0", "0:0", "2:2")
}

// Bounds have 16 code points; the keys behind them have more and differ in the last one only.
func TestLongTextsAreFoundBehindCutBounds(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	schema := keyed(t, prim.String)
	const prefix = "éééééééééééééééé-" // 17 code points
	snapshot := s.table("shop.names", []iceberg.Type{prim.String},
		[]lake.Row{{"k0": prefix + "a"}, {"k0": prefix + "c"}}, []lake.Row{{"k0": prefix + "b"}})
	for _, f := range snapshot.Data {
		if upper := string(f.UpperBoundValues()[1]); strings.HasPrefix(upper, prefix) {
			t.Fatalf("the bound %q is not cut: the test has lost its point", upper)
		}
	}
	got := s.positions(snapshot, schema, keysOf(schema, text(prefix+"a"), text(prefix+"b"), text(prefix+"c"), text(prefix), text(prefix+"d")))
	want(t, got, "0:0", "1:0", "2:1")
}

func TestATableWithoutSnapshotHasNoFiles(t *testing.T) {
	t.Parallel()
	snapshot, err := locate.NewCache(nil).Open(t.Context(), newShelf(), locate.Table{})
	if err != nil || len(snapshot.Data)+len(snapshot.Deletes)+len(snapshot.Manifests) != 0 {
		t.Errorf("%+v, %v", snapshot, err)
	}
}

// Files of before their table was Iceberg's may count time in another unit, and decimals at another scale.
func TestUnitsOfFilesAreNotTheColumns(t *testing.T) {
	t.Parallel()
	s := newShelf()
	stamps := func(unit arrow.TimeUnit, v arrow.Timestamp) arrow.Array {
		b := array.NewTimestampBuilder(memory.DefaultAllocator, &arrow.TimestampType{Unit: unit})
		b.Append(v)
		return b.NewArray()
	}
	clock := array.NewTime32Builder(memory.DefaultAllocator, &arrow.Time32Type{Unit: arrow.Millisecond})
	clock.Append(5)
	cents := array.NewDecimal128Builder(memory.DefaultAllocator, &arrow.Decimal128Type{Precision: 9, Scale: 3})
	cents.Append(decimal128.FromI64(5))
	for i, c := range []struct {
		typ    iceberg.Type
		values arrow.Array
		cell   rows.Cell
		err    string
	}{
		{prim.Timestamp, stamps(arrow.Millisecond, -5), rows.Cell{Int: -5000}, ""},
		{prim.TimestampNs, stamps(arrow.Microsecond, 5), rows.Cell{Int: 5000}, ""},
		{prim.Time, clock.NewArray(), rows.Cell{Int: 5000}, ""},
		{prim.Timestamp, stamps(arrow.Nanosecond, 5), rows.Cell{}, "cannot hold a timestamp"},
		{iceberg.DecimalTypeOf(9, 2), cents.NewArray(), rows.Cell{}, "cannot hold a decimal(9, 2)"},
	} {
		schema := keyed(t, c.typ)
		f := s.parquet(t, fmt.Sprint("s3://b/", i), []column{{1, "k0", c.values}})
		found, err := snapshot(schema, []locate.File{f}, nil).Find(t.Context(), s, schema, keysOf(schema, []rows.Cell{c.cell}))
		switch {
		case c.err != "":
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s from %s: %v, want %q", c.typ, c.values.DataType(), err, c.err)
			}
		case err != nil || len(found.Hits) != 1:
			t.Errorf("%s from %s: %v %v", c.typ, c.values.DataType(), found, err)
		}
	}
}

// Writers on the JVM compare uuids as two signed numbers where they join the bounds of row groups (apache/iceberg#14216): of a file
// in the order of its uuids they say that the least is 80… and the greatest 7f….
func TestUUIDsAreFoundWhateverOrderItsWriterHasOfThem(t *testing.T) {
	t.Parallel()
	s, schema := newShelf(), keyed(t, prim.UUID)
	at := func(first byte) []byte { return append([]byte{first}, make([]byte, 15)...) }
	b := array.NewFixedSizeBinaryBuilder(memory.DefaultAllocator, &arrow.FixedSizeBinaryType{ByteWidth: 16})
	firsts := []byte{0x00, 0x30, 0x7f, 0x80, 0xc0, 0xff}
	var keys [][]rows.Cell
	for _, first := range firsts {
		b.Append(at(first))
		keys = append(keys, []rows.Cell{{Bytes: at(first)}})
	}
	f := s.parquet(t, "s3://b/f", []column{{1, "k0", b.NewArray()}}, parquet.WithMaxRowGroupLength(2))
	for _, bounds := range [][2]byte{{0x80, 0x7f}, {0x00, 0x30}, {0xc0, 0xff}} {
		said, err := iceberg.NewDataFileBuilder(*iceberg.UnpartitionedSpec, iceberg.EntryContentData, f.FilePath(), iceberg.ParquetFile, nil, nil, nil, f.Count(), f.FileSizeBytes())
		if err != nil {
			t.Fatal(err)
		}
		said.LowerBoundValues(map[int][]byte{1: at(bounds[0])}).UpperBoundValues(map[int][]byte{1: at(bounds[1])}).SplitOffsets([]int64{4, 100, 200})
		for i, key := range keys {
			want(t, find(t, s, snapshot(schema, []locate.File{live(said.Build(), 1)}, nil), schema, keysOf(schema, key)), fmt.Sprintf("0@f:%d", i))
		}
	}
}

// Files of before their table was Iceberg's may count without a sign, and so beyond what the column's numbers would be read as.
func TestNumbersWithoutASignAreNoOthers(t *testing.T) {
	t.Parallel()
	s, schema := newShelf(), keyed(t, prim.Int64)
	b := array.NewUint32Builder(memory.DefaultAllocator)
	b.AppendValues([]uint32{7, 4_000_000_000}, nil)
	f := s.parquet(t, "s3://b/f", []column{{1, "k0", b.NewArray()}})
	want(t, find(t, s, snapshot(schema, []locate.File{f}, nil), schema, keysOf(schema, long(4_000_000_000))), "0@f:1")

	wide := array.NewUint64Builder(memory.DefaultAllocator)
	wide.Append(1 << 63)
	f = s.parquet(t, "s3://b/wide", []column{{1, "k0", wide.NewArray()}})
	if _, err := snapshot(schema, []locate.File{f}, nil).Find(t.Context(), s, schema, keysOf(schema, long(7))); err == nil || !strings.Contains(err.Error(), "k0") {
		t.Errorf("numbers of 64 bits without a sign: got %v", err)
	}
}
