package ingest_test

import (
	"bytes"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/apache/iceberg-go"
	"github.com/frazil/frazil/internal/local/lake"
	"github.com/frazil/frazil/internal/rows"
	"github.com/frazil/frazil/internal/warehouse"
	"github.com/google/uuid"
)

// adopt adds a data file to the table that lacks the column of its partition, as those of Hive do.
func (w *world) adopt(day string, ids ...int64) {
	w.Helper()
	id, n := array.NewInt64Builder(memory.DefaultAllocator), array.NewInt32Builder(memory.DefaultAllocator)
	for _, v := range ids {
		id.Append(v)
		n.Append(int32(v * 10))
	}
	s := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64, Metadata: rows.IDMetadata(1)},
		{Name: "n", Type: arrow.PrimitiveTypes.Int32, Nullable: true, Metadata: rows.IDMetadata(3)},
	}, nil)
	spec := w.load().Spec()
	w.adopts(array.NewRecordBatch(s, []arrow.Array{id.NewArray(), n.NewArray()}, int64(len(ids))), map[int]any{spec.Field(0).FieldID: day})
}

// adopts adds a data file to the table, as it is.
func (w *world) adopts(batch arrow.RecordBatch, partition map[int]any) {
	w.Helper()
	var buf bytes.Buffer
	out, err := pqarrow.NewFileWriter(batch.Schema(), &buf, parquet.NewWriterProperties(), pqarrow.DefaultWriterProps())
	w.must(err)
	w.must(out.Write(batch))
	w.must(out.Close())
	store, err := warehouse.Open(w.Context(), "main", w.parts.CatalogConfig())
	w.must(err)
	_, err = store.Load(w.Context(), lake.Ident(w.name)) // the store writes below the locations of tables that it knows
	w.must(err)
	t := w.load()
	path := t.Location() + "/data/" + uuid.NewString() + ".parquet"
	w.must(store.Write(w.Context(), path, buf.Bytes()))
	b, err := iceberg.NewDataFileBuilder(t.Spec(), iceberg.EntryContentData, path, iceberg.ParquetFile, partition, nil, nil, batch.NumRows(), int64(buf.Len()))
	w.must(err)
	tx := t.NewTransaction()
	w.must(tx.AddDataFiles(w.Context(), []iceberg.DataFile{b.Build()}, nil))
	_, err = tx.Commit(w.Context())
	w.must(err)
}

// Whether rows of such a file are written again with what is kept of them, for one of them that is replaced, or because the file
// is small, they stay in their partition.
func TestRowsOfAFileWithoutThePartitionsColumnKeepIt(t *testing.T) {
	t.Parallel()
	spec := lake.Spec{
		Name:      "shop.orders",
		Columns:   []lake.Column{{Name: "id", Type: "long", Required: true}, {Name: "day", Type: "string"}, {Name: "n", Type: "int"}},
		Partition: []string{"identity(day)"}, Properties: map[string]string{"frazil.care.level-files": "2"},
	}
	for _, deletes := range []string{"position", "rewrite", "auto"} {
		w := newWorld(t, spec, "topics: [orders], format: flat, absent: keep, key: [id], deletes: "+deletes)
		w.adopt("a", 1, 2)
		w.adopt("b", 3, 4)
		w.must(deliver(t.Context(), w.pipeline(), flat(partition(0), 0, `{"id":1,"n":11}`), flat(partition(0), 1, `{"id":5,"day":"b","n":50}`)))
		w.wantRows("id=1 day=a n=11", "id=2 day=a n=20", "id=3 day=b n=30", "id=4 day=b n=40", "id=5 day=b n=50")
	}
}

func TestAKeyInThePartitionAloneIsFound(t *testing.T) {
	t.Parallel()
	spec := lake.Spec{
		Name:      "shop.orders",
		Columns:   []lake.Column{{Name: "id", Type: "long", Required: true}, {Name: "day", Type: "string"}, {Name: "n", Type: "int"}},
		Partition: []string{"identity(day)"},
	}
	w := newWorld(t, spec, "topics: [orders], format: flat, key: [day, id], deletes: rewrite")
	w.adopt("a", 1, 2)
	w.adopt("b", 1)
	w.must(deliver(t.Context(), w.pipeline(), flat(partition(0), 0, `{"id":1,"day":"a","n":11}`), flat(partition(0), 1, `{"id":1,"day":"b","n":12}`)))
	w.wantRows("id=1 day=a n=11", "id=1 day=b n=12", "id=2 day=a n=20")
}

// The names say what the columns of files without field ids are. A process that knows the keys of such a file by the old ones
// takes the new ones.
func TestNamesOfColumnsChangeUnderAWarmProcess(t *testing.T) {
	t.Parallel()
	names := func(id, other string) map[string]string {
		return map[string]string{"schema.name-mapping.default": `[{"field-id": 1, "names": ["` + id + `"]}, {"field-id": 2, "names": ["` + other + `"]}]`}
	}
	spec := lake.Spec{
		Name: "shop.orders", Columns: []lake.Column{{Name: "id", Type: "long"}, {Name: "n", Type: "long"}},
		Properties: names("a", "b"),
	}
	w := newWorld(t, spec, "topics: [orders], format: flat, key: [id]")
	column := func(v int64) arrow.Array {
		b := array.NewInt64Builder(memory.DefaultAllocator)
		b.AppendValues([]int64{v, v + 1}, nil)
		return b.NewArray()
	}
	fields := []arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int64}, {Name: "b", Type: arrow.PrimitiveTypes.Int64}}
	w.adopts(array.NewRecordBatch(arrow.NewSchema(fields, nil), []arrow.Array{column(1), column(5)}, 2), nil)
	p := w.pipeline()
	w.must(deliver(t.Context(), p, gone(partition(0), 0, `{"id":9}`)))
	w.must(w.lake.SetProperties(t.Context(), w.name, names("b", "a")))
	w.must(deliver(t.Context(), p, gone(partition(0), 1, `{"id":5}`)))
	w.wantRows("id=6 n=2")
}
