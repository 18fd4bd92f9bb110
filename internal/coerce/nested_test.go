package coerce_test

import (
	"testing"

	"github.com/apache/iceberg-go"
	"github.com/frazil/frazil/internal/change"
	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/rows"
)

func field(id int, name string, t iceberg.Type) iceberg.NestedField {
	return iceberg.NestedField{ID: id, Name: name, Type: t}
}

func required(f iceberg.NestedField) iceberg.NestedField {
	f.Required = true
	return f
}

func listOf(t iceberg.Type, required bool) iceberg.Type {
	return &iceberg.ListType{ElementID: 50, Element: t, ElementRequired: required}
}

func mapOf(key, value iceberg.Type) iceberg.Type {
	return &iceberg.MapType{KeyID: 60, KeyType: key, ValueID: 61, ValueType: value}
}

// address is struct<city: string (required), zip: decimal(5,0), since: date with a default>.
func address() iceberg.Type {
	since := field(72, "since", prim.Date)
	since.WriteDefault = "2020-01-01"
	return &iceberg.StructType{FieldList: []iceberg.NestedField{required(field(70, "city", prim.String)), field(71, "zip", iceberg.DecimalTypeOf(5, 0)), since}}
}

func ignoring(r *config.Route) { r.UnknownColumns = config.Ignore }

func folding(r *config.Route) { r.Names = "fold_case" }

// nestedForm is a form of a nested value, whose refusal is about a path in it.
type nestedForm struct {
	form
	path string
}

func TestNestedTypesTakeWhatFitsAndRefuseTheRest(t *testing.T) {
	t.Parallel()
	const int32s = `"type":"array","items":{"type":"int32"}`
	for name, c := range map[string]struct {
		typ   iceberg.Type
		forms []nestedForm
	}{
		"list<long>": {listOf(prim.Int64, false), []nestedForm{
			{form{value: `[1,null,"3"]`, cell: `[1,null,3]`}, ""},
			{form{value: `[]`, cell: `[]`}, ""},
			{form{value: `null`, cell: `(null)`}, ""},
			{form{value: `"[1,2]"`, cell: `[1,2]`, typ: jsonType}, ""},
			{form{value: `"null"`, cell: `(null)`, typ: jsonType}, ""},
			{form{value: `"[1"`, refused: "is no JSON", typ: jsonType}, "v"},
			{form{value: `"[1,2]"`, refused: "a text does not fit list, unless the writer's type says"}, "v"},
			{form{value: `[1,"x"]`, refused: "no plain whole number"}, "v.element"},
			{form{value: `{"a":1}`, refused: "kind object does not fit list"}, "v"},
		}},
		"list<required int>": {listOf(prim.Int32, true), []nestedForm{
			{form{value: `[1]`, cell: `[1]`, typ: int32s}, ""},
			{form{value: `[null,null]`, refused: "is required and has no value"}, "v.element"}, // Debezium's int[][]
		}},
		"list<list<binary>>": {&iceberg.ListType{ElementID: 51, Element: listOf(prim.Binary, false)}, []nestedForm{
			{form{value: `[["AQ=="],null,[]]`, cell: `[["AQ=="],null,[]]`}, ""},
			{form{value: `[["x"]]`, refused: "is no base64"}, "v.element.element"},
		}},
		"list<required date>": {listOf(prim.Date, true), []nestedForm{
			{form{value: `["infinity"]`, refused: "is required and has no value", route: special(config.Null)}, "v.element"},
		}},
		"map<string, long>": {mapOf(prim.String, prim.Int64), []nestedForm{
			{form{value: `{"b":1,"a":null,"":3}`, cell: `[{"key":"b","value":1},{"key":"a","value":null},{"key":"","value":3}]`}, ""},
			{form{value: `[["b",1],["a",2]]`, cell: `[{"key":"b","value":1},{"key":"a","value":2}]`}, ""},
			{form{value: `"{\"a\":\"1\"}"`, cell: `[{"key":"a","value":1}]`, typ: jsonType}, ""},
			{form{value: `{"a":"x"}`, refused: "no plain whole number"}, "v.value"},
			{form{value: `[["a",1],["a",2]]`, refused: "two keys are equal"}, "v.key"},
			{form{value: `[[null,1]]`, refused: "is required and has no value"}, "v.key"},
			{form{value: `[["a"]]`, refused: "not all pairs"}, "v"},
			{form{value: `[1]`, refused: "not all pairs"}, "v"},
			{form{value: `"{\"a\":1}"`, refused: "a text does not fit map"}, "v"},
		}},
		"map<int, binary>": {mapOf(prim.Int32, prim.Binary), []nestedForm{
			{form{value: `{"1":"AQ==","-2":null}`, cell: `[{"key":1,"value":"AQ=="},{"key":-2,"value":null}]`}, ""},
			{form{value: `[[1,"AQ=="]]`, cell: `[{"key":1,"value":"AQ=="}]`, route: bytesAs("hex"), typ: `"type":"map","keys":{"type":"int32"},"values":{"type":"bytes"}`}, ""},
			{form{value: `{"1":null,"01":null}`, refused: "two keys are equal"}, "v.key"},
			{form{value: `{"1.0":null}`, refused: "no plain whole number"}, "v.key"},
		}},
		"map<date, double>": {mapOf(prim.Date, prim.Float64), []nestedForm{
			{form{value: `{"2024-03-05":0.5}`, cell: `[{"key":"2024-03-05","value":0.5}]`}, ""},
			{form{value: `[[19787,0.5]]`, cell: `[{"key":"2024-03-05","value":0.5}]`}, ""},
		}},
		"map<double, boolean>": {mapOf(prim.Float64, prim.Bool), []nestedForm{
			{form{value: `{"0.5":true,"Infinity":false}`, cell: `[{"key":0.5,"value":true},{"key":"+Inf","value":false}]`}, ""},
			{form{value: `{"null":true}`, refused: "kind null does not fit double"}, "v.key"},
		}},
		"map<decimal(5,2), struct>": {mapOf(iceberg.DecimalTypeOf(5, 2), address()), []nestedForm{
			{form{value: `{"1.5":{"city":"x","since":null}}`, cell: `[{"key":"1.5","value":{"city":"x","since":null,"zip":null}}]`, route: decimals("base64")}, ""},
			{form{value: `{"1.5":{"zip":1}}`, refused: "is required and the record does not have it"}, "v.value.city"},
			{form{value: `{"1.5":null,"1.50":null}`, refused: "two keys are equal"}, "v.key"},
		}},
		"struct": {address(), []nestedForm{
			{form{value: `{"zip":12345,"city":"x","since":19787}`, cell: `{"city":"x","since":"2024-03-05","zip":"12345"}`}, ""},
			{form{value: `{"city":"x"}`, cell: `{"city":"x","since":"2020-01-01","zip":null}`}, ""},
			{form{value: `{"city":"x","other":1}`, cell: `{"city":"x","since":"2020-01-01","zip":null}`, route: ignoring}, ""},
			{form{value: `{"CITY":"x","Zip":1}`, cell: `{"city":"x","since":"2020-01-01","zip":"1"}`, route: folding}, ""},
			{form{value: `{"city":"x","CITY":"y"}`, refused: "alike without case", route: folding}, "v.city"},
			{form{value: `{"CITY":"x"}`, refused: "the struct has no such field"}, "v.CITY"},
			{form{value: `{"city":"x","other":1}`, refused: "the struct has no such field"}, "v.other"},
			{form{value: `{"city":null}`, refused: "is required and has no value"}, "v.city"},
			{form{value: `{"city":"x","zip":123456}`, refused: "is too large"}, "v.zip"},
			{form{value: `"{\"city\":\"x\"}"`, cell: `{"city":"x","since":"2020-01-01","zip":null}`, typ: jsonType}, ""},
			{form{value: `"x"`, refused: "a text does not fit struct"}, "v"},
			{form{value: `[]`, refused: "kind array does not fit struct"}, "v"},
		}},
		"a geometry of Debezium": {
			&iceberg.StructType{FieldList: []iceberg.NestedField{field(80, "wkb", prim.Binary), field(81, "srid", prim.Int32)}},
			[]nestedForm{
				{form{value: `{"wkb":"AQEAAAA=","srid":4326}`, cell: `{"srid":4326,"wkb":"AQEAAAA="}`}, ""},
				{form{value: `{"x":1.0,"y":2.0,"wkb":"AQEAAAA=","srid":null}`, cell: `{"srid":null,"wkb":"AQEAAAA="}`, route: ignoring}, ""},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, f := range c.forms {
				f.check(t, c.typ)
			}
		})
	}
}

func (f nestedForm) check(t *testing.T, typ iceberg.Type) {
	t.Helper()
	if f.refused == "" {
		f.form.check(t, typ)
		return
	}
	route := plain()
	if f.route != nil {
		f.route(&route)
	}
	b, err := put(t, table(t, typ), route, f.value, f.typ)
	refused(t, err, f.path, f.refused)
	untouched(t, b)
}

// Cells are used again: what a nested value of one row had must not be in the next.
func TestNestedValuesDoNotLeakIntoEachOther(t *testing.T) {
	t.Parallel()
	b := rows.NewBatch(table(t, listOf(address(), false)))
	c := compiled(t, b.Schema, plain())
	for _, text := range []string{
		`{"id":1,"v":[{"city":"a","zip":1,"since":1},{"city":"b","zip":2,"since":2}]}`,
		`{"id":2,"v":[{"city":"c","zip":"x"}]}`, // refused half-way
		`{"id":3,"v":[{"city":"d"},null,{"city":"e"}]}`,
		`{"id":4,"v":[]}`,
	} {
		if err := c.Add(b, change.Upsert(read(t, text))); err != nil && text[6] != '2' {
			t.Fatal(err)
		}
	}
	for i, want := range []string{
		`[{"city":"a","since":"1970-01-02","zip":"1"},{"city":"b","since":"1970-01-03","zip":"2"}]`,
		`[{"city":"d","since":"2020-01-01","zip":null},null,{"city":"e","since":"2020-01-01","zip":null}]`, `[]`,
	} {
		if got := b.Columns()[1].ValueStr(i); got != want {
			t.Errorf("row %d: got %s, want %s", i, got, want)
		}
	}
}

// Texts that come out of JSON texts, bytes and names are borrowed until the row is in the batch.
func TestBorrowedValuesOfOneRowStayApart(t *testing.T) {
	t.Parallel()
	value := `["{\"a\\u0031\":\"x\\u0031\"}","{\"b\\u0032\":\"y\\u0032\"}"]`
	b, err := put(t, table(t, listOf(mapOf(prim.String, prim.String), false)), plain(), value, `"type":"array","items":{`+jsonType+`}`)
	if err != nil {
		t.Fatal(err)
	}
	if got := cell(t, b); got != `[[{"key":"a1","value":"x1"}],[{"key":"b2","value":"y2"}]]` {
		t.Errorf("got %s", got)
	}
}

func TestPlaceholdersOfNestedColumnsAreNeverData(t *testing.T) {
	t.Parallel()
	for form, typ := range map[string]iceberg.Type{
		"int[]": listOf(prim.Int32, false), "uuid[]": listOf(prim.UUID, false), "bytea[]": listOf(prim.Binary, false), "text[]": listOf(prim.String, false),
		"hstore": mapOf(prim.String, prim.String), "bytes": prim.Binary, "hstore text": mapOf(prim.String, prim.String),
	} {
		b, err := put(t, table(t, typ), plain(), placeholders[form], "")
		refused(t, err, "v", "unavailable: keep needs the row that is there")
		untouched(t, b)
	}
}
