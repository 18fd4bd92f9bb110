package coerce_test

import (
	"testing"

	"github.com/apache/iceberg-go"
	"github.com/frazil/frazil/internal/config"
)

const (
	timeType      = `"type":"int32","name":"io.debezium.time.Time"`
	microTimeType = `"type":"int64","name":"io.debezium.time.MicroTime"`
	nanoTimeType  = `"type":"int64","name":"io.debezium.time.NanoTime"`
	connectTime   = `"type":"int32","name":"org.apache.kafka.connect.data.Time"`
	isoType       = `"type":"string","name":"io.debezium.time.IsoTimestamp"`
	jsonType      = `"type":"string","name":"io.debezium.data.Json"`
	hugeScale     = `"type":"bytes","name":"org.apache.kafka.connect.data.Decimal","parameters":{"scale":"2147483647"}`
	uuidType      = `"type":"string","name":"io.debezium.data.Uuid"`
)

func special(r config.Rule) func(*config.Route) {
	return func(c *config.Route) { c.SpecialTemporals = r }
}

func zone(z string) func(*config.Route) { return func(r *config.Route) { r.TimeZone = z } }

func bytesAs(e string) func(*config.Route) { return func(r *config.Route) { r.BinaryEncoding = e } }

func ofV(c config.Column) func(*config.Route) {
	return func(r *config.Route) { r.Columns = map[string]config.Column{"v": c} }
}

var floored, unsigned = ofV(config.Column{Floor: true}), ofV(config.Column{Unsigned: true})

func TestFurtherTypesTakeWhatFitsAndRefuseTheRest(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		typ   iceberg.Type
		forms []form
	}{
		"float":                   {prim.Float32, floats},
		"time":                    {prim.Time, timesOfDay},
		"timestamp_ns":            {prim.TimestampNs, nanoseconds},
		"timestamptz_ns":          {prim.TimestampTzNs, nanosecondsInZone},
		"timestamptz in a zone":   {prim.TimestampTz, inZone},
		"uuid":                    {prim.UUID, uuids},
		"fixed[3]":                {iceberg.FixedTypeOf(3), fixed},
		"binary":                  {prim.Binary, binaries},
		"unknown":                 {prim.Unknown, []form{{value: `null`, cell: "(null)"}, {value: `0`, refused: "unknown, which is always NULL"}}},
		"special dates":           {prim.Date, specialDates},
		"special timestamps":      {prim.Timestamp, specialTimestamps},
		"special nanoseconds":     {prim.TimestampNs, specialNanoseconds},
		"structured timestamptz":  {prim.TimestampTz, structuredInZone},
		"structured timestamp":    {prim.Timestamp, structured},
		"structured date":         {prim.Date, structuredDates},
		"structured time":         {prim.Time, structuredTimes},
		"floored timestamps":      {prim.Timestamp, flooredTimestamps},
		"floored decimals":        {iceberg.DecimalTypeOf(4, 1), flooredDecimals},
		"unsigned longs":          {prim.Int64, unsignedLongs},
		"unsigned decimal(20, 0)": {iceberg.DecimalTypeOf(20, 0), unsignedDecimals},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, f := range c.forms {
				f.check(t, c.typ)
			}
		})
	}
}

var floats = []form{
	{value: `0.1`, cell: "0.1"},
	{value: `-0.0`, cell: "-0"},
	{value: `3.4028235E38`, cell: "3.4028235e+38"},
	{value: `3.40282E38`, cell: "3.40282e+38"},
	{value: `1.4E-45`, cell: "1e-45"}, // Java's text for the smallest
	{value: `0.10000000149011612`, cell: "0.1"},
	{value: `0.100000001490116119384765625`, cell: "0.1"},
	{value: `16777216`, cell: "1.6777216e+07"},
	{value: `1e10`, cell: "1e+10"},
	{value: `"NaN"`, cell: "NaN"},
	{value: `"-Infinity"`, cell: "-Inf"},
	{value: `16777217`, refused: "more digits than float can hold"},
	{value: `0.123456789`, refused: "more digits than float can hold"},
	{value: `0.1000000001`, refused: "more digits than float can hold"},
	{value: `0.10000000149`, refused: "more digits than float can hold"},
	{value: `0.10000000149011612000001`, refused: "more digits than float can hold"},
	{value: `1.5e-45`, refused: "more digits than float can hold"},
	{value: `3.5E38`, refused: "out of range of float"},
	{value: `1e-46`, refused: "out of range of float"},
	{value: `"0.1"`, refused: "a text does not fit float"},
	{value: `true`, refused: "kind boolean does not fit float"},
}

var timesOfDay = []form{
	{value: `"06:07:08.123456"`, cell: "22028123456"},
	{value: `"06:07"`, cell: "22020000000"},
	{value: `"23:59:59.999999Z"`, cell: "86399999999"},
	{value: `"06:07:08.1+00"`, cell: "22028100000"},
	{value: `"06:07:08-00:00"`, cell: "22028000000"},
	{value: `22028123`, cell: "22028123000", typ: timeType},
	{value: `22028123`, cell: "22028123000", typ: connectTime},
	{value: `22028123456`, cell: "22028123456", typ: microTimeType},
	{value: `22028123456000`, cell: "22028123456", typ: nanoTimeType},
	{value: `1`, cell: "1000000", route: unit("s")},
	{value: `1`, cell: "1", route: ofV(config.Column{TimestampUnit: "us"})},
	{value: `22028123456001`, cell: "22028123456", typ: nanoTimeType, route: floored},
	{value: `22028123456001`, refused: "finer than microseconds", typ: nanoTimeType},
	{value: `22028123`, refused: "timestamp_unit"},
	{value: `22028123`, refused: "of type io.debezium.time.MicroTimestamp is no time", typ: microType},
	{value: `86400000000`, refused: "outside a day", typ: microTimeType},
	{value: `-45296123456`, refused: "outside a day", typ: microTimeType},
	{value: `86400000000`, refused: "outside a day", typ: microTimeType, route: special(config.Clamp)},
	{value: `"24:00:00"`, refused: "is no time of day"},
	{value: `"23:59:60"`, refused: "is no time of day"},
	{value: `"06:07:08+02"`, refused: "offset"},
	{value: `"06:07:08.1234567"`, refused: "finer than microseconds"},
	{value: `"2024-03-05T06:07:08"`, refused: "is no time of day"},
	{value: `"06:07:08 "`, refused: "is no time of day"},
	{value: `true`, refused: "kind boolean does not fit time"},
}

var nanoseconds = []form{
	{value: `"2024-03-05T06:07:08.123456789"`, cell: "1709618828123456789"},
	{value: `"2024-03-05T06:07:08.1234567890"`, cell: "1709618828123456789"},
	{value: `1709618828123456789`, cell: "1709618828123456789", typ: nanoType},
	{value: `-1`, cell: "-1000", typ: microType},
	{value: `"1677-09-21T00:12:43.145224192"`, cell: "-9223372036854775808"},
	{value: `"2262-04-11T23:47:16.854775807"`, cell: "9223372036854775807"},
	{value: `"1970-01-01T00:00:00"`, cell: "0", route: zone("Europe/Paris")},
	{value: `"2262-04-11T23:47:16.854775808"`, refused: "outside the years 1677 to 2262"},
	{value: `"1677-09-21T00:12:43.145224191"`, refused: "outside the years 1677 to 2262"},
	{value: `"9999-12-31"`, refused: "outside the years 1677 to 2262"},
	{value: `"2024-03-05T06:07:08.1234567891"`, refused: "finer than nanoseconds"},
	{value: `"2024-03-05T06:07:08.1234567891"`, cell: "1709618828123456789", route: floored},
	{value: `9223372036854775807`, refused: "is infinite", typ: nanoType},
	{value: `"2024-03-05T06:07:08+02:00"`, refused: "offset"},
}

var nanosecondsInZone = []form{
	{value: `"2024-03-05T08:07:08.123456789+02:00"`, cell: "1709618828123456789"},
	{value: `"2024-03-05T07:07:08.000000001"`, cell: "1709618828000000001", route: zone("Europe/Paris")},
}

// In Paris clocks go from 02:00 to 03:00 on 2024-03-31 and from 03:00 to 02:00 on 2024-10-27.
var inZone = []form{
	{value: `"2024-03-05T07:07:08"`, cell: "1709618828000000", route: zone("Europe/Paris")},
	{value: `"2024-07-05T08:07:08"`, cell: "1720159628000000", route: zone("Europe/Paris")},
	{value: `"2024-03-05T07:07:08Z"`, cell: "1709622428000000", route: zone("Europe/Paris")},
	{value: `"2024-03-05T07:07:08+00:00"`, cell: "1709622428000000", route: zone("Europe/Paris")},
	{value: `"2024-03-05T07:07:08Z"`, cell: "1709618828000000", route: zone("Europe/Paris"), typ: isoType},
	{value: `"2024-03-31T02:30:00"`, cell: "1711848600000000", route: zone("Europe/Paris")}, // skipped: 03:30 summer time
	{value: `"2024-10-27T02:30:00"`, cell: "1729989000000000", route: zone("Europe/Paris")}, // twice: the first
	{value: `"2024-03-31T01:59:59"`, cell: "1711846799000000", route: zone("Europe/Paris")},
	{value: `"2024-10-27T03:00:00"`, cell: "1729994400000000", route: zone("Europe/Paris")},
	{value: `1709618828123`, cell: "1709618828123000", typ: milliType, route: zone("Europe/Paris")},
}

var uuids = []form{
	{value: `"0190a5f0-1111-7abc-8def-0123456789ab"`, cell: "0190a5f0-1111-7abc-8def-0123456789ab"},
	{value: `"0190A5F0-1111-7ABC-8DEF-0123456789AB"`, cell: "0190a5f0-1111-7abc-8def-0123456789ab", typ: uuidType},
	{value: `"0190a5f011117abc8def0123456789ab"`, cell: "0190a5f0-1111-7abc-8def-0123456789ab"},
	{value: `"AZCl8BEReryN7wEjRWeJqw=="`, cell: "0190a5f0-1111-7abc-8def-0123456789ab", typ: bytesType},
	{value: `"AZCl8BEReryN7wEjRWeJqw=="`, refused: "is no uuid"},
	{value: `"AZCl8BERerw="`, refused: "not 16", typ: bytesType},
	{value: `"{190a5f0-1111-7abc-8def-0123456789ab}"`, refused: "is no uuid"},
	{value: `"0190a5f01-111-7abc-8def-0123456789ab"`, refused: "is no uuid"},
	{value: `"0190a5f0x1111-7abc-8def-0123456789ab"`, refused: "is no uuid"},
	{value: `"0190a5g0-1111-7abc-8def-0123456789ab"`, refused: "is no uuid"},
	{value: `""`, refused: "is no uuid"},
	{value: `5`, refused: "kind number does not fit uuid"},
}

var fixed = []form{
	{value: `"AQID"`, cell: "010203"},
	{value: `"010203"`, cell: "010203", route: bytesAs("hex")},
	{value: `"abc"`, cell: "616263", route: bytesAs("utf8")},
	{value: `"AQI="`, refused: "is not of the length of fixed[3]"},
	{value: `"AQIDBA=="`, refused: "is not of the length of fixed[3]"},
}

var binaries = []form{
	{value: `""`, cell: ""},
	{value: `"AP8="`, cell: "00ff"},
	{value: `"-_8="`, cell: "fbff", route: bytesAs("base64url")},
	{value: `"00fF"`, cell: "00ff", route: bytesAs("hex")},
	{value: `"\\x00ff"`, cell: "00ff", route: bytesAs("pg_hex")},
	{value: `"\\x"`, cell: "", route: bytesAs("pg_hex")},
	{value: `"é"`, cell: "c3a9", route: bytesAs("utf8")},
	{value: `"é\u0000"`, cell: "e900", route: bytesAs("latin1")},
	{value: `"AP8="`, cell: "00ff", typ: bytesType, route: bytesAs("hex")},
	{value: `"\\x00ff"`, cell: "00ff", typ: bytesType, route: bytesAs("pg_hex")},
	{value: `"AQA="`, cell: "0100", typ: bitsType},
	{value: `"AP8"`, refused: "is no base64"},
	{value: `"AP9="`, refused: "is no base64"},
	{value: `"AP\n8="`, refused: "is no base64"},
	{value: `"-_8="`, refused: "is no base64"},
	{value: `"0g"`, refused: "is no hex", route: bytesAs("hex")},
	{value: `"00ff"`, refused: "is no pg_hex", route: bytesAs("pg_hex")},
	{value: `"Ā"`, refused: "is no latin1", route: bytesAs("latin1")},
	{value: `"AP8="`, refused: "a decimal does not fit", typ: decimalType},
	{value: `5`, refused: "kind number does not fit binary"},
	{value: `[1]`, refused: "kind array does not fit binary"},
}

var specialDates = []form{
	{value: `-2147472692`, cell: "2932896", route: special(config.Clamp)},
	{value: `-2147472691`, cell: "-719162", route: special(config.Clamp)},
	{value: `2145042905`, cell: "2932896", route: special(config.Clamp)},
	{value: `-2440550`, cell: "-719162", route: special(config.Clamp)},
	{value: `"infinity"`, cell: "2932896", route: special(config.Clamp)},
	{value: `"-infinity"`, cell: "-719162", route: special(config.Clamp)},
	{value: `"-5877611-06-21Z"`, cell: "2932896", route: special(config.Clamp)},
	{value: `"-4712-01-01"`, cell: "-719162", route: special(config.Clamp)},
	{value: `"0000-12-31"`, cell: "-719162", route: special(config.Clamp)},
	{value: `"2024-03-05"`, cell: "19787", route: special(config.Clamp)},
	{value: `-2147472692`, cell: "(null)", route: special(config.Null)},
	{value: `"+10000-01-01"`, cell: "(null)", route: special(config.Null)},
	{value: `"0000-00-00"`, refused: "is no date", route: special(config.Null)},
	{value: `-2147472690`, refused: "overflowed", route: special(config.Clamp)},
	{value: `"+10000-01-01"`, refused: "outside the years 0001 to 9999"},
	{value: `"0000-12-31"`, refused: "outside the years 0001 to 9999"},
	{value: `"-5877611-06-21Zx"`, refused: "is no date", route: special(config.Clamp)},
}

var specialTimestamps = []form{
	{value: `9223372036825200000`, cell: "253402300799999999", typ: microType, route: special(config.Clamp)},
	{value: `-9223372036832400000`, cell: "-62135596800000000", typ: microType, route: special(config.Clamp)},
	{value: `9223372036825200`, cell: "253402300799999999", typ: milliType, route: special(config.Clamp)},
	{value: `9223372036854775807`, cell: "253402300799999999", typ: nanoType, route: special(config.Clamp)},
	{value: `-9223372036854775808`, cell: "(null)", typ: nanoType, route: special(config.Null)},
	{value: `9224318015999999`, cell: "253402300799999999", typ: milliType, route: special(config.Clamp)},
	{value: `"+294276-12-31T23:59:59.999999Z"`, cell: "253402300799999999", route: special(config.Clamp)},
	{value: `"-290308-12-21T19:59:27.6Z"`, cell: "-62135596800000000", route: special(config.Clamp)},
	{value: `"-4712-01-01T00:00:00.000000Z"`, cell: "-62135596800000000", route: special(config.Clamp)},
	{value: `"infinity"`, cell: "(null)", route: special(config.Null)},
	// The year 294276 of PostgreSQL, after its microseconds went over the edge of 64 bits.
	{value: `-9223372036853775810`, refused: "overflowed", typ: microType, route: special(config.Clamp)},
	{value: `-9223372036853775810`, cell: "(null)", typ: microType, route: special(config.Null)},
	{value: `"-infinity"`, refused: "is infinite"},
	{value: `"infinit"`, refused: "is no timestamp", route: special(config.Null)},
}

var specialNanoseconds = []form{
	{value: `"infinity"`, cell: "9223372036854775807", route: special(config.Clamp)},
	{value: `"9999-12-31"`, cell: "9223372036854775807", route: special(config.Clamp)},
	{value: `"1600-01-01"`, cell: "-9223372036854775808", route: special(config.Clamp)},
	{value: `"1600-01-01"`, cell: "(null)", route: special(config.Null)},
}

var structuredInZone = []form{
	{value: `{"year":2024,"month":3,"day":5,"hour":8,"minute":7,"second":8,"nanos":123456000,"offsetSeconds":7200,"zoneId":"Europe/Kyiv","specialValue":null,"precision":6}`, cell: "1709618828123456"},
	{value: `{"year":2024,"month":3,"day":5,"hour":7,"minute":7,"second":8,"nanos":0}`, cell: "1709618828000000", route: zone("Europe/Paris")},
	{value: `{"specialValue":"POSITIVE_INFINITY"}`, cell: "(null)", route: special(config.Null)},
	{value: `{"specialValue":"NEGATIVE_INFINITY"}`, cell: "-62135596800000000", route: special(config.Clamp)},
	{value: `{"specialValue":"NEGATIVE_INFINITY"}`, refused: "is infinite"},
	{value: `{"specialValue":"OTHER"}`, refused: "is special in a way"},
	{value: `{"year":2024,"month":3,"day":5,"zoneId":"Europe/Kyiv"}`, refused: "zone without its offset"},
}

var structured = []form{
	{value: `{"year":1969,"month":12,"day":31,"hour":23,"minute":59,"second":59,"nanos":999999000,"offsetSeconds":0,"zoneId":null}`, cell: "-1"},
	{value: `{"year":2024,"month":0,"day":5}`, refused: "is no date"},
	{value: `{"year":2024,"month":2,"day":30}`, refused: "is no date"},
	{value: `{"year":2024,"month":3,"day":5,"hour":24}`, refused: "is no time of day"},
	{value: `{"year":2024,"month":3,"day":5,"nanos":-1}`, refused: "is no time of day"},
	{value: `{"year":2024,"month":3,"day":5,"nanos":1}`, refused: "finer than microseconds"},
	{value: `{"year":2024,"month":3,"day":5,"offsetSeconds":60}`, refused: "offset"},
	{value: `{"year":"x","month":3,"day":5}`, refused: "no number"},
	{value: `{"year":2024,"month":3,"day":5,"era":"BC"}`, refused: "no structured temporal"},
	{value: `{}`, refused: "kind object does not fit timestamp"},
}

var structuredDates = []form{
	{value: `{"year":2024,"month":3,"day":5}`, cell: "19787"},
	{value: `{"year":2024,"month":3,"day":5,"hour":1}`, refused: "other than midnight"},
	{value: `{"year":12024,"month":3,"day":5}`, refused: "outside the years"},
}

var structuredTimes = []form{
	{value: `{"hour":6,"minute":7,"second":8,"nanos":123456000,"precision":6}`, cell: "22028123456"},
	{value: `{"hour":6,"minute":7,"second":8,"offsetSeconds":3600}`, refused: "offset"},
	{value: `{"year":2024,"month":3,"day":5,"hour":6}`, refused: "kind object does not fit time"},
}

var flooredTimestamps = []form{
	{value: `-1`, cell: "-1", typ: nanoType, route: floored},
	{value: `-1001`, cell: "-2", typ: nanoType, route: floored},
	{value: `1001`, cell: "1", typ: nanoType, route: floored},
	{value: `"1969-12-31T23:59:59.9999999"`, cell: "-1", route: floored},
	{value: `"2024-03-05T06:07:08.1234569"`, cell: "1709618828123456", route: floored},
}

var flooredDecimals = []form{
	{value: `1.29`, cell: "1.2", route: floored},
	{value: `-1.21`, cell: "-1.3", route: floored},
	{value: `-0.001`, cell: "-0.1", route: floored},
	{value: `0.001`, cell: "0.0", route: floored},
	{value: `1e-999999999`, cell: "0.0", route: floored},
	{value: `"999.99"`, cell: "999.9", route: floored},
	{value: `-999.91`, refused: "is too large", route: floored},
	{value: `{"scale":3,"value":"+zI="}`, cell: "-1.3", route: floored}, // -1.230
	{value: `{"scale":32000,"value":"/w=="}`, cell: "-0.1", route: floored},
	{value: `{"scale":32000,"value":"/w=="}`, refused: "fraction digits"},
	{value: `"/w=="`, cell: "-0.1", typ: hugeScale, route: floored},
	{value: `"BNI="`, cell: "0.0", typ: hugeScale, route: floored},
}

var unsignedLongs = []form{
	{value: `-1`, cell: "255", typ: `"type":"int8"`, route: unsigned},
	{value: `-1`, cell: "65535", typ: `"type":"int16"`, route: unsigned},
	{value: `-2`, cell: "4294967294", typ: `"type":"int32"`, route: unsigned},
	{value: `7`, cell: "7", typ: `"type":"int64"`, route: unsigned},
	{value: `-1`, refused: "out of range of long", typ: `"type":"int64"`, route: unsigned},
	{value: `-1`, refused: "out of range of long", route: unsigned},
	{value: `-129`, refused: "out of range", typ: `"type":"int8"`, route: unsigned},
	{value: `-1`, refused: "out of range", typ: `"type":"double"`, route: unsigned},
}

var unsignedDecimals = []form{
	{value: `-1`, cell: "18446744073709551615", route: unsigned},
	{value: `-9223372036854775808`, cell: "9223372036854775808", typ: `"type":"int64"`, route: unsigned},
	{value: `-1`, cell: "255", typ: `"type":"int8"`, route: unsigned},
	{value: `5`, cell: "5", route: unsigned},
	{value: `-9223372036854775809`, refused: "out of range", route: unsigned},
	{value: `-1.5`, refused: "fraction", route: unsigned},
}
