package config

import (
	"maps"
	"slices"
	"time"
	_ "time/tzdata" // a function's image has no database of zones
)

// Column is what a route says of one of the table's columns, and of all that is nested in it.
type Column struct {
	From          string // the member's name in the record; empty: the column's
	Unsigned      bool   // negative integers are unsigned ones that the producer folded
	TimestampUnit string // s, ms, us or ns; empty: the route's
	Floor         bool   // fractions finer than the column are cut off towards the past, or the smaller number
}

func (d routeDoc) checkEncodings(r *Route, at string, p *problems) {
	r.Wrapper = choose(at+".wrapper", d.Wrapper, "auto", p, "auto", "none", "schema_payload")
	r.TimestampUnit = choose(at+".timestamp_unit", d.TimestampUnit, "auto", p, "auto", "s", "ms", "us", "ns")
	r.DecimalEncoding = choose(at+".decimal_encoding", d.DecimalEncoding, "auto", p, "auto", "text", "base64", "number")
	r.BinaryEncoding = choose(at+".binary_encoding", d.BinaryEncoding, "base64", p, "base64", "base64url", "hex", "pg_hex", "utf8", "latin1")
	r.Names = choose(at+".names", d.Names, "exact", p, "exact", "fold_case")
	r.TimeZone = checkZone(at+".time_zone", d.TimeZone, p)
	r.SpecialTemporals = chooseWord(at+".special_temporals", d.SpecialTemporals, Error, p, Error, Null, Clamp)
	r.Columns = d.checkColumns(at+".columns", p)
}

// checkZone refuses Local too: what it means depends on the machine.
func checkZone(at, name string, p *problems) string {
	if name == "" {
		return "UTC"
	}
	if _, err := time.LoadLocation(name); err != nil || name == "Local" {
		p.add("%s: is no zone of the IANA's database, such as Europe/Paris", at)
	}
	return name
}

func (d routeDoc) checkColumns(at string, p *problems) map[string]Column {
	var columns map[string]Column
	from := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(d.Columns)) {
		c, at := d.Columns[name], at+"."+name
		if other, twice := from[c.From]; twice && c.From != "" {
			p.add("%s.from: %s is where %s comes from", at, c.From, other)
		}
		from[c.From] = name
		if columns == nil {
			columns = map[string]Column{}
		}
		columns[name] = Column{
			From: c.From, Unsigned: c.Unsigned,
			TimestampUnit: choose(at+".timestamp_unit", c.TimestampUnit, "", p, "s", "ms", "us", "ns"),
			Floor:         choose(at+".fractions", c.Fractions, "", p, "floor", "error") == "floor",
		}
	}
	return columns
}
