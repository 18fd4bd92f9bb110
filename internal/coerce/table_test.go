package coerce_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/apache/iceberg-go"
	"github.com/frazil/frazil/internal/change"
	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/rows"
	"github.com/frazil/frazil/internal/wire"
	"github.com/google/go-cmp/cmp"
)

// read parses JSON; "" is an absent value.
func read(t testing.TB, text string) wire.Value {
	t.Helper()
	if text == "" {
		return wire.Value{}
	}
	var doc wire.Doc
	v, err := doc.JSON([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// orders has the key (region, id).
func orders(t testing.TB) *rows.Schema {
	t.Helper()
	s, err := rows.NewSchema(iceberg.NewSchema(0,
		iceberg.NestedField{ID: 1, Name: "id", Type: prim.Int64, Required: true},
		iceberg.NestedField{ID: 2, Name: "region", Type: prim.String},
		iceberg.NestedField{ID: 3, Name: "note", Type: prim.String},
		iceberg.NestedField{ID: 4, Name: "paid", Type: prim.Bool, Required: true},
	), []string{"region", "id"})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const row = `{"id":1,"region":"eu","note":"x","paid":true}`

// effects lists a batch's entries: what they do to which key.
func effects(b *rows.Batch) (out []string) {
	for _, e := range b.Entries {
		op := "put"
		if e.Deletes() {
			op = "delete"
		}
		out = append(out, fmt.Sprintf("%s %s %d", op, b.Keys.Part(e.Key, 0), rows.ReadInt(b.Keys.Part(e.Key, 1))))
	}
	return out
}

func upsert(t testing.TB, key, before, row string) change.Change {
	c := change.Upsert(read(t, row)).WithKey(read(t, key))
	if before != "" {
		c = c.WithBefore(read(t, before))
	}
	return c
}

func remove(t testing.TB, key, before string) change.Change {
	c := change.Delete().WithKey(read(t, key))
	if before != "" {
		c = c.WithBefore(read(t, before))
	}
	return c
}

func TestKeysOfAChange(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change  change.Change
		want    []string
		column  string
		refused string
	}{
		"an upsert's key is its row's":                  {change: upsert(t, "", "", row), want: []string{"put eu 1"}},
		"the record's key may say the same":             {change: upsert(t, `{"id":1.0,"region":"eu"}`, "", row), want: []string{"put eu 1"}},
		"it may have a part of the key only":            {change: upsert(t, `{"id":1}`, "", row), want: []string{"put eu 1"}},
		"it may have columns that are no key":           {change: upsert(t, `{"id":1,"__dbz__physicalTableIdentifier":"x"}`, "", row), want: []string{"put eu 1"}},
		"an array is in the key's order":                {change: upsert(t, `["eu",1]`, "", row), want: []string{"put eu 1"}},
		"a scalar beside two columns is no key":         {change: upsert(t, `"7"`, "", row), want: []string{"put eu 1"}},
		"another record's key is refused":               {change: upsert(t, `{"id":2}`, "", row), column: "id", refused: "name different rows"},
		"another array is refused":                      {change: upsert(t, `["us",1]`, "", row), column: "region", refused: "name different rows"},
		"a key of the wrong type is refused":            {change: upsert(t, `{"id":"x"}`, "", row), column: "id", refused: "whole number"},
		"a null key column is refused":                  {change: upsert(t, "", "", `{"id":1,"region":null,"paid":true}`), column: "region", refused: "is in the key and has no value"},
		"an absent key column is refused":               {change: upsert(t, "", "", `{"id":1,"paid":true}`), column: "region", refused: "is in the key and has no value"},
		"an equal image before is no move":              {change: upsert(t, "", `{"id":1,"region":"eu","note":"old"}`, row), want: []string{"put eu 1"}},
		"another image before goes":                     {change: upsert(t, "", `{"id":9,"region":"eu"}`, row), want: []string{"put eu 1", "delete eu 9"}},
		"an image before without the key says nothing":  {change: upsert(t, "", `{"note":"old"}`, row), want: []string{"put eu 1"}},
		"a part of another key in the image is refused": {change: upsert(t, "", `{"id":9}`, row), column: "id", refused: "the key changed"},
		"a placeholder in the image's key is refused":   {change: upsert(t, "", `{"id":1,"region":"__debezium_unavailable_value"}`, row), column: "region", refused: "did not send its value"},
		"a bad image before is refused":                 {change: upsert(t, "", `{"id":null,"region":"eu"}`, row), column: "id", refused: "has no value"},
		"a delete by key":                               {change: remove(t, `{"id":1,"region":"eu"}`, ""), want: []string{"delete eu 1"}},
		"a delete by array":                             {change: remove(t, `["eu",1]`, ""), want: []string{"delete eu 1"}},
		"a delete by image":                             {change: remove(t, "", `{"id":1,"region":"eu","paid":null}`), want: []string{"delete eu 1"}},
		"a delete by both":                              {change: remove(t, `["eu",1]`, `{"id":1,"region":"eu","note":5}`), want: []string{"delete eu 1"}},
		"a delete by two that differ":                   {change: remove(t, `["eu",1]`, `{"id":2,"region":"eu"}`), refused: "name different rows"},
		"a delete by a part of the key":                 {change: remove(t, `{"id":1}`, ""), refused: "has all of region, id"},
		"a delete by an array that is too short":        {change: remove(t, `["eu"]`, ""), refused: "array key"},
		"a half whose other key is null":                {change: upsert(t, "", "", row).WithOther(read(t, `{"id":null,"region":"eu"}`), 1), column: "id", refused: "has no value"},
		"a delete whose other key is null":              {change: remove(t, `["eu",1]`, "").WithOther(read(t, `{"id":null,"region":"eu"}`), 1), column: "id", refused: "has no value"},
		"a delete by null":                              {change: remove(t, `{"id":1,"region":null}`, ""), column: "region", refused: "has no value"},
	} {
		b := rows.NewBatch(orders(t))
		route := plain()
		route.Key = []string{"region", "id"}
		err := compiled(t, b.Schema, route).Add(b, c.change)
		switch {
		case c.refused != "":
			refused(t, err, c.column, c.refused)
			untouched(t, b)
		case err != nil:
			t.Errorf("%s: %v", name, err)
		default:
			if diff := cmp.Diff(c.want, effects(b)); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
	}
}

func TestAScalarIsTheKeyOfOneColumn(t *testing.T) {
	t.Parallel()
	b := rows.NewBatch(table(t, prim.String))
	if err := compiled(t, b.Schema, plain()).Add(b, remove(t, "7", "")); err != nil {
		t.Fatal(err)
	}
	if got := rows.ReadInt(b.Keys.Part(b.Entries[0].Key, 0)); got != 7 {
		t.Errorf("it deletes %d, want 7", got)
	}
}

func TestColumnsThatAreNotThere(t *testing.T) {
	t.Parallel()
	rule := func(f func(*config.Route)) config.Route {
		r := plain()
		f(&r)
		return r
	}
	keep := rule(func(r *config.Route) { r.Absent = config.Keep })
	without := read(t, `{"id":1,"region":"eu","paid":true}`)
	for name, c := range map[string]struct {
		route   config.Route
		change  change.Change
		column  string
		refused string
	}{
		"absent: null":                    {plain(), change.Upsert(without), "", ""},
		"absent: keep in an update":       {keep, change.Upsert(without), "note", "absent: keep needs the row that is there"},
		"absent: keep in an insert":       {keep, change.Insert(without), "", ""},
		"absent: error in an insert":      {rule(func(r *config.Route) { r.Absent = config.Error }), change.Insert(without), "note", "absent: error"},
		"an absent required column":       {plain(), change.Insert(read(t, `{"id":1,"region":"eu"}`)), "paid", "is required and the record does not have it"},
		"a null in a required column":     {plain(), change.Upsert(read(t, `{"id":1,"region":"eu","paid":null}`)), "paid", "is required and has no value"},
		"an unknown column":               {plain(), change.Upsert(read(t, `{"id":1,"region":"eu","paid":true,"__op":"u"}`)), "__op", "the table has no such column"},
		"a producer's own member":         {plain(), change.Upsert(read(t, `{"id":1,"__op":"u","region":"eu","paid":true}`)).WithMeta("__"), "", ""},
		"an unknown column under ignore":  {rule(func(r *config.Route) { r.UnknownColumns = config.Ignore }), change.Upsert(read(t, `{"x":{},"id":1,"region":"eu","paid":true}`)), "", ""},
		"names are exact in their case":   {plain(), change.Upsert(read(t, `{"ID":1,"region":"eu","paid":true}`)), "ID", "the table has no such column"},
		"a column with the prefix of own": {plain(), change.Upsert(read(t, row)).WithMeta("no"), "", ""},
	} {
		b := rows.NewBatch(orders(t))
		err := compiled(t, b.Schema, c.route).Add(b, c.change)
		switch {
		case c.refused != "":
			refused(t, err, c.column, c.refused)
			untouched(t, b)
		case err != nil:
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A table may be used for many rows whose members come in other orders: what one row had says nothing of the next.
func TestRowsDoNotLeakIntoEachOther(t *testing.T) {
	t.Parallel()
	b := rows.NewBatch(orders(t))
	table := compiled(t, b.Schema, plain())
	for _, text := range []string{
		`{"id":1,"region":"a","note":"one","paid":true}`,
		`{"paid":false,"note":"bad","region":"b","id":"x"}`, // refused half-way
		`{"paid":false,"region":"c","id":3}`,
		`{"region":"","id":4,"note":"four","paid":true}`,
		`{"id":5,"region":"e","paid":false,"note":null}`,
	} {
		_ = table.Add(b, change.Upsert(read(t, text))) // the second is refused, as the result shows
	}
	var got []string
	for i := range b.Columns()[0].Len() {
		var cells []string
		for _, c := range b.Columns() {
			cells = append(cells, c.ValueStr(i))
		}
		got = append(got, strings.Join(cells, "|"))
	}
	want := []string{"1|a|one|true", "3|c|(null)|false", "4||four|true", "5|e|(null)|false"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Values belong to the rows of somebody: a refusal names the column and the reason only.
func TestErrorsDoNotShowValues(t *testing.T) {
	t.Parallel()
	const marker = "4711081547110815"
	values := []string{
		`"` + marker + `"`, marker + `.5`, marker + `00000000000000000000000000`, `"` + marker + `x"`, `{"` + marker + `":"` + marker + `"}`,
		`{"scale":` + marker + `,"value":"` + marker + `"}`, `["` + marker + `"]`, `"2024-03-05T` + marker + `"`, `"2024-03-05T06:07:08.` + marker + `"`,
	}
	for _, typ := range []iceberg.Type{
		prim.Bool, prim.Int32, prim.Int64, prim.Float64, prim.Date, prim.Timestamp, prim.TimestampTz, iceberg.DecimalTypeOf(9, 0),
	} {
		n := 0
		for _, v := range values {
			for _, encoding := range []string{"auto", "base64"} {
				route := plain()
				route.DecimalEncoding = encoding
				_, err := put(t, table(t, typ), route, v, "")
				if err == nil {
					continue
				}
				n++
				if strings.Contains(err.Error(), marker) {
					t.Errorf("%s %s: the error shows the value: %v", typ, v, err)
				}
			}
		}
		if n < len(values) {
			t.Errorf("%s: only %d refusals, the test has lost its values", typ, n)
		}
	}
}

func TestAnArrayKeyOfSeveralColumnsNeedsTheRoutesOrder(t *testing.T) {
	t.Parallel()
	b := rows.NewBatch(orders(t))
	err := compiled(t, b.Schema, plain()).Add(b, remove(t, `["eu",1]`, "")) // identifier fields are a set
	refused(t, err, "", "told by the route's key")
	untouched(t, b)
}

func TestAScalarKeyIsComparedWhereNullsDelete(t *testing.T) {
	t.Parallel()
	schema, err := rows.NewSchema(iceberg.NewSchema(0, iceberg.NestedField{ID: 1, Name: "id", Type: prim.Int64, Required: true}), []string{"id"})
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{`5`, `"customer-5"`} {
		b := rows.NewBatch(schema)
		deletes := plain()
		deletes.NullValue = config.Delete
		refused(t, compiled(t, schema, deletes).Add(b, upsert(t, key, "", `{"id":6}`)), "id", "name different rows")
		untouched(t, b)
		ignores := plain()
		ignores.NullValue = config.Ignore
		if err := compiled(t, schema, ignores).Add(b, upsert(t, key, "", `{"id":6}`)); err != nil {
			t.Errorf("key %s for partitioning: %v", key, err)
		}
	}
}
