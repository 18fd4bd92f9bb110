package ingest_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/frazil/frazil/internal/kafka"
	"github.com/frazil/frazil/internal/local/lake"
	"github.com/google/go-cmp/cmp"
)

// capturedColumn is a column of a source, the type that keeps it, and what the source's text is in Iceberg's form; nil:
// the same.
type capturedColumn struct {
	name, typ string
	literal   func(string) string
}

// capturedTypes is what a connector sent of a table that has every type of its database.
type capturedTypes struct {
	capture, source string // files; the sources of one database are the same
	columns         []capturedColumn
	options         string              // of the route
	types           map[string]string   // other types for columns; none: the column is left out
	lost            map[string][]string // ids of rows whose cell of that column the messages do not have
	skip            []int64             // offsets that cannot be applied
	special         func(string) string // what becomes of a temporal outside the years 0001 to 9999
}

// pgColumns are PostgreSQL's. Left out is what no connector sends whole: numeric without a scale, of 60 digits, and interval.
var pgColumns = []capturedColumn{
	{"id", "int", nil}, {"c_smallint", "int", nil}, {"c_bigint", "long", nil}, {"c_oid", "long", nil}, {"c_num_10_2", "decimal(10,2)", nil},
	{"c_num_38_10", "decimal(38,10)", nil}, {"c_num_neg", "decimal(5,0)", nil}, {"c_domain", "decimal(10,2)", nil}, {"c_real", "float", nil},
	{"c_double", "double", nil}, {"c_money", "decimal(20,2)", money}, {"c_bool", "boolean", nil}, {"c_text", "string", nil},
	{"c_varchar", "string", nil}, {"c_char", "string", padded}, {"c_citext", "string", nil}, {"c_bytea", "binary", pgBytes}, {"c_uuid", "uuid", nil},
	{"c_json", "string", nil}, {"c_jsonb", "string", nil}, {"c_xml", "string", nil}, {"c_ints", "list<int>", pgArray(nil)},
	{"c_texts", "list<string>", pgArray(nil)}, {"c_nums", "list<decimal(10,2)>", pgArray(nil)}, {"c_tstzs", "list<timestamptz>", pgArray(instant)},
	{"c_dates", "list<date>", pgArray(nil)}, {"c_uuids", "list<uuid>", pgArray(nil)}, {"c_bools", "list<boolean>", pgArray(pgBool)},
	{"c_byteas", "list<binary>", pgArray(pgBytes)}, {"c_hstore", "map<string,string>", hstore}, {"c_date", "date", nil},
	{"c_time", "long", duration}, {"c_time3", "time", nil}, {"c_timetz", "time", inUTC}, {"c_ts", "timestamp", instant},
	{"c_ts3", "timestamp", instant}, {"c_ts0", "timestamp", instant}, {"c_tstz", "timestamptz", instant}, {"c_tstz3", "timestamptz", instant},
	{"c_inet", "string", withoutMask}, {"c_cidr", "string", nil}, {"c_macaddr", "string", nil}, {"c_ltree", "string", nil}, {"c_enum", "string", nil},
	{"c_bit1", "boolean", bit}, {"c_bit5", "int", base(2)}, {"c_varbit", "long", base(2)}, {"c_tsvector", "string", nil},
	{"c_point", "struct<x: double, y: double>", point}, {"c_int4range", "string", nil}, {"c_numrange", "string", nil},
	{"c_tstzrange", "string", nil}, {"d_text", "string", nil}, {"d_num", "decimal(10,2)", nil}, {"d_ts", "timestamptz", instant}, {"d_int", "int", nil},
}

// myColumns are MariaDB's. Left out are decimals of 65 digits, where they are no text, and geometries that are no points.
var myColumns = []capturedColumn{
	{"id", "int", nil}, {"c_tiny", "int", nil}, {"c_tiny1", "int", nil}, {"c_bool", "int", nil}, {"c_utiny", "int", nil}, {"c_small", "int", nil},
	{"c_usmall", "int", nil}, {"c_medium", "int", nil}, {"c_umedium", "int", nil}, {"c_int", "int", nil}, {"c_uint", "long", nil},
	{"c_big", "long", nil}, {"c_ubig", "decimal(20,0)", nil}, {"c_zerofill", "int", base(10)}, {"c_dec_10_2", "decimal(10,2)", nil},
	{"c_dec_38_10", "decimal(38,10)", nil}, {"c_dec_65", "", nil}, {"c_udec", "decimal(10,2)", nil}, {"c_float", "float", nil},
	{"c_double", "double", nil}, {"c_bit1", "boolean", bit}, {"c_bit5", "int", base(16)}, {"c_bit64", "decimal(20,0)", base(16)},
	{"c_char", "string", nil}, {"c_varchar", "string", nil}, {"c_latin1", "string", nil}, {"c_text", "string", nil}, {"c_longtext", "string", nil},
	{"c_binary", "fixed[4]", nil}, {"c_varbinary", "binary", nil}, {"c_blob", "binary", nil}, {"c_longblob", "binary", nil},
	{"c_enum", "string", nil}, {"c_set", "string", nil}, {"c_json", "string", nil}, {"c_uuid", "uuid", nil}, {"c_date", "date", nil},
	{"c_time", "long", duration}, {"c_time3", "long", duration}, {"c_time6", "long", duration}, {"c_datetime", "timestamp", instant},
	{"c_datetime3", "timestamp", instant}, {"c_datetime6", "timestamp", instant}, {"c_ts", "timestamptz", instantUTC},
	{"c_ts6", "timestamptz", instantUTC}, {"c_year", "int", nil}, {"c_point", "struct<x: double, y: double>", point},
	{"d_int", "int", nil}, {"d_dec", "decimal(10,2)", nil}, {"d_text", "string", nil}, {"g_sum", "int", nil},
}

var zeroDateColumns = []capturedColumn{
	{"id", "int", nil}, {"c_date", "date", nil}, {"c_datetime", "timestamp", instant}, {"c_datetime6", "timestamp", instant},
	{"c_ts", "timestamptz", instantUTC}, {"n_date", "date", nil}, {"n_datetime", "timestamp", instant}, {"n_ts", "timestamptz", instantUTC},
	{"c_year", "int", nil}, {"label", "string", nil},
}

// specialColumns leave numeric without a scale out, but where it is text.
var specialColumns = []capturedColumn{
	{"id", "int", nil}, {"label", "string", nil}, {"c_num", "", named}, {"c_num_10_2", "decimal(10,2)", named}, {"c_real", "float", nil},
	{"c_double", "double", nil}, {"c_date", "date", nil}, {"c_ts", "timestamp", instant}, {"c_ts3", "timestamp", instant},
	{"c_tstz", "timestamptz", instant}, {"c_nums", "list<decimal(3,1)>", pgArray(nil)},
}

// A NULL in a column with a default arrives as the default; arrays of more than one dimension arrive as garbage.
var (
	pgLost = map[string][]string{"d_num": {"4", "13", "14"}, "d_int": {"4", "13", "14"}, "c_ints": {"13"}, "c_texts": {"13"}}
	// The source's own text of a float has six digits; a comma in a label has a backslash in the stream.
	myLost = map[string][]string{"d_dec": {"4", "13", "14"}, "d_int": {"4", "13", "14"}, "c_float": {"12", "13"}, "c_enum": {"12"}}
	// MariaDB's zero and partly zero dates arrive as NULL or 1970, its year 0 as 1900 or 2000, and the connector moves the
	// years 1 to 99 into this millennium.
	zeroLost = map[string][]string{
		"c_date": {"1", "2", "3", "4"}, "c_datetime": {"2", "3", "4"}, "c_datetime6": {"2", "3", "4", "5"}, "c_ts": {"2", "3"},
		"n_date": {"1", "2", "3", "4", "5"}, "n_datetime": {"2", "3", "4"}, "n_ts": {"2", "3"}, "c_year": {"2", "3"},
	}
)

const (
	pgUnits = "c_time3: {timestamp_unit: ms}, c_ts3: {timestamp_unit: ms}, c_ts0: {timestamp_unit: ms}"
	myUnits = "c_datetime: {timestamp_unit: ms}, c_datetime3: {timestamp_unit: ms}, c_ubig: {unsigned: true}"
)

var typeCaptures = []capturedTypes{
	{capture: "pgschemas-types", source: "pgtypes-types", columns: pgColumns, options: "wrapper: schema_payload", lost: pgLost},
	// Without schemas bits are no integers, a scale beyond the column's is not known, and hstore is a text.
	{
		capture: "pgtypes-types", source: "pgtypes-types", columns: pgColumns, lost: pgLost,
		options: "decimal_encoding: base64, timestamp_unit: us, columns: {" + pgUnits + "}",
		types:   map[string]string{"c_num_neg": "", "c_hstore": "", "c_bit5": "", "c_varbit": ""},
	},
	// time.precision.mode=connect sends milliseconds.
	{
		capture: "pgstring-types", source: "pgtypes-types", columns: pgColumns, lost: pgLost, options: "timestamp_unit: ms",
		types: map[string]string{"c_bit5": "", "c_varbit": "", "c_time": "", "c_ts": ""},
	},
	// decimal.handling.mode=double keeps 15 digits.
	{
		capture: "pgdouble-types", source: "pgtypes-types", columns: pgColumns, lost: pgLost, options: "timestamp_unit: us, binary_encoding: hex",
		types: map[string]string{"c_num_38_10": "", "c_money": "", "c_hstore": "", "c_bit5": "", "c_varbit": ""},
	},
	{
		capture: "myschemas-types", source: "myplain-types", columns: myColumns, lost: myLost, options: "wrapper: schema_payload",
	},
	{
		capture: "myplain-types", source: "myplain-types", columns: myColumns, lost: myLost,
		options: "decimal_encoding: base64, timestamp_unit: us, columns: {" + myUnits + "}", types: map[string]string{"c_bit5": "", "c_bit64": ""},
	},
	{
		capture: "mystring-types", source: "myplain-types", columns: myColumns, lost: myLost,
		options: "timestamp_unit: ms, columns: {c_ubig: {unsigned: true}}",
		types:   map[string]string{"c_dec_65": "string", "c_bit5": "", "c_bit64": "", "c_time": "", "c_time3": "", "c_time6": "", "c_datetime6": ""},
	},
	{
		capture: "mydouble-types", source: "myplain-types", columns: myColumns, lost: myLost,
		options: "timestamp_unit: us, binary_encoding: hex, columns: {c_ubig: {unsigned: true}}", types: map[string]string{"c_dec_38_10": "", "c_bit5": "", "c_bit64": ""},
	},
	{
		capture: "myplain-zero_dates", source: "myplain-zero_dates", columns: zeroDateColumns, lost: zeroLost,
		options: "timestamp_unit: ms, columns: {c_datetime6: {timestamp_unit: us}}",
	},
	// A timestamp of the year 294276 overflows in row 12, and is refused; NaN in a decimal arrives as NULL.
	{
		capture: "pgspecials-specials", source: "pgspecials-specials", columns: specialColumns, skip: []int64{11}, special: clamped,
		options: "special_temporals: clamp, decimal_encoding: base64, timestamp_unit: us, columns: {c_ts3: {timestamp_unit: ms}}",
		lost:    map[string][]string{"c_num_10_2": {"25"}, "c_nums": {"26"}},
	},
	{
		capture: "pgspecialsstring-specials", source: "pgspecials-specials", columns: specialColumns, special: func(string) string { return "" },
		options: "special_temporals: null, timestamp_unit: us, columns: {c_ts3: {timestamp_unit: ms}}",
		types:   map[string]string{"c_num": "string", "c_num_10_2": "string"},
		lost:    map[string][]string{"c_nums": {"26"}},
	},
}

func TestTheTableEqualsTheSourceOfACaptureOfEveryType(t *testing.T) {
	t.Parallel()
	for _, c := range typeCaptures {
		t.Run(c.capture, func(t *testing.T) {
			t.Parallel()
			spec := c.spec()
			w := newWorld(t, spec, "format: debezium, absent: 'null', unknown_columns: ignore, topics: ['/.*/'], "+c.options)
			records := slices.DeleteFunc(readCapture(t, "testdata/captures/"+c.capture+".jsonl"), func(r kafka.Record) bool { return slices.Contains(c.skip, r.Offset) })
			w.must(w.pipeline().Deliver(t.Context(), records))
			_, rows, err := w.lake.Rows(t.Context(), spec.Name)
			w.must(err)
			if diff := cmp.Diff(c.sourceRows(t, spec), c.found(rows)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func (c capturedTypes) spec() lake.Spec {
	s := lake.Spec{Name: "shop.types", Key: []string{"id"}}
	for _, column := range c.columns {
		typ, other := c.types[column.name]
		if !other {
			typ = column.typ
		}
		if typ != "" {
			s.Columns = append(s.Columns, lake.Column{Name: column.name, Type: typ, Required: column.name == "id"})
		}
	}
	return s
}

// found are the table's rows by id, without the cells that were lost.
func (c capturedTypes) found(rows []lake.Row) map[string]lake.Row {
	out := map[string]lake.Row{}
	for _, r := range rows {
		id := r["id"]
		for column, ids := range c.lost {
			if slices.Contains(ids, id) {
				delete(r, column)
			}
		}
		out[id] = r
	}
	return out
}

// sourceRows are the source's rows in the form of found.
func (c capturedTypes) sourceRows(t *testing.T, spec lake.Spec) map[string]lake.Row {
	t.Helper()
	text, err := os.ReadFile("testdata/captures/" + c.source + ".rows.json")
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Tables map[string]struct{ Rows []map[string]*string }
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	var rows []lake.Row
	for _, table := range doc.Tables {
		for _, source := range table.Rows {
			if !slices.Contains(c.skip, sourceOffset(*source["id"])) {
				rows = append(rows, c.sourceRow(t, spec, source))
			}
		}
	}
	return c.found(rows)
}

// sourceOffset is that of the first record of a row, where rows were inserted in the order of their ids.
func sourceOffset(id string) int64 {
	var n int64
	_, _ = fmt.Sscan(id, &n)
	return n - 1
}

func (c capturedTypes) sourceRow(t *testing.T, spec lake.Spec, source map[string]*string) lake.Row {
	t.Helper()
	row := lake.Row{}
	for _, column := range spec.Columns {
		v, i := source[column.Name], slices.IndexFunc(c.columns, func(c capturedColumn) bool { return c.name == column.Name })
		if v == nil || slices.Contains(c.lost[column.Name], *source["id"]) {
			continue
		}
		literal := *v
		if c.special != nil && isSpecial(column.Type, literal) {
			if literal = c.special(column.Type + " " + literal); literal == "" {
				continue
			}
		} else if convert := c.columns[i].literal; convert != nil {
			literal = convert(literal)
		}
		canonical, err := lake.Canonical(column.Type, literal)
		if err != nil {
			t.Fatalf("%s: %v", column.Name, err)
		}
		row[column.Name] = canonical
	}
	return row
}

// isSpecial reports whether a temporal's text lies outside the years 0001 to 9999.
func isSpecial(typ, literal string) bool {
	if typ != "date" && !strings.HasPrefix(typ, "timestamp") {
		return false
	}
	return strings.Contains(literal, "infinity") || strings.HasSuffix(literal, "BC") || strings.IndexByte(literal, '-') > 4
}

// clamped is the end of time that a type and a text are nearest to.
func clamped(text string) string {
	typ, literal, _ := strings.Cut(text, " ")
	end := "9999-12-31T23:59:59.999999"
	if literal[0] == '-' || strings.HasSuffix(literal, "BC") {
		end = "0001-01-01T00:00:00.000000"
	}
	switch typ {
	case "date":
		return end[:10]
	case "timestamptz":
		return end + "+00:00"
	}
	return end
}
