package ingest_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/frazil/frazil/internal/kafka"
	"github.com/frazil/frazil/internal/local/database"
	"github.com/frazil/frazil/internal/local/lake"
	"github.com/google/go-cmp/cmp"
)

// capturedColumn is a column of a source, and the type that keeps it.
type capturedColumn struct{ name, typ string }

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
	{"id", "int"}, {"c_smallint", "int"}, {"c_bigint", "long"}, {"c_oid", "long"}, {"c_num_10_2", "decimal(10,2)"},
	{"c_num_38_10", "decimal(38,10)"}, {"c_num_neg", "decimal(5,0)"}, {"c_domain", "decimal(10,2)"}, {"c_real", "float"},
	{"c_double", "double"}, {"c_money", "decimal(20,2)"}, {"c_bool", "boolean"}, {"c_text", "string"},
	{"c_varchar", "string"}, {"c_char", "string"}, {"c_citext", "string"}, {"c_bytea", "binary"}, {"c_uuid", "uuid"},
	{"c_json", "string"}, {"c_jsonb", "string"}, {"c_xml", "string"}, {"c_ints", "list<int>"},
	{"c_texts", "list<string>"}, {"c_nums", "list<decimal(10,2)>"}, {"c_tstzs", "list<timestamptz>"},
	{"c_dates", "list<date>"}, {"c_uuids", "list<uuid>"}, {"c_bools", "list<boolean>"},
	{"c_byteas", "list<binary>"}, {"c_hstore", "map<string,string>"}, {"c_date", "date"},
	{"c_time", "long"}, {"c_time3", "time"}, {"c_timetz", "time"}, {"c_ts", "timestamp"},
	{"c_ts3", "timestamp"}, {"c_ts0", "timestamp"}, {"c_tstz", "timestamptz"}, {"c_tstz3", "timestamptz"},
	{"c_inet", "string"}, {"c_cidr", "string"}, {"c_macaddr", "string"}, {"c_ltree", "string"}, {"c_enum", "string"},
	{"c_bit1", "boolean"}, {"c_bit5", "int"}, {"c_varbit", "long"}, {"c_tsvector", "string"},
	{"c_point", "struct<x: double, y: double>"}, {"c_int4range", "string"}, {"c_numrange", "string"},
	{"c_tstzrange", "string"}, {"d_text", "string"}, {"d_num", "decimal(10,2)"}, {"d_ts", "timestamptz"}, {"d_int", "int"},
}

// myColumns are MariaDB's. Left out are decimals of 65 digits, where they are no text, and geometries that are no points.
var myColumns = []capturedColumn{
	{"id", "int"}, {"c_tiny", "int"}, {"c_tiny1", "int"}, {"c_bool", "int"}, {"c_utiny", "int"}, {"c_small", "int"},
	{"c_usmall", "int"}, {"c_medium", "int"}, {"c_umedium", "int"}, {"c_int", "int"}, {"c_uint", "long"},
	{"c_big", "long"}, {"c_ubig", "decimal(20,0)"}, {"c_zerofill", "int"}, {"c_dec_10_2", "decimal(10,2)"},
	{"c_dec_38_10", "decimal(38,10)"}, {"c_dec_65", ""}, {"c_udec", "decimal(10,2)"}, {"c_float", "float"},
	{"c_double", "double"}, {"c_bit1", "boolean"}, {"c_bit5", "int"}, {"c_bit64", "decimal(20,0)"},
	{"c_char", "string"}, {"c_varchar", "string"}, {"c_latin1", "string"}, {"c_text", "string"}, {"c_longtext", "string"},
	{"c_binary", "fixed[4]"}, {"c_varbinary", "binary"}, {"c_blob", "binary"}, {"c_longblob", "binary"},
	{"c_enum", "string"}, {"c_set", "string"}, {"c_json", "string"}, {"c_uuid", "uuid"}, {"c_date", "date"},
	{"c_time", "long"}, {"c_time3", "long"}, {"c_time6", "long"}, {"c_datetime", "timestamp"},
	{"c_datetime3", "timestamp"}, {"c_datetime6", "timestamp"}, {"c_ts", "timestamptz"},
	{"c_ts6", "timestamptz"}, {"c_year", "int"}, {"c_point", "struct<x: double, y: double>"},
	{"d_int", "int"}, {"d_dec", "decimal(10,2)"}, {"d_text", "string"}, {"g_sum", "int"},
}

var zeroDateColumns = []capturedColumn{
	{"id", "int"}, {"c_date", "date"}, {"c_datetime", "timestamp"}, {"c_datetime6", "timestamp"},
	{"c_ts", "timestamptz"}, {"n_date", "date"}, {"n_datetime", "timestamp"}, {"n_ts", "timestamptz"},
	{"c_year", "int"}, {"label", "string"},
}

// specialColumns leave numeric without a scale out, but where it is text.
var specialColumns = []capturedColumn{
	{"id", "int"}, {"label", "string"}, {"c_num", ""}, {"c_num_10_2", "decimal(10,2)"}, {"c_real", "float"},
	{"c_double", "double"}, {"c_date", "date"}, {"c_ts", "timestamp"}, {"c_ts3", "timestamp"},
	{"c_tstz", "timestamptz"}, {"c_nums", "list<decimal(3,1)>"},
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
		Tables map[string]struct {
			Columns map[string]string // their types
			Rows    []map[string]*string
		}
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	var rows []lake.Row
	for _, table := range doc.Tables {
		for _, source := range table.Rows {
			if !slices.Contains(c.skip, sourceOffset(*source["id"])) {
				rows = append(rows, c.sourceRow(t, spec, table.Columns, source))
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

func (c capturedTypes) sourceRow(t *testing.T, spec lake.Spec, types map[string]string, source map[string]*string) lake.Row {
	t.Helper()
	kind, row := database.Postgres, lake.Row{}
	if strings.HasPrefix(c.source, "my") {
		kind = database.MySQL
	}
	for _, column := range spec.Columns {
		v := source[column.Name]
		if v == nil || slices.Contains(c.lost[column.Name], *source["id"]) {
			continue
		}
		literal := *v
		if c.special != nil && isSpecial(column.Type, literal) {
			if literal = c.special(column.Type + " " + literal); literal == "" {
				continue
			}
		} else {
			literal = database.Literal(kind, types[column.Name], column.Type)(literal)
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
