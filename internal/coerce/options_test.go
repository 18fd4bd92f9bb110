package coerce_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/apache/iceberg-go"
	"github.com/frazil/frazil/internal/change"
	"github.com/frazil/frazil/internal/coerce"
	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/rows"
	"github.com/google/go-cmp/cmp"
)

func renamed() config.Route {
	r := plain()
	r.Columns = map[string]config.Column{"id": {From: "NUMBER"}}
	return r
}

func folded() config.Route {
	r := plain()
	r.Names = "fold_case"
	return r
}

func TestNamesOfMembersHoldInRowsKeysAndImages(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		route           config.Route
		change          change.Change
		want            []string
		column, refused string
	}{
		"from in a row":            {renamed(), upsert(t, "", "", `{"NUMBER":1,"v":2}`), []string{"put 1"}, "", ""},
		"from in a key":            {renamed(), upsert(t, `{"NUMBER":2}`, "", `{"NUMBER":1,"v":2}`), nil, "id", "different rows"},
		"from in an image":         {renamed(), upsert(t, "", `{"NUMBER":3}`, `{"NUMBER":1,"v":2}`), []string{"put 1", "delete 3"}, "", ""},
		"from in a delete":         {renamed(), remove(t, `{"NUMBER":3}`, ""), []string{"delete 3"}, "", ""},
		"the column's own name":    {renamed(), upsert(t, "", "", `{"id":1,"v":2}`), nil, "id", "no such column"},
		"its own name in a delete": {renamed(), remove(t, `{"id":3}`, ""), nil, "", "delete without a key"},
		"case in a row":            {folded(), upsert(t, "", "", `{"ID":1,"V":2}`), []string{"put 1"}, "", ""},
		"case in a key":            {folded(), upsert(t, `{"Id":2}`, "", `{"ID":1,"V":2}`), nil, "id", "different rows"},
		"case in an image":         {folded(), upsert(t, "", `{"iD":3}`, `{"ID":1,"V":2}`), []string{"put 1", "delete 3"}, "", ""},
		"twice in a row":           {folded(), upsert(t, "", "", `{"ID":1,"id":2}`), nil, "id", "alike without case"},
		"twice in a key":           {folded(), remove(t, `{"ID":1,"id":2}`, ""), nil, "id", "alike without case"},
		"twice in an image":        {folded(), upsert(t, "", `{"ID":3,"id":1}`, `{"id":1}`), nil, "id", "alike without case"},
	} {
		b := rows.NewBatch(table(t, prim.Int32))
		err := compiled(t, b.Schema, c.route).Add(b, c.change)
		if c.refused != "" {
			refused(t, err, c.column, c.refused)
			untouched(t, b)
			continue
		}
		var got []string
		for _, e := range b.Entries {
			op := "put"
			if e.Deletes() {
				op = "delete"
			}
			got = append(got, fmt.Sprintf("%s %d", op, rows.ReadInt(b.Keys.Part(e.Key, 0))))
		}
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v %s", name, err, diff)
		}
	}
}

func TestNewRefusesWhatTheRouteCannotMean(t *testing.T) {
	t.Parallel()
	route := func(f func(*config.Route)) config.Route {
		r := plain()
		f(&r)
		return r
	}
	of := func(name string, c config.Column) config.Route {
		return route(func(r *config.Route) { r.Columns = map[string]config.Column{name: c} })
	}
	inner := &iceberg.StructType{FieldList: []iceberg.NestedField{field(10, "a", prim.Int32), field(11, "A", prim.Int32)}}
	for name, c := range map[string]struct {
		route config.Route
		v     iceberg.NestedField
		want  string
	}{
		"a column too many":       {of("w", config.Column{}), field(2, "v", prim.Int32), "column w: the route's columns name it"},
		"unsigned texts":          {of("v", config.Column{Unsigned: true}), field(2, "v", prim.String), "column v: the route's unsigned has no meaning for the type string"},
		"a unit of longs":         {of("v", config.Column{TimestampUnit: "ms"}), field(2, "v", prim.Int64), "column v: the route's timestamp_unit has no meaning"},
		"fractions of longs":      {of("v", config.Column{Floor: true}), field(2, "v", prim.Int64), "column v: the route's fractions has no meaning"},
		"one member for two":      {of("v", config.Column{From: "id"}), field(2, "v", prim.Int64), "the member id is for two columns"},
		"columns that fold alike": {folded(), field(2, "ID", prim.Int64), "the names id and ID are alike without case"},
		"fields that fold alike":  {folded(), field(2, "v", inner), "column v: the names a and A are alike without case"},
		"a zone that is none":     {route(func(r *config.Route) { r.TimeZone = "Mars/Olympus" }), field(2, "v", prim.Int64), "time_zone"},
	} {
		s := columns(t, required(field(1, "id", prim.Int64)), c.v)
		if _, err := coerce.New(s, c.route, true); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
	if _, err := put(t, table(t, listOf(prim.Timestamp, false)), of("v", config.Column{TimestampUnit: "ms"}), `[1]`, ""); err != nil {
		t.Errorf("a unit of a list's timestamps: %v", err)
	}
}

func TestAbsentCellsTakeTheDefaultOfTheirColumn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		typ   iceberg.Type
		value any
		want  string // a cell, or the words of the error
	}{
		{prim.Bool, true, "true"},
		{prim.Int32, int32(-5), "-5"},
		{prim.Int64, float64(5), "5"}, // as iceberg-go reads numbers
		{prim.Int64, int64(1<<53 + 1), "9007199254740993"},
		{prim.Int64, float64(1 << 53), "cannot be read exactly"},
		{prim.Float32, 0.5, "0.5"},
		{prim.Float64, 0.1, "0.1"},
		{iceberg.DecimalTypeOf(5, 2), "1.50", "1.50"},
		{prim.Date, "2024-03-05", "19787"},
		{prim.Time, "06:07:08.123456", "22028123456"},
		{prim.Timestamp, "2024-03-05T06:07:08.123456", "1709618828123456"},
		{prim.TimestampTz, "2024-03-05T06:07:08.123456+00:00", "1709618828123456"},
		{prim.TimestampNs, "2024-03-05T06:07:08.123456789", "1709618828123456789"},
		{prim.String, "x", "x"},
		{prim.UUID, "0190a5f0-1111-7abc-8def-0123456789ab", "0190a5f0-1111-7abc-8def-0123456789ab"},
		{iceberg.FixedTypeOf(2), "00ff", "00ff"},
		{prim.Binary, "00ff", "00ff"},
		{prim.Binary, []byte{0, 255}, "00ff"},
		{prim.Int32, float64(1 << 40), "its default is out of range of int"},
		{prim.UUID, "x", "its default is no uuid"},
		{listOf(prim.Int32, false), []any{}, "is not supported"},
		{address(), map[string]any{"1": 1}, "has to be {}"},
		{address(), map[string]any{}, "is required and has no value"},
		{&iceberg.StructType{FieldList: []iceberg.NestedField{{ID: 90, Name: "a", Type: prim.String, WriteDefault: "y"}, field(91, "b", prim.Int32)}}, map[string]any{}, `{"a":"y","b":null}`},
	} {
		v := field(2, "v", c.typ)
		v.WriteDefault = c.value
		s := columns(t, required(field(1, "id", prim.Int64)), v)
		b := rows.NewBatch(s)
		table, err := coerce.New(s, plain(), true)
		if err != nil {
			if !strings.Contains(err.Error(), "column v") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s %v: %v, want %q", c.typ, c.value, err, c.want)
			}
			continue
		}
		if err := table.Add(b, change.Insert(read(t, `{"id":1}`))); err != nil {
			t.Errorf("%s: %v", c.typ, err)
		} else if got := cell(t, b); got != c.want {
			t.Errorf("%s: %s, want %s", c.typ, got, c.want)
		}
	}
}

func TestADefaultIsNoValueOfRowsThatHaveOne(t *testing.T) {
	t.Parallel()
	v := required(field(2, "v", &iceberg.StructType{FieldList: []iceberg.NestedField{{ID: 90, Name: "a", Type: prim.String, WriteDefault: "y"}}}))
	v.WriteDefault = map[string]any{}
	b := rows.NewBatch(columns(t, required(field(1, "id", prim.Int64)), v))
	keep := plain()
	keep.Absent = config.Keep
	table := compiled(t, b.Schema, keep)
	for _, text := range []string{`{"id":1}`, `{"id":2,"v":{"a":"x"}}`, `{"id":3}`} {
		if err := table.Add(b, change.Insert(read(t, text))); err != nil {
			t.Fatal(err)
		}
	}
	refused(t, table.Add(b, change.Insert(read(t, `{"id":4,"v":null}`))), "v", "is required and has no value")
	for i, want := range []string{`{"a":"y"}`, `{"a":"x"}`, `{"a":"y"}`} {
		if got := b.Columns()[1].ValueStr(i); got != want {
			t.Errorf("row %d: %s, want %s", i, got, want)
		}
	}
}

func TestASpecialValueIsNoKey(t *testing.T) {
	t.Parallel()
	s, err := rows.NewSchema(iceberg.NewSchema(0, field(1, "d", prim.Date)), []string{"d"})
	if err != nil {
		t.Fatal(err)
	}
	r := plain()
	r.SpecialTemporals = config.Null
	b := rows.NewBatch(s)
	refused(t, compiled(t, s, r).Add(b, remove(t, `{"d":"infinity"}`, "")), "d", "is in the key and has no value")
	refused(t, compiled(t, s, r).Add(b, upsert(t, "", "", `{"d":"infinity"}`)), "d", "is in the key and has no value")
}

func TestKeysOfFurtherTypesAreComparedAsValues(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		typ      iceberg.Type
		row, key string
	}{
		{prim.UUID, `"0190A5F0-1111-7ABC-8DEF-0123456789AB"`, `"0190a5f011117abc8def0123456789ab"`},
		{prim.Time, `"06:07:08.100"`, `"06:07:08.1Z"`},
		{prim.TimestampTzNs, `"2024-03-05T06:07:08Z"`, `"2024-03-05T08:07:08+02:00"`},
		{prim.Binary, `"AP8="`, `"AP8="`},
		{iceberg.FixedTypeOf(2), `"AP8="`, `"AP8="`},
	} {
		s, err := rows.NewSchema(iceberg.NewSchema(0, field(1, "k", c.typ)), []string{"k"})
		if err != nil {
			t.Fatal(err)
		}
		b := rows.NewBatch(s)
		if err := compiled(t, s, plain()).Add(b, upsert(t, `{"k":`+c.key+`}`, `{"k":`+c.key+`}`, `{"k":`+c.row+`}`)); err != nil || len(b.Entries) != 1 {
			t.Errorf("%s: %v, %d entries", c.typ, err, len(b.Entries))
		}
	}
}
