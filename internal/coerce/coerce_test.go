package coerce_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/iceberg-go"
	"github.com/frazil/frazil/internal/change"
	"github.com/frazil/frazil/internal/coerce"
	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/rows"
	"github.com/frazil/frazil/internal/wire"
)

var prim = iceberg.PrimitiveTypes

// plain is a route with every default of format flat.
func plain() config.Route {
	return config.Route{
		Format: "flat", Absent: config.Null, Unavailable: config.Keep, UnknownColumns: config.Error,
		Placeholder: config.Placeholder, TimestampUnit: "auto", DecimalEncoding: "auto", BinaryEncoding: "base64",
		Names: "exact", TimeZone: "UTC", SpecialTemporals: config.Error,
	}
}

// table has the key column id and one column v of the given type.
func table(t testing.TB, v iceberg.Type) *rows.Schema {
	t.Helper()
	return columns(t, iceberg.NestedField{ID: 1, Name: "id", Type: prim.Int64, Required: true}, iceberg.NestedField{ID: 2, Name: "v", Type: v})
}

// columns is a schema whose first column is the key.
func columns(t testing.TB, fields ...iceberg.NestedField) *rows.Schema {
	t.Helper()
	s, err := rows.NewSchema(iceberg.NewSchemaWithIdentifiers(0, []int{fields[0].ID}, fields...), nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// put coerces {"id":1,"v":VALUE}. A type is Connect's field schema of v, "" for none.
func put(t testing.TB, s *rows.Schema, route config.Route, value, typ string) (*rows.Batch, error) {
	t.Helper()
	text := fmt.Sprintf(`{"id":1,"v":%s}`, value)
	if typ != "" {
		text = fmt.Sprintf(`{"schema":{"type":"struct","fields":[{"type":"int64","field":"id"},{"field":"v",%s}]},"payload":%s}`, typ, text)
	}
	var doc wire.Doc
	v, err := doc.Connect([]byte(text), wire.Auto)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	b := rows.NewBatch(s)
	return b, compiled(t, s, route).Add(b, change.Upsert(v))
}

func compiled(t testing.TB, s *rows.Schema, route config.Route) *coerce.Table {
	t.Helper()
	table, err := coerce.New(s, route, false)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// cell is the value of column v in the batch's only row, exactly.
func cell(t testing.TB, b *rows.Batch) string {
	t.Helper()
	a := b.Columns()[1]
	if a.Len() != 1 {
		t.Fatalf("%d rows", a.Len())
	}
	if a.IsNull(0) {
		return "(null)"
	}
	switch a := a.(type) {
	case *array.Decimal128:
		return a.Value(0).ToString(a.DataType().(*arrow.Decimal128Type).Scale)
	case *array.Timestamp:
		return fmt.Sprint(int64(a.Value(0)))
	case *array.Date32:
		return fmt.Sprint(int32(a.Value(0)))
	case *array.Time64:
		return fmt.Sprint(int64(a.Value(0)))
	case *array.Float64:
		return fmt.Sprint(a.Value(0))
	case *array.Binary:
		return fmt.Sprintf("%x", a.Value(0))
	case *array.FixedSizeBinary:
		return fmt.Sprintf("%x", a.Value(0))
	}
	return a.ValueStr(0)
}

func untouched(t testing.TB, b *rows.Batch) {
	t.Helper()
	if len(b.Entries) != 0 || b.Keys.Len() != 0 {
		t.Errorf("a refused change left %d entries and %d keys", len(b.Entries), b.Keys.Len())
	}
	for i, c := range b.Columns() {
		if c.Len() != 0 {
			t.Errorf("a refused change left %d cells in column %d", c.Len(), i)
		}
	}
}

// refused checks that err is about a column and has the words.
func refused(t testing.TB, err error, column, words string) {
	t.Helper()
	var misfit *coerce.Error
	if !errors.As(err, &misfit) {
		t.Errorf("got %v, want an *Error", err)
		return
	}
	if misfit.Column != column || !contains(misfit.Reason, words) {
		t.Errorf("got %v, want column %q and %q", err, column, words)
	}
}
