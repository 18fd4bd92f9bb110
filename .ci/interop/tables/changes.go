package main

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/frazil/frazil/internal/local/lake"
)

// key is the identifier field of all tables, a long.
const key = "id"

// literals are the values that a column of a type takes, as JSON that a record carries them in. The smallest numbers
// are multiples of the widths of truncate: those below have no truncation that fits their type.
var literals = map[string][]string{
	"boolean":        {"true", "false"},
	"int":            {"-2147483640", "-7", "0", "13", "19", "2147483647"},
	"long":           {"-9223372036854775800", "-1", "0", "9007199254740993", "9223372036854775807"},
	"float":          {"-1.5", "0.25", "3.4028235e38", `"NaN"`, `"-Infinity"`},
	"double":         {"-0.1", "2.5", "1.7976931348623157e308", `"NaN"`, `"Infinity"`},
	"decimal(9, 2)":  {`"-9999999.50"`, `"-0.01"`, `"0"`, `"12.30"`, `"12.31"`},
	"decimal(38, 5)": {`"-123456789012345678901234567890123.5"`, `"0.00001"`, `"99"`, `"999999999999999999999999999999999.99999"`},
	"date":           {`"1965-03-31"`, `"1969-12-31"`, `"1970-01-01"`, `"2024-02-29"`, `"2024-03-01"`},
	"time":           {`"00:00:00"`, `"06:07:08.123456"`, `"23:59:59.999999"`},
	"timestamp":      {`"1965-03-31T23:00:00"`, `"1969-12-31T23:59:59.999999"`, `"1970-01-01T00:00:00"`, `"2024-03-05T06:07:08.1"`, `"2024-03-05T07:00:00"`},
	"timestamptz":    {`"1965-03-01T00:30:00Z"`, `"1969-12-31T23:59:59.999999Z"`, `"2024-03-05T06:07:08+02:00"`, `"2024-03-31T23:59:59.999999Z"`},
	"timestamp_ns":   {`"1965-03-31T23:00:00.000000001"`, `"1969-12-31T23:59:59.999999999"`, `"2024-03-05T06:07:08.123456789"`},
	"timestamptz_ns": {`"1965-03-31T23:00:00.000000001Z"`, `"2024-03-05T06:07:08.123456789+02:00"`},
	"string":         {`""`, `"é"`, `"north/west=1"`, `"a text that is longer than sixteen code points"`, `"日本語のとても長い長い長い長い文字列"`, `"😀😀"`, `"it's"`},
	"uuid":           {`"00000000-0000-4000-8000-000000000001"`, `"F47AC10B-58CC-4372-A567-0E02B2C3D479"`, `"ffffffff-ffff-4fff-bfff-ffffffffffff"`},
	"fixed[3]":       {`"000000"`, `"7f00ff"`, `"ff00ff"`},
	"binary":         {`""`, `"00ff"`, `"41"`, `"ffffffffffffffffffffffffffffffffffffffff"`},
	"list<int>":      {`[]`, `[1,null,3]`, `[7]`},
	"struct<a: long, b: list<string>, c: struct<d: date, e: decimal(10, 4)>>": {
		`{"a":1,"b":["x","é"],"c":{"d":"1969-12-31","e":"-1.5"}}`, `{"a":null,"b":null,"c":null}`, `{"a":-5,"b":[],"c":{"d":null,"e":null}}`},
	"map<string, double>":                               {`{}`, `{"k":1.5}`, `{"k":null,"l":2.0}`},
	"map<string, list<struct<x: int, y: timestamptz>>>": {`{"k":[{"x":1,"y":"1969-12-31T23:59:59Z"},null]}`, `{"k":[],"l":null}`},
}

// change is one record: of a row, or of the key alone when the row goes.
type change struct {
	id   int
	row  map[string]string // JSON by column; nil: the row goes
	gone bool
}

// first is how many rows the first change set puts.
const first = 20

// changes are the records of change set n. A cell depends on the change set, the row and its own column only: tables
// with fewer columns have the same rows, less these.
func changes(columns []lake.Column, n int) (all []change) {
	if n == 0 {
		for id := range first {
			all = append(all, change{id: id + 1, row: row(columns, id+1, 0)})
		}
		return all
	}
	r := rand.New(rand.NewPCG(uint64(n), 0))
	for range 10 { // keys that are there, that are gone, and that never were; some twice
		c := change{id: 1 + r.IntN(first+2*n), gone: r.IntN(3) == 0}
		if !c.gone {
			c.row = row(columns, c.id, len(all)+100*n)
		}
		all = append(all, c)
	}
	for i := range 2 {
		id := first + 2*n + i
		all = append(all, change{id: id, row: row(columns, id, n)})
	}
	return all
}

// row is a row of a key as JSON by column; a column left out is NULL.
func row(columns []lake.Column, id, seed int) map[string]string {
	out := map[string]string{key: strconv.Itoa(id)}
	for _, c := range columns {
		list := literals[c.Type]
		hash := fnv.New64()
		hash.Write([]byte(c.Name))
		r := rand.New(rand.NewPCG(hash.Sum64(), uint64(id)<<32|uint64(seed)))
		if c.Name != key && r.IntN(6) > 0 {
			out[c.Name] = list[r.IntN(len(list))]
		}
	}
	return out
}

// object is a record's key or value.
func object(cells map[string]string) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(cells)) {
		parts = append(parts, strconv.Quote(name)+":"+cells[name])
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// oracle is a table as a plain map.
type oracle struct {
	columns []lake.Column
	rows    map[int]lake.Row
}

func newOracle(columns []lake.Column) *oracle {
	return &oracle{columns: columns, rows: map[int]lake.Row{}}
}

func (o *oracle) apply(n int) (said []changed, err error) {
	for _, c := range changes(o.columns, n) {
		if c.gone {
			delete(o.rows, c.id)
			said = append(said, changed{Delete: true, Row: lake.Row{key: strconv.Itoa(c.id)}})
			continue
		}
		if o.rows[c.id], err = o.canonical(c.row); err != nil {
			return nil, err
		}
		said = append(said, changed{Row: o.rows[c.id]})
	}
	return said, nil
}

func (o *oracle) canonical(cells map[string]string) (lake.Row, error) {
	out := lake.Row{}
	for _, c := range o.columns {
		cell, ok := cells[c.Name]
		if !ok && c.Default != nil {
			out[c.Name] = *c.Default
		}
		if !ok {
			continue
		}
		var text string
		if json.Unmarshal([]byte(cell), &text) != nil {
			text = cell
		}
		var err error
		if out[c.Name], err = lake.Canonical(c.Type, text); err != nil {
			return nil, fmt.Errorf("column %s: %w", c.Name, err)
		}
	}
	return out, nil
}

// add gives the table a column: rows that are there have its default.
func (o *oracle) add(c lake.Column) {
	o.columns = append(slices.Clone(o.columns), c)
	for id, row := range o.rows {
		o.rows[id] = maps.Clone(row)
		o.rows[id][c.Name] = *c.Default
	}
}

// list is the rows in the order of their keys.
func (o *oracle) list() []lake.Row {
	rows := []lake.Row{}
	for _, id := range slices.Sorted(maps.Keys(o.rows)) {
		rows = append(rows, o.rows[id])
	}
	return rows
}
