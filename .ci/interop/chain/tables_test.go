package chain_test

import (
	"strings"

	"github.com/frazil/frazil/internal/local/lake"
)

// mirrored is a table of a source and the columns of those that mirror it, as NAME TYPE, in lines or behind semicolons. The
// columns named by key are required.
type mirrored struct {
	name, key, columns string
	options            string // of its route
	generated          string // a column that the source computes
}

func (m mirrored) spec(name string, version int) lake.Spec {
	s := lake.Spec{Name: name, Version: version, Key: strings.Fields(m.key)}
	for text := range strings.FieldsFuncSeq(m.columns, func(r rune) bool { return r == '\n' || r == ';' }) {
		column, typ, _ := strings.Cut(strings.TrimSpace(text), " ")
		s.Columns = append(s.Columns, lake.Column{Name: column, Type: typ, Required: strings.Contains(" "+m.key+" ", " "+column+" ")})
	}
	return s
}

// points is for Debezium's, which have their bytes beside x and y.
const points = ", unknown_columns: ignore"

var orderLines = mirrored{name: "order_lines", key: "id line_no", columns: `id int; line_no int; sku string; qty int`}

var ofPostgres = []mirrored{
	{name: "orders", key: "id", columns: `id int; customer string; amount decimal(12,2); note string; created timestamptz`},
	orderLines,
	{name: "toast", key: "id", columns: `id int; small int; b_text string; b_bytea binary; b_texts list<string>`},
	{name: "types", key: "id", options: points, columns: `id int; c_smallint int; c_bigint long; c_oid long
		c_num_10_2 decimal(10,2); c_num_38_10 decimal(38,10); c_num_neg decimal(5,0); c_domain decimal(10,2)
		c_real float; c_double double; c_money decimal(20,2); c_bool boolean
		c_text string; c_varchar string; c_char string; c_citext string; c_bytea binary; c_uuid uuid; c_json string; c_jsonb string; c_xml string
		c_ints list<int>; c_texts list<string>; c_nums list<decimal(10,2)>; c_tstzs list<timestamptz>; c_dates list<date>; c_uuids list<uuid>
		c_bools list<boolean>; c_byteas list<binary>; c_hstore map<string,string>
		c_date date; c_time long; c_time3 time; c_timetz time; c_ts timestamp; c_ts3 timestamp; c_ts0 timestamp; c_tstz timestamptz; c_tstz3 timestamptz
		c_inet string; c_cidr string; c_macaddr string; c_ltree string; c_enum string; c_bit1 boolean; c_bit5 int; c_varbit long
		c_tsvector string; c_point struct<x: double, y: double>; c_int4range string; c_numrange string; c_tstzrange string
		d_text string; d_num decimal(10,2); d_ts timestamptz; d_int int`},
}

var ofMariaDB = []mirrored{
	{name: "orders", key: "id", columns: `id int; customer string; amount decimal(12,2); note string; created timestamptz`},
	orderLines,
	{name: "types", key: "id", options: points, generated: "g_sum", columns: `id int; c_tiny int; c_tiny1 int; c_bool int; c_utiny int; c_small int; c_usmall int
		c_medium int; c_umedium int; c_int int; c_uint long; c_big long; c_ubig decimal(20,0); c_zerofill int
		c_dec_10_2 decimal(10,2); c_dec_38_10 decimal(38,10); c_udec decimal(10,2); c_float float; c_double double
		c_bit1 boolean; c_bit5 int; c_bit64 decimal(20,0); c_char string; c_varchar string; c_latin1 string; c_text string; c_longtext string
		c_binary fixed[4]; c_varbinary binary; c_blob binary; c_longblob binary; c_enum string; c_set string; c_json string; c_uuid uuid
		c_date date; c_time long; c_time3 long; c_time6 long; c_datetime timestamp; c_datetime3 timestamp; c_datetime6 timestamp
		c_ts timestamptz; c_ts6 timestamptz; c_year int; c_point struct<x: double, y: double>
		d_int int; d_dec decimal(10,2); d_text string; g_sum int`},
}
