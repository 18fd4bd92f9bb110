package tablefile_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/compute"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/apache/iceberg-go"
	"github.com/frazil/frazil/internal/rows"
	"github.com/frazil/frazil/internal/tablefile"
	"github.com/google/go-cmp/cmp"
)

// page is a store with one object.
type page []byte

func (p page) Read(context.Context, string) ([]byte, error) { return p, nil }

func (p page) ReadRange(_ context.Context, _ string, off, n int64) ([]byte, error) {
	return p[off : off+n], nil
}

func schema(t *testing.T, fields string) *iceberg.Schema {
	t.Helper()
	s, err := iceberg.NewSchemaFromJsonFields(0, fields)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func arrowOf(t *testing.T, s *iceberg.Schema) *arrow.Schema {
	t.Helper()
	out, err := rows.NewSchema(s, []string{s.Field(0).Name})
	if err != nil {
		t.Fatal(err)
	}
	return out.Arrow()
}

// written is a file of one row, given as JSON, in row groups of their own.
func written(t *testing.T, s *arrow.Schema, list ...string) (page, tablefile.File) {
	t.Helper()
	batch, _, err := array.RecordFromJSON(memory.DefaultAllocator, s, strings.NewReader("["+strings.Join(list, ",")+"]"))
	if err != nil {
		t.Fatal(err)
	}
	var buf bytes.Buffer
	w, err := pqarrow.NewFileWriter(s, &buf, parquet.NewWriterProperties(parquet.WithMaxRowGroupLength(2)), pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema()))
	if err == nil {
		err = w.Write(batch)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	b, err := iceberg.NewDataFileBuilder(*iceberg.UnpartitionedSpec, iceberg.EntryContentData, "s3://b/f", iceberg.ParquetFile, nil, nil, nil, int64(len(list)), int64(buf.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return buf.Bytes(), tablefile.File{DataFile: b.Build(), Sequence: 1}
}

func columns(t *testing.T, r *tablefile.FileRows, s *arrow.Schema, n int64) (out []arrow.Array) {
	t.Helper()
	for i := range s.Fields() {
		c, _, err := r.Column(t.Context(), i, 0, n)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, c)
	}
	return out
}

// read is a file's rows in the shape of a schema, each as JSON.
func read(t *testing.T, p page, f tablefile.File, s *arrow.Schema, defaults tablefile.Defaults) []string {
	t.Helper()
	r, err := tablefile.Rows(t.Context(), p, f, s, defaults)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(array.NewRecordBatch(s, columns(t, r, s, f.Count()), f.Count()))
	if err != nil {
		t.Fatal(err)
	}
	var lines []json.RawMessage
	if err := json.Unmarshal(text, &lines); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, line := range lines {
		out = append(out, string(line))
	}
	return out
}

const then = `[
	{"id": 1, "name": "id", "type": "int", "required": true},
	{"id": 2, "name": "addr", "type": {"type": "struct", "fields": [
		{"id": 3, "name": "city", "type": "string", "required": false}, {"id": 4, "name": "zip", "type": "int", "required": false}]}, "required": false},
	{"id": 5, "name": "tags", "type": {"type": "list", "element-id": 6, "element": "int", "element-required": false}, "required": false},
	{"id": 7, "name": "prices", "type": {"type": "map", "key-id": 8, "key": "string", "value-id": 9,
		"value": {"type": "struct", "fields": [{"id": 10, "name": "eur", "type": "decimal(9, 2)", "required": false}]}, "value-required": false}, "required": false},
	{"id": 11, "name": "gone", "type": "string", "required": false}]`

// Renamed, moved, widened and added at every depth; gone is gone.
const now = `[
	{"id": 12, "name": "kind", "type": "string", "required": false},
	{"id": 7, "name": "price_list", "type": {"type": "map", "key-id": 8, "key": "string", "value-id": 9,
		"value": {"type": "struct", "fields": [{"id": 13, "name": "usd", "type": "int", "required": false}, {"id": 10, "name": "euro", "type": "decimal(18, 2)", "required": false}]}, "value-required": false}, "required": false},
	{"id": 5, "name": "tags", "type": {"type": "list", "element-id": 6, "element": "long", "element-required": false}, "required": false},
	{"id": 2, "name": "addr", "type": {"type": "struct", "fields": [
		{"id": 14, "name": "land", "type": "string", "required": false}, {"id": 4, "name": "zip", "type": "long", "required": false}, {"id": 3, "name": "town", "type": "string", "required": false}]}, "required": false},
	{"id": 1, "name": "id", "type": "long", "required": true}]`

var before = []string{
	`{"id":1,"addr":{"city":"Bath","zip":7},"tags":[1,null,3],"prices":[{"key":"a","value":{"eur":"1.50"}},{"key":"b","value":null}],"gone":"x"}`,
	`{"id":2,"addr":null,"tags":null,"prices":null,"gone":null}`,
	`{"id":3,"addr":{"city":null,"zip":null},"tags":[],"prices":[],"gone":"y"}`,
}

var after = []string{
	`{"addr":{"land":"GB","town":"Bath","zip":7},"id":1,"kind":null,"price_list":[{"key":"a","value":{"euro":"1.5","usd":null}},{"key":"b","value":null}],"tags":[1,null,3]}`,
	`{"addr":null,"id":2,"kind":null,"price_list":null,"tags":null}`,
	`{"addr":{"land":"GB","town":null,"zip":null},"id":3,"kind":null,"price_list":[],"tags":[]}`,
}

func TestOfAColumnTheRowGroupsWithTheWantedRowsAreRead(t *testing.T) {
	t.Parallel()
	s := arrowOf(t, schema(t, `[{"id": 1, "name": "id", "type": "int", "required": true}]`))
	p, f := written(t, s, `{"id": 0}`, `{"id": 1}`, `{"id": 2}`, `{"id": 3}`, `{"id": 4}`) // two in each
	r, err := tablefile.Rows(t.Context(), p, f, s, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		from, to, first int64
		want            string
	}{{0, 5, 0, "[0 1 2 3 4]"}, {2, 4, 2, "[2 3]"}, {1, 3, 0, "[0 1 2 3]"}, {3, 4, 2, "[2 3]"}, {4, 5, 4, "[4]"}} {
		column, first, err := r.Column(t.Context(), 0, c.from, c.to)
		if err != nil || first != c.first || column.String() != c.want {
			t.Errorf("rows %d to %d: %v from %d on, %v; want %s from %d on", c.from, c.to, column, first, err, c.want, c.first)
		}
	}
}

func TestRowsHaveTheShapeOfTodaysSchema(t *testing.T) {
	t.Parallel()
	p, f := written(t, arrowOf(t, schema(t, then)), before...)
	land := tablefile.Defaults{14: {Bytes: []byte("GB")}}
	if diff := cmp.Diff(after, read(t, p, f, arrowOf(t, schema(t, now)), land)); diff != "" {
		t.Error(diff)
	}
}

// A table that was one of Hive's.
func TestFilesWithoutFieldIDsAreReadByTheTablesNames(t *testing.T) {
	t.Parallel()
	old := schema(t, then)
	p, f := written(t, bare(arrowOf(t, old)), before...)
	if _, err := tablefile.Rows(t.Context(), p, f, arrowOf(t, old), nil); err == nil || !strings.Contains(err.Error(), "no field ids") {
		t.Errorf("without names: %v", err)
	}
	mapping, err := json.Marshal(old.NameMapping())
	if err != nil {
		t.Fatal(err)
	}
	if f.Names, err = tablefile.ReadNames(map[string]string{"schema.name-mapping.default": string(mapping)}); err != nil {
		t.Fatal(err)
	}
	land := tablefile.Defaults{14: {Bytes: []byte("GB")}}
	if diff := cmp.Diff(after, read(t, p, f, arrowOf(t, schema(t, now)), land)); diff != "" {
		t.Error(diff)
	}
	var got []string
	fields := []tablefile.Field{{ID: 4, Type: iceberg.PrimitiveTypes.Int64}, {ID: 1, Type: iceberg.PrimitiveTypes.Int32}, {ID: 99, Missing: []byte("default")}}
	err = tablefile.Scan(t.Context(), p, f, fields, func(pos int64, row []tablefile.Part) {
		zip := "null"
		if row[0] != nil {
			zip = fmt.Sprint(rows.ReadInt(row[0]))
		}
		got = append(got, fmt.Sprint(pos, " ", zip, " ", rows.ReadInt(row[1]), " ", string(row[2])))
	})
	if diff := cmp.Diff([]string{"0 7 1 default", "1 null 2 default", "2 null 3 default"}, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

// bare is a schema without field ids.
func bare(s *arrow.Schema) *arrow.Schema {
	var fields []arrow.Field
	for _, f := range s.Fields() {
		fields = append(fields, unmarked(f))
	}
	return arrow.NewSchema(fields, nil)
}

func unmarked(f arrow.Field) arrow.Field {
	f.Metadata = arrow.Metadata{}
	switch t := f.Type.(type) {
	case *arrow.StructType:
		var fields []arrow.Field
		for _, child := range t.Fields() {
			fields = append(fields, unmarked(child))
		}
		f.Type = arrow.StructOf(fields...)
	case *arrow.ListType:
		f.Type = arrow.ListOfField(unmarked(t.ElemField()))
	case *arrow.MapType:
		f.Type = arrow.MapOfFields(unmarked(t.KeyField()), unmarked(t.ItemField()))
	}
	return f
}

// A file whose footer promises more rows than its pages have is refused: what stood at a position would be guessed.
func TestRowsThatThePagesDoNotHaveAreNoRows(t *testing.T) {
	t.Parallel()
	s := arrowOf(t, schema(t, then))
	for _, rows := range []int64{3, 2000} {
		p, _ := written(t, s, `{"id":0}`, `{"id":1}`)
		p, f := promising(t, p, rows)
		r, err := tablefile.Rows(t.Context(), p, f, s, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, column := range s.Fields() {
			if a, _, err := r.Column(t.Context(), i, 0, rows); err == nil {
				t.Errorf("%s, of a promised %d: got %d rows", column.Name, rows, a.Len())
			}
		}
	}
}

// promising is a file of one row group with another number of rows in its footer.
func promising(t *testing.T, p page, rows int64) (page, tablefile.File) {
	t.Helper()
	r, err := file.NewParquetReader(bytes.NewReader(p))
	if err != nil {
		t.Fatal(err)
	}
	meta := r.MetaData()
	meta.NumRows, meta.RowGroups[0].NumRows = rows, rows
	end := len(p) - 8 - int(binary.LittleEndian.Uint32(p[len(p)-8:]))
	buf := bytes.NewBuffer(bytes.Clone(p[:end]))
	if _, err := meta.WriteTo(buf, nil); err != nil {
		t.Fatal(err)
	}
	text := binary.LittleEndian.AppendUint32(buf.Bytes(), uint32(buf.Len()-end))
	text = append(text, "PAR1"...)
	b, err := iceberg.NewDataFileBuilder(*iceberg.UnpartitionedSpec, iceberg.EntryContentData, "s3://b/f", iceberg.ParquetFile, nil, nil, nil, rows, int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	return text, tablefile.File{DataFile: b.Build(), Sequence: 1}
}

// Where a byte of a column is another one than was written, its values may be others, but rows can be taken of it: what stood in a
// page that cannot be read does not go missing from under lists and structs.
func TestOfSpoiltPagesNothingGoesMissing(t *testing.T) {
	t.Parallel()
	s := arrowOf(t, schema(t, then))
	p, f := written(t, s, before...)
	r, err := file.NewParquetReader(bytes.NewReader(p))
	if err != nil {
		t.Fatal(err)
	}
	read := func(p page, i int) error {
		r, err := tablefile.Rows(t.Context(), p, f, s, nil)
		if err != nil {
			return err
		}
		column, _, err := r.Column(t.Context(), i, 0, f.Count())
		if err != nil {
			return err
		}
		if err := array.Validate(column); err != nil {
			t.Errorf("%s: %v", s.Field(i).Name, err)
		}
		_, err = compute.TakeArray(t.Context(), column, indices(f.Count()))
		return err
	}
	refused := 0
	for _, g := range r.MetaData().RowGroups {
		for leaf, c := range g.Columns {
			name, _, _ := strings.Cut(r.MetaData().Schema.Column(leaf).Path(), ".")
			from := c.MetaData.DataPageOffset
			if c.MetaData.DictionaryPageOffset != nil {
				from = *c.MetaData.DictionaryPageOffset
			}
			for at := from; at < from+c.MetaData.TotalCompressedSize; at++ {
				for _, spoil := range []byte{1, 0x80, 0xff} {
					spoilt := bytes.Clone(p)
					spoilt[at] ^= spoil
					if read(spoilt, s.FieldIndices(name)[0]) != nil {
						refused++
					}
				}
			}
		}
	}
	if refused == 0 {
		t.Error("nothing was refused")
	}
}

// A file of which a byte is spoilt, in its pages or its footer, is an error that names it, and no panic.
func TestASpoiltFileIsNoPanic(t *testing.T) {
	t.Parallel()
	s := arrowOf(t, schema(t, then))
	p, f := written(t, s, before...)
	field := tablefile.Field{ID: 1, Type: iceberg.PrimitiveTypes.Int32}
	refused := 0
	for at := 4; at < len(p)-8; at++ {
		for _, spoil := range []byte{1, 8, 0x80} {
			spoilt := bytes.Clone(p)
			spoilt[at] ^= spoil
			_, _ = tablefile.Rows(t.Context(), page(spoilt), f, s, nil)
			err := tablefile.Scan(t.Context(), page(spoilt), f, []tablefile.Field{field}, func(int64, []tablefile.Part) {})
			if err == nil {
				continue
			}
			if refused++; !strings.Contains(err.Error(), f.FilePath()) {
				t.Errorf("byte %d: %v", at, err)
			}
		}
	}
	if refused == 0 {
		t.Error("nothing was refused")
	}
}

func indices(n int64) arrow.Array {
	b := array.NewInt64Builder(memory.DefaultAllocator)
	for i := range n {
		b.Append(i)
	}
	return b.NewArray()
}

// Statistics count the nulls of a field, and others pass over files that have none: where a struct is null its fields are.
func TestWhereAStructIsNullItsFieldsAre(t *testing.T) {
	t.Parallel()
	const text = `[{"id": 1, "name": "id", "type": "int", "required": true},
		{"id": 2, "name": "s", "type": {"type": "struct", "fields": [{"id": 3, "name": "must", "type": "int", "required": true}%s]}, "required": false}]`
	p, f := written(t, arrowOf(t, schema(t, fmt.Sprintf(text, ""))), `{"id":1,"s":{"must":7}}`, `{"id":2,"s":null}`, `{"id":3,"s":null}`)
	today := arrowOf(t, schema(t, fmt.Sprintf(text, `, {"id": 4, "name": "new", "type": "int", "required": false}, {"id": 5, "name": "of", "type": "string", "required": false}`)))
	r, err := tablefile.Rows(t.Context(), p, f, today, tablefile.Defaults{4: {Int: 9}})
	if err != nil {
		t.Fatal(err)
	}
	s := columns(t, r, today, 3)[1].(*array.Struct)
	for i, nulls := range []int{2, 2, 3} {
		if got := s.Field(i).NullN(); got != nulls {
			t.Errorf("the field %s has %d nulls, want %d", s.DataType().(*arrow.StructType).Field(i).Name, got, nulls)
		}
	}
	if text, err := json.Marshal(s); err != nil || string(text) != `[{"must":7,"new":9,"of":null},null,null]` {
		t.Errorf("%s %v", text, err)
	}
}

// Files say of which of Arrow's types their writer made them: those of PyIceberg may be of large lists, and their uuids only bytes.
func TestRowsAreTheSameWhicheverArrowTypesTheirWriterHad(t *testing.T) {
	t.Parallel()
	const id = `{"id": 1, "name": "id", "type": "int", "required": true}`
	const uuids, lists = `{"id": 2, "name": "c", "type": "uuid", "required": false}`, `{"id": 2, "name": "c", "required": false,
		"type": {"type": "list", "element-id": 3, "element": "string", "element-required": false}}`
	element := arrow.Field{Name: "element", Type: arrow.BinaryTypes.LargeString, Nullable: true, Metadata: rows.IDMetadata(3)}
	for _, c := range []struct {
		typ                  arrow.DataType
		today, value, values string
	}{
		{&arrow.FixedSizeBinaryType{ByteWidth: 16}, uuids, `"ABEiM0RVZneImaq7zN3u/w=="`, `"00112233-4455-6677-8899-aabbccddeeff"`},
		{arrow.LargeListOfField(element), lists, `["x",null]`, `["x",null]`},
		{arrow.LargeListOfField(element), lists, `[]`, `[]`},
		{arrow.FixedSizeListOfField(2, element), lists, `["x","y"]`, `["x","y"]`},
		{&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}, `{"id": 2, "name": "c", "type": "string", "required": false}`, `"x"`, `"x"`},
	} {
		theirs := arrow.NewSchema([]arrow.Field{
			{Name: "id", Type: arrow.PrimitiveTypes.Int32, Metadata: rows.IDMetadata(1)}, {Name: "c", Type: c.typ, Nullable: true, Metadata: rows.IDMetadata(2)},
		}, nil)
		today := arrowOf(t, schema(t, "["+id+","+c.today+"]"))
		p, f := written(t, theirs, `{"id":1,"c":null}`, `{"id":2,"c":`+c.value+`}`)
		if diff := cmp.Diff([]string{`{"c":null,"id":1}`, `{"c":` + c.values + `,"id":2}`}, read(t, p, f, today, nil)); diff != "" {
			t.Errorf("%s: %s", c.typ, diff)
		}
		cells, err := tablefile.Cells(t.Context(), p, f, today.Fields(), []int64{1}, nil, tablefile.NoLimit)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := json.Marshal(cells[1]); err != nil || string(text) != "["+c.values+"]" {
			t.Errorf("cells of %s: %s %v", c.typ, text, err)
		}
	}
}
