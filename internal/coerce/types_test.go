package coerce_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/apache/iceberg-go"
	"github.com/frazil/frazil/internal/config"
)

func contains(s, words string) bool { return strings.Contains(s, words) }

const (
	decimalType = `"type":"bytes","name":"org.apache.kafka.connect.data.Decimal","parameters":{"scale":"3"}`
	microType   = `"type":"int64","name":"io.debezium.time.MicroTimestamp"`
	milliType   = `"type":"int64","name":"org.apache.kafka.connect.data.Timestamp"`
	nanoType    = `"type":"int64","name":"io.debezium.time.NanoTimestamp"`
	dateType    = `"type":"int32","name":"io.debezium.time.Date"`
	yearType    = `"type":"int32","name":"io.debezium.time.Year"`
	bitsType    = `"type":"bytes","name":"io.debezium.data.Bits","parameters":{"length":"16"}`
	bytesType   = `"type":"bytes"`
)

// form is one way to write a value: with the cell that it becomes, or else the words of its refusal.
type form struct {
	value   string
	cell    string
	refused string
	typ     string // Connect's field schema
	route   func(*config.Route)
}

func unit(u string) func(*config.Route) { return func(r *config.Route) { r.TimestampUnit = u } }

func decimals(e string) func(*config.Route) { return func(r *config.Route) { r.DecimalEncoding = e } }

func TestEachTypeTakesWhatFitsAndRefusesTheRest(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		typ   iceberg.Type
		forms []form
	}{
		"boolean":       {prim.Bool, booleans},
		"int":           {prim.Int32, ints},
		"long":          {prim.Int64, longs},
		"double":        {prim.Float64, doubles},
		"decimal(10,2)": {iceberg.DecimalTypeOf(10, 2), decimals10},
		"decimal(38,0)": {iceberg.DecimalTypeOf(38, 0), decimals38},
		"date":          {prim.Date, dates},
		"timestamp":     {prim.Timestamp, timestamps},
		"timestamptz":   {prim.TimestampTz, timestamptzs},
		"string":        {prim.String, texts},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, f := range c.forms {
				f.check(t, c.typ)
			}
		})
	}
}

func (f form) check(t *testing.T, typ iceberg.Type) {
	t.Helper()
	route := plain()
	if f.route != nil {
		f.route(&route)
	}
	b, err := put(t, table(t, typ), route, f.value, f.typ)
	if f.refused != "" {
		if err == nil {
			t.Errorf("%s %s: became %s, want a refusal with %q", f.value, f.typ, cell(t, b), f.refused)
			return
		}
		refused(t, err, "v", f.refused)
		untouched(t, b)
		return
	}
	if err != nil {
		t.Errorf("%s %s: %v, want %s", f.value, f.typ, err, f.cell)
	} else if got := cell(t, b); got != f.cell {
		t.Errorf("%s %s: got %s, want %s", f.value, f.typ, got, f.cell)
	}
}

var booleans = []form{
	{value: `true`, cell: "true"},
	{value: `false`, cell: "false"},
	{value: `"true"`, cell: "true"},
	{value: `1`, cell: "true"},
	{value: `0`, cell: "false"},
	{value: `"0"`, cell: "false"},
	{value: `null`, cell: "(null)"},
	{value: `2`, refused: "only true, false, 1 and 0"},
	{value: `"yes"`, refused: "only true, false, 1 and 0"},
	{value: `"AQ=="`, refused: "only true, false, 1 and 0"},
	{value: `[]`, refused: "kind array does not fit boolean"},
}

var ints = []form{
	{value: `-2147483648`, cell: "-2147483648"},
	{value: `2147483647.0`, cell: "2147483647"},
	{value: `2147483648`, refused: "out of range of int"},
	{value: `-2147483649`, refused: "out of range of int"},
	{value: `9007199254740993`, refused: "out of range of int"},
	{value: `"007"`, cell: "7"},
	{value: `true`, refused: "kind boolean does not fit int"},
}

var longs = []form{
	{value: `9223372036854775807`, cell: "9223372036854775807"},
	{value: `-9223372036854775808`, cell: "-9223372036854775808"},
	{value: `9007199254740993`, cell: "9007199254740993"},
	{value: `9.223372036854775807e18`, cell: "9223372036854775807"},
	{value: `17850.0`, cell: "17850"},
	{value: `1.785e4`, cell: "17850"},
	{value: `-0`, cell: "0"},
	{value: `-0.0e-7`, cell: "0"},
	{value: `0e999999999999999999999`, cell: "0"},
	{value: `"9007199254740993"`, cell: "9007199254740993"},
	{value: `"-12"`, cell: "-12"},
	{value: `9223372036854775808`, refused: "out of range of long"},
	{value: `-9223372036854775809`, refused: "out of range of long"},
	{value: `1e999999999999999999999`, refused: "out of range of long"},
	{value: `1e-999999999999999999999`, refused: "fraction"},
	{value: `0.5`, refused: "fraction"},
	{value: `"1.0"`, refused: "no plain whole number"},
	{value: `"1e3"`, refused: "no plain whole number"},
	{value: `"+1"`, refused: "no plain whole number"},
	{value: `" 1"`, refused: "no plain whole number"},
	{value: `""`, refused: "no plain whole number"},
	{value: `"AY/J"`, refused: "no plain whole number"},
	{value: `true`, refused: "kind boolean does not fit long"},
	{value: `"BNI="`, cell: "1234", route: decimals("base64")},
	{value: `"D0JA"`, cell: "1000", typ: decimalType},
	{value: `"AY/J"`, refused: "fraction digits", typ: decimalType},
	{value: `{"scale":0,"value":"AP//////////"}`, refused: "out of range of long"},
	{value: `{"scale":-2,"value":"Bw=="}`, cell: "700"},
	{value: `{"a":1}`, refused: "no {scale, value}"},
	// Bits are little-endian and have no sign: read as a decimal they would be another number.
	{value: `"AQA="`, cell: "1", typ: bitsType},
	{value: `"AP//"`, cell: "16776960", typ: bitsType},
	{value: `"//////////8="`, refused: "out of range of long", typ: bitsType},
	{value: `"BN\nI="`, refused: "no base64", route: decimals("base64")},
	{value: `"BNJ="`, refused: "no base64", route: decimals("base64")},
	{value: `"AQA="`, refused: "bytes", typ: bytesType},
}

var doubles = []form{
	{value: `0.1`, cell: "0.1"},
	{value: `5e-324`, cell: "5e-324"},
	{value: `1.7976931348623157e308`, cell: "1.7976931348623157e+308"},
	{value: `-0.0`, cell: "-0"},
	{value: `0e400`, cell: "0"},
	{value: `9007199254740992`, cell: "9.007199254740992e+15"},
	{value: `100000000000000000000`, cell: "1e+20"},
	{value: `"NaN"`, cell: "NaN"},
	{value: `"Infinity"`, cell: "+Inf"},
	{value: `"NEGATIVE_INFINITY"`, cell: "-Inf"},
	{value: `9007199254740993`, refused: "more digits than double can hold"},
	{value: `9223372036854775807`, refused: "more digits than double can hold"},
	{value: `18446744073709551617`, refused: "more digits than double can hold"},
	{value: `9007199254740993.0`, refused: "more digits than double can hold"},
	{value: `0.1234567890123456789012345678`, refused: "more digits than double can hold"},
	{value: `-18446744073709551617`, refused: "more digits than double can hold"},
	{value: `1e309`, refused: "out of range of double"},
	{value: `1e-400`, refused: "out of range of double"},
	{value: `"0.1"`, refused: "a text does not fit double"},
	{value: `false`, refused: "kind boolean does not fit double"},
}

var decimals10 = []form{
	{value: `12.50`, cell: "12.50"},
	{value: `"12.5"`, cell: "12.50"},
	{value: `"-0.01"`, cell: "-0.01"},
	{value: `1.25e1`, cell: "12.50"},
	{value: `12.5000`, cell: "12.50"},
	{value: `99999999.99`, cell: "99999999.99"},
	{value: `-99999999.99`, cell: "-99999999.99"},
	{value: `"1234"`, cell: "1234.00"},
	{value: `100000000`, refused: "is too large for decimal(10,2)"},
	{value: `1e999999999`, refused: "is too large for decimal(10,2)"},
	{value: `0.001`, refused: "more than 2 fraction digits for decimal(10,2)"},
	{value: `"1e2"`, refused: "no plain decimal text"},
	{value: `"AY/J"`, refused: "no plain decimal text"},
	{value: `".5"`, refused: "no plain decimal text"},
	{value: `"5."`, refused: "no plain decimal text"},
	{value: `""`, refused: "no plain decimal text"},
	{value: `"NaN"`, refused: "no plain decimal text"},
	{value: `true`, refused: "kind boolean does not fit decimal(10,2)"},
	{value: `"12.50"`, refused: "kind text does not fit decimal(10,2)", route: decimals("number")},
	{value: `"z8c="`, cell: "-123.45", route: decimals("base64")},
	{value: `"1234"`, cell: "-26588.24", route: decimals("base64")},
	{value: `"AA=="`, cell: "0.00", route: decimals("base64")},
	{value: `"12.5"`, refused: "no base64 of a decimal", route: decimals("base64")},
	{value: `""`, refused: "no base64 of a decimal", route: decimals("base64")},
	{value: `"AlQL5AA="`, refused: "is too large for decimal(10,2)", route: decimals("base64")},
	{value: `{"scale":2,"value":"BNI="}`, cell: "12.34"},
	{value: `{"scale":3,"value":"BNI="}`, refused: "more than 2 fraction digits"},
	{value: `{"scale":0,"value":5}`, refused: "no {scale, value}"},
	{value: `"AA=="`, cell: "0.00", typ: decimalType},
	{value: `"BNI="`, refused: "more than 2 fraction digits", typ: decimalType},
	{value: `"D0JA"`, cell: "1000.00", typ: decimalType},
	{value: `"AQA="`, cell: "1.00", typ: bitsType},
	{value: `"AQA="`, refused: "bytes", typ: bytesType},
}

var decimals38 = []form{
	{value: `99999999999999999999999999999999999999`, cell: "99999999999999999999999999999999999999"},
	{value: `"-99999999999999999999999999999999999999"`, cell: "-99999999999999999999999999999999999999"},
	{value: `1e37`, cell: "10000000000000000000000000000000000000"},
	{value: `1e38`, refused: "is too large"},
	{value: `100000000000000000000000000000000000000`, refused: "is too large"},
	{value: `"SztMqFqGxHoJiiJAAAAAAA=="`, refused: "is too large", route: decimals("base64")},
	{value: `"/////////////////////w=="`, cell: "-1", route: decimals("base64")},
}

var dates = []form{
	{value: `"1970-01-01"`, cell: "0"},
	{value: `"1969-12-31"`, cell: "-1"},
	{value: `"2024-02-29"`, cell: "19782"},
	{value: `"2024-03-05Z"`, cell: "19787"},
	{value: `"2024-03-05T00:00:00.000Z"`, cell: "19787"},
	{value: `"0001-01-01"`, cell: "-719162"},
	{value: `"9999-12-31"`, cell: "2932896"},
	{value: `19787`, cell: "19787"},
	{value: `-1.0`, cell: "-1"},
	{value: `19787`, cell: "19787", typ: dateType},
	{value: `-86400000000`, cell: "-1", typ: microType},
	{value: `"2023-02-29"`, refused: "is no date"},
	{value: `"0000-00-00"`, refused: "is no date"},
	{value: `"infinity"`, refused: "is infinite"},
	{value: `"2024-03-05T00:00:01"`, refused: "a time other than midnight"},
	{value: `"2024-03-05T22:00:00-02:00"`, refused: "offset"},
	{value: `"2024-03-05T00:00:00+00:00"`, refused: "offset"},
	{value: `-2147472692`, refused: "is infinite"},
	{value: `2145042905`, refused: "outside the years 0001 to 9999"},
	{value: `9223372036854775807`, refused: "outside the years 0001 to 9999"},
	{value: `1`, refused: "a time other than midnight", typ: milliType},
	{value: `2024`, refused: "io.debezium.time.Year", typ: yearType},
	{value: `true`, refused: "kind boolean does not fit date"},
}

var timestamps = []form{
	{value: `"2024-03-05T06:07:08.123456"`, cell: "1709618828123456"},
	{value: `"2024-03-05 06:07:08.1"`, cell: "1709618828100000"},
	{value: `"2024-03-05T06:07:08.123456000"`, cell: "1709618828123456"},
	{value: `"2024-03-05T06:07"`, cell: "1709618820000000"},
	{value: `"2024-03-05"`, cell: "1709596800000000"},
	{value: `"2024-03-05T06:07:08.123456Z"`, cell: "1709618828123456"},
	{value: `"1969-12-31T23:59:59.999999"`, cell: "-1"},
	{value: `"0001-01-01T00:00:00"`, cell: "-62135596800000000"},
	{value: `"9999-12-31T23:59:59.999999"`, cell: "253402300799999999"},
	{value: `1709618828123456`, cell: "1709618828123456", typ: microType},
	{value: `1709618828123`, cell: "1709618828123000", typ: milliType},
	{value: `-1000`, cell: "-1", typ: nanoType},
	{value: `-1`, cell: "-86400000000", typ: dateType},
	{value: `-1`, cell: "-1000000", route: unit("s")},
	{value: `-1`, cell: "-1000", route: unit("ms")},
	{value: `-1`, cell: "-1", route: unit("us")},
	{value: `1709618828123456000`, cell: "1709618828123456", route: unit("ns")},
	{value: `-1`, refused: "finer than microseconds", route: unit("ns")},
	{value: `86400000`, refused: "an integer without a unit is no timestamp (timestamp_unit names it"},
	{value: `2024`, refused: "of type io.debezium.time.Year is no timestamp", typ: yearType},
	{value: `9223372036825200000`, refused: "is infinite", typ: microType},
	{value: `-210863520000000000`, refused: "outside the years 0001 to 9999", typ: microType},
	{value: `-9223372036854775808`, refused: "outside the years 0001 to 9999", typ: milliType},
	{value: `9223372036854775807`, refused: "outside the years 0001 to 9999", route: unit("s")},
	{value: `0.5`, refused: "fraction", route: unit("s")},
	{value: `"2024-03-05T06:07:08.1234567"`, refused: "finer than microseconds"},
	{value: `"2024-03-05T06:07:08+02:00"`, refused: "a text with an offset does not fit timestamp"},
	{value: `"2024-03-05T24:00:00"`, refused: "is no time of day"},
	{value: `"2024-03-05T23:59:60"`, refused: "is no time of day"},
	{value: `"2024-03-05T06:07.5"`, refused: "is no t"},
	{value: `"2024-03-05T06:07:08."`, refused: "is no time of day"},
	{value: `"2024-03-05T"`, refused: "is no time of day"},
	{value: `"2024-03-05T06:07:08 x"`, refused: "is no timestamp"},
	{value: `"+294247-01-10T04:00:25.2Z"`, refused: "is infinite"},
	{value: `"+294247-01-10T04:00:25.3Z"`, refused: "outside the years 0001 to 9999"},
	{value: `"12024-01-01"`, refused: "is no timestamp"},
	{value: `"infinity"`, refused: "is infinite"},
	{value: `"1709618828123456"`, refused: "is no timestamp"},
	{value: `{}`, refused: "kind object does not fit timestamp"},
}

var timestamptzs = []form{
	{value: `"2024-03-05T06:07:08.123456Z"`, cell: "1709618828123456"},
	{value: `"2024-03-05T08:07:08.123456+02:00"`, cell: "1709618828123456"},
	{value: `"2024-03-05 01:07:08.123456-0500"`, cell: "1709618828123456"},
	{value: `"2024-03-05T08:07:08.123456+02"`, cell: "1709618828123456"},
	{value: `"2024-03-05T06:07:08.123456"`, cell: "1709618828123456"},
	{value: `1709618828123`, cell: "1709618828123000", route: unit("ms")},
	{value: `"0001-01-01T00:00:00+00:01"`, refused: "outside the years 0001 to 9999"},
	{value: `"2024-03-05T06:07:08+24:00"`, refused: "is no timestamp"},
	{value: `"2024-03-05T06:07:08+2"`, refused: "is no timestamp"},
	{value: `"2024-03-05T06:07:08 Europe/Paris"`, refused: "is no timestamp"},
}

var texts = []form{
	{value: `""`, cell: ""},
	{value: `"null"`, cell: "null"},
	{value: `"aé\u00e9\ud83d\ude00\n"`, cell: "aéé😀\n"},
	{value: `10.50`, cell: "10.50"},
	{value: `1E400`, cell: "1E400"},
	{value: `true`, cell: "true"},
	{value: `{"a": [1, 2.0]}`, cell: `{"a": [1, 2.0]}`},
	{value: `"AQA="`, cell: "AQA="},
	{value: `"AQA="`, refused: "bytes do not fit string", typ: bytesType},
}

// Behind twenty zeros a decimal is none of those that are read the short way.
func TestShortDecimalsAreReadAsLongOnes(t *testing.T) {
	t.Parallel()
	for _, typ := range []iceberg.DecimalType{iceberg.DecimalTypeOf(9, 2), iceberg.DecimalTypeOf(18, 0), iceberg.DecimalTypeOf(18, 18), iceberg.DecimalTypeOf(38, 10)} {
		s := table(t, typ)
		for _, digits := range []string{
			"0", "1", "1.5", "1.50", "1.500", "1.505", "1.2.3", "1..2", "1.", "1x", "1.x", "0.01", "9999999.99", "10000000.00", "9999999", "10000000",
			"999999999999999999", "99999999.9999999999", "0.999999999999999999", "1.000000000000000000", "99999999999999999", "1 ", "1e2", "1-2", "1.-2",
		} {
			for _, sign := range []string{"", "-"} {
				short, refused := put(t, s, plain(), `"`+sign+digits+`"`, "")
				long, wanted := put(t, s, plain(), `"`+sign+"00000000000000000000"+digits+`"`, "")
				if fmt.Sprint(refused) != fmt.Sprint(wanted) || fmt.Sprint(short.Columns()) != fmt.Sprint(long.Columns()) {
					t.Errorf("%s%s in %s: %v %v, want %v %v", sign, digits, typ, short.Columns(), refused, long.Columns(), wanted)
				}
			}
		}
	}
}
