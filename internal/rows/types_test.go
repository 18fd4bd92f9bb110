package rows_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/compute"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/apache/iceberg-go"
	"github.com/frazil/frazil/internal/rows"
	"github.com/google/go-cmp/cmp"
)

var prim = iceberg.PrimitiveTypes

func optional(id int, name string, t iceberg.Type) iceberg.NestedField {
	return iceberg.NestedField{ID: id, Name: name, Type: t}
}

func required(id int, name string, t iceberg.Type) iceberg.NestedField {
	return iceberg.NestedField{ID: id, Name: name, Type: t, Required: true}
}

func struc(fields ...iceberg.NestedField) iceberg.Type { return &iceberg.StructType{FieldList: fields} }

func list(id int, element iceberg.Type, required bool) iceberg.Type {
	return &iceberg.ListType{ElementID: id, Element: element, ElementRequired: required}
}

func mapOf(id int, key, value iceberg.Type, required bool) iceberg.Type {
	return &iceberg.MapType{KeyID: id, KeyType: key, ValueID: id + 1, ValueType: value, ValueRequired: required}
}

// everyType has a column of each type, and such nestings as writers of Parquet get wrong. Ids are those of allTypes.
func everyType() *iceberg.Schema {
	return iceberg.NewSchemaWithIdentifiers(7, []int{1},
		required(1, "long", prim.Int64), optional(2, "boolean", prim.Bool), optional(3, "int", prim.Int32), optional(4, "float", prim.Float32),
		optional(5, "double", prim.Float64), optional(6, "decimal", iceberg.DecimalTypeOf(20, 2)), optional(7, "date", prim.Date),
		optional(8, "time", prim.Time), optional(9, "ts", prim.Timestamp), optional(10, "tstz", prim.TimestampTz),
		optional(11, "ns", prim.TimestampNs), optional(12, "nstz", prim.TimestampTzNs), optional(13, "string", prim.String),
		optional(14, "uuid", prim.UUID), optional(15, "fixed", iceberg.FixedTypeOf(3)), optional(16, "binary", prim.Binary),
		optional(17, "struct", struc(required(18, "a", prim.Int32), optional(19, "b", struc(optional(20, "uuid", prim.UUID))))),
		optional(21, "lists", list(22, list(23, prim.Int32, false), true)),
		optional(24, "byInt", mapOf(25, prim.Int32, struc(optional(27, "x", prim.String)), false)),
		optional(28, "byDate", mapOf(29, prim.Date, mapOf(31, prim.String, prim.Int64, true), false)),
		optional(33, "structs", list(34, struc(required(35, "m", mapOf(36, prim.Int64, prim.UUID, false))), false)),
	)
}

func text(s string) rows.Cell { return rows.Cell{Bytes: []byte(s)} }

func n(v int64) rows.Cell { return rows.Cell{Int: v} }

func of(children ...rows.Cell) rows.Cell { return rows.Cell{Children: children} }

var null = rows.Cell{Null: true}

const id1, id2 = "0123456789abcdef", "fedcba9876543210"

// fullRow, emptyRow and nullRow are rows of everyType.
func fullRow() []rows.Cell {
	return []rows.Cell{
		n(1), n(1), n(-3), {Float: 0.5}, {Float: -0.1}, {Decimal: decimal128.New(-1, 5)}, n(-1), n(86399999999), n(-1), n(1), n(-1), n(1),
		text("é"), text(id1), text("abc"), text("\x00\xff"),
		of(n(4), of(text(id2))),
		of(of(n(1), null), of(), of(n(2))),
		of(n(7), of(text("x")), n(8), null, n(9), of(null)),
		of(n(-5), of(text("a"), n(1), text(""), n(2)), n(3), null),
		of(of(of(n(1), text(id1), n(2), null)), null, of(of())),
	}
}

func emptyRow() []rows.Cell {
	return []rows.Cell{
		n(2), n(0), n(0), {}, {}, {}, n(0), n(0), n(0), n(0), n(0), n(0), text(""), text(id2), text("\x00\x00\x00"), text(""),
		of(n(0), null), of(), of(), of(), of(),
	}
}

func nullRow() []rows.Cell {
	cells := make([]rows.Cell, len(emptyRow()))
	for i := range cells {
		cells[i] = null
	}
	cells[0] = n(3)
	return cells
}

func everyRow(t testing.TB) *rows.Batch {
	t.Helper()
	s, err := rows.NewSchema(everyType(), nil)
	if err != nil {
		t.Fatal(err)
	}
	b := rows.NewBatch(s)
	for _, cells := range [][]rows.Cell{nullRow(), fullRow(), emptyRow(), nullRow(), fullRow()} {
		b.Put(0, cells)
	}
	return b
}

func TestEveryTypeGoesThroughParquetAndBack(t *testing.T) {
	t.Parallel()
	b := everyRow(t)
	schema := b.Schema.Arrow()
	batch := array.NewRecordBatch(schema, b.Columns(), 5)
	var buf bytes.Buffer
	w, err := pqarrow.NewFileWriter(schema, &buf, parquet.NewWriterProperties(parquet.WithStoreDecimalAsInteger(true)), pqarrow.DefaultWriterProps())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(batch); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	back, err := pqarrow.ReadTable(context.Background(), bytes.NewReader(buf.Bytes()), nil, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range schema.Fields() {
		want, got := texts(b.Columns()[i]), texts(back.Column(i).Data().Chunks()...)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", f.Name, diff)
		}
	}
	checkParquetTypes(t, buf.Bytes())
}

func texts(chunks ...arrow.Array) (out []string) {
	for _, a := range chunks {
		for i := range a.Len() {
			out = append(out, a.ValueStr(i))
		}
	}
	return out
}

// checkParquetTypes compares a file's leaves with what the Iceberg spec (appendix A, Parquet) wants of them.
func checkParquetTypes(t *testing.T, data []byte) {
	t.Helper()
	r, err := file.NewParquetReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	got := map[int]string{}
	for i := range r.MetaData().Schema.NumColumns() {
		c := r.MetaData().Schema.Column(i)
		got[int(c.SchemaNode().FieldID())] = c.Path() + " " + c.PhysicalType().String() + " " + c.LogicalType().String()
	}
	for id, want := range map[int]string{
		4: "float FLOAT None", 8: "time INT64 Time(isAdjustedToUTC=false, timeUnit=microseconds)",
		11: "ns INT64 Timestamp(isAdjustedToUTC=false, timeUnit=nanoseconds, is_from_converted_type=false, force_set_converted_type=false)",
		12: "nstz INT64 Timestamp(isAdjustedToUTC=true, timeUnit=nanoseconds, is_from_converted_type=false, force_set_converted_type=false)",
		14: "uuid FIXED_LEN_BYTE_ARRAY UUID", 15: "fixed FIXED_LEN_BYTE_ARRAY None", 16: "binary BYTE_ARRAY None",
		20: "struct.b.uuid FIXED_LEN_BYTE_ARRAY UUID", 23: "lists.list.element.list.element INT32 Int(bitWidth=32, isSigned=true)",
		25: "byInt.key_value.key INT32 Int(bitWidth=32, isSigned=true)", 27: "byInt.key_value.value.x BYTE_ARRAY String",
		32: "byDate.key_value.value.key_value.value INT64 Int(bitWidth=64, isSigned=true)", 37: "structs.list.element.m.key_value.value FIXED_LEN_BYTE_ARRAY UUID",
	} {
		if got[id] != want {
			t.Errorf("field %d is %q, want %q", id, got[id], want)
		}
	}
}

func TestRowsOfEveryTypeCanBePicked(t *testing.T) {
	t.Parallel()
	b := everyRow(t)
	picks := array.NewInt64Builder(memory.DefaultAllocator)
	picks.AppendValues([]int64{4, 0, 2}, nil)
	index := picks.NewArray()
	for i, c := range b.Columns() {
		picked, err := compute.TakeArray(context.Background(), c, index)
		if err != nil {
			t.Errorf("%s: %v", b.Schema.Columns[i].Name, err)
			continue
		}
		all := texts(c)
		if diff := cmp.Diff([]string{all[4], all[0], all[2]}, texts(picked)); diff != "" {
			t.Errorf("%s: %s", b.Schema.Columns[i].Name, diff)
		}
	}
}

func TestNestedFieldsCarryTheirIDs(t *testing.T) {
	t.Parallel()
	b := everyRow(t)
	var got []string
	var walk func(path string, f arrow.Field)
	walk = func(path string, f arrow.Field) {
		id, _ := f.Metadata.GetValue("PARQUET:field_id")
		text := path + f.Name + " " + id
		if !f.Nullable {
			text += " required"
		}
		got = append(got, text)
		path += f.Name + "."
		switch t := f.Type.(type) {
		case *arrow.StructType:
			for _, f := range t.Fields() {
				walk(path, f)
			}
		case *arrow.ListType:
			walk(path, t.ElemField())
		case *arrow.MapType:
			walk(path, t.KeyField())
			walk(path, t.ItemField())
		}
	}
	for _, f := range b.Schema.Arrow().Fields()[16:] {
		walk("", f)
	}
	want := strings.Split(`struct 17
struct.a 18 required
struct.b 19
struct.b.uuid 20
lists 21
lists.element 22 required
lists.element.element 23
byInt 24
byInt.key 25 required
byInt.value 26
byInt.value.x 27
byDate 28
byDate.key 29 required
byDate.value 30
byDate.value.key 31 required
byDate.value.value 32 required
structs 33
structs.element 34
structs.element.m 35 required
structs.element.m.key 36 required
structs.element.m.value 37`, "\n")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAnUnknownColumnIsNull(t *testing.T) {
	t.Parallel()
	s, err := rows.NewSchema(iceberg.NewSchemaWithIdentifiers(0, []int{1}, required(1, "id", prim.Int64), optional(2, "u", prim.Unknown)), nil)
	if err != nil {
		t.Fatal(err)
	}
	b := rows.NewBatch(s)
	b.Put(0, []rows.Cell{n(1), null})
	if c := b.Columns()[1]; c.DataType().ID() != arrow.NULL || c.Len() != 1 {
		t.Errorf("the column is %v", c)
	}
}

func TestCellsAreUsedAgain(t *testing.T) { // not parallel: it counts allocations
	var c rows.Cell
	x := []byte("x")
	fill := func() {
		c.Reset()
		for range 3 {
			child := c.Add()
			child.Int = 5
			child.Add().Bytes = x
		}
	}
	fill()
	c.Reset()
	if child := c.Add(); child.Int != 0 || len(child.Children) != 0 {
		t.Errorf("a new child has what an old one had: %+v", child)
	}
	if allocs := testing.AllocsPerRun(10, fill); allocs > 0 {
		t.Errorf("%v allocations", allocs)
	}
}
