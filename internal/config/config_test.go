package config_test

import (
	"strings"
	"testing"

	"github.com/frazil/frazil/internal/config"
	"github.com/google/go-cmp/cmp"
)

const smallest = `
catalogs: {main: {uri: "http://localhost:8181"}}
routes: [{topics: [orders], format: flat, table: "main:sales.orders"}]
`

func TestParseFillsDefaults(t *testing.T) {
	t.Parallel()
	c, err := config.Parse([]byte(smallest))
	if err != nil {
		t.Fatal(err)
	}
	want := &config.Config{
		Catalogs: map[string]config.Catalog{"main": {URI: "http://localhost:8181", Auth: config.Auth{Type: "none"}}},
		Sources:  map[string]config.Source{},
		Routes: []config.Route{{
			Topics: []string{"orders"}, Source: "main", Format: "flat",
			Table:     config.Table{Catalog: "main", Path: []string{"sales", "orders"}},
			NullValue: config.Delete, Absent: config.Null, Unavailable: config.Keep, Placeholder: config.Placeholder,
			Truncate: config.Error, UnknownColumns: config.Error,
			Wrapper: "auto", TimestampUnit: "auto", DecimalEncoding: "auto", BinaryEncoding: "base64",
			Names: "exact", TimeZone: "UTC", SpecialTemporals: config.Error,
		}},
		DeadLetter: config.DeadLetter{MaxRatio: 0.5, MinRecords: 100},
	}
	if diff := cmp.Diff(c, want); diff != "" {
		t.Error(diff)
	}
}

func TestParseReportsEveryProblemAtOnce(t *testing.T) {
	t.Parallel()
	_, err := config.Parse([]byte(`
catalogs:
  main: {uri: "ftp://x", auth: {type: kerberos}}
  lake: {uri: "https://glue.eu-west-1.amazonaws.com/iceberg", wharehouse: x}
routes:
  - {topics: [a, a2], format: debezum, table: "main:sales.orders", decimal_encoding: hex}
  - {topics: a2, format: flat, table: sales.orders}
  - {topics: [a, "/(/"], format: flat, table: "other:s.t", null_value: keep, key: [id, id]}
  - {topics: [b], format: flat, table: "main:sales.orders", key: [id], deletes: position}
  - {topics: [c], format: flat, table: "main:sales.orders", key: [name], deletes: rewrite}
`))
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		"catalogs.main.uri", "catalogs.main.auth.type", "line 4: unknown key wharehouse", "routes[0].format", "routes[0].decimal_encoding",
		"line 7: must be a list of texts", "routes[1].table", `there is no catalog "other"`, "routes[2].topics: a is in routes[0] too",
		"pattern /(/", "routes[2].null_value", "routes[2].key: names id twice",
		"routes[4].key: is another one than that of routes[3]", "routes[4].deletes: is another one than that of routes[3]",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not mention %q:\n%v", want, err)
		}
	}
}

func TestParseRefusesWhatWouldBeIgnoredOrMeanSomethingElse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ old, new, want string }{
		{`{uri: "http://localhost:8181"}`, `{uri: "http://localhost:8181", auth: {service: glue}}`, "catalogs.main.auth.service: is not read with type none"},
		{`{uri: "http://localhost:8181"}`, `{uri: "http://localhost:8181", auth: {type: sigv4, service: gluee}}`, "catalogs.main.auth.service"},
		{"[orders]", `["/orders"]`, "a pattern stands between slashes"},
		{"[orders]", `[orders, orders]`, "names orders twice"},
		{"routes: [", `routes: [{topics: ["/o.*/"], format: flat, table: "main:a.b"}, `, "/o.*/ matches orders of routes[1]"},
	} {
		_, err := config.Parse([]byte(strings.Replace(smallest, c.old, c.new, 1)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want an error with %q", c.new, err, c.want)
		}
	}
}

func TestParseReadsWhatARouteSaysOfItsColumns(t *testing.T) {
	t.Parallel()
	with := func(keys string) (*config.Config, error) {
		return config.Parse([]byte(strings.Replace(smallest, "format: flat", "format: flat, "+keys, 1)))
	}
	c, err := with("special_temporals: null, time_zone: Europe/Paris, names: fold_case, binary_encoding: pg_hex, " +
		"columns: {total: {from: TOTAL, unsigned: true}, at: {timestamp_unit: us, fractions: floor}, plain: }")
	if err != nil {
		t.Fatal(err)
	}
	r := c.Routes[0]
	if r.SpecialTemporals != config.Null || r.TimeZone != "Europe/Paris" || r.Names != "fold_case" || r.BinaryEncoding != "pg_hex" {
		t.Errorf("got %+v", r)
	}
	want := map[string]config.Column{"total": {From: "TOTAL", Unsigned: true}, "at": {TimestampUnit: "us", Floor: true}, "plain": {}}
	if diff := cmp.Diff(want, r.Columns); diff != "" {
		t.Error(diff)
	}
	for keys, want := range map[string]string{
		"time_zone: Europe/Pairs":                             "routes[0].time_zone: is no zone",
		"time_zone: Local":                                    "routes[0].time_zone: is no zone",
		"special_temporals: floor":                            "routes[0].special_temporals: must be error, null or clamp",
		"binary_encoding: base32":                             "routes[0].binary_encoding: must be",
		"names: lower":                                        "routes[0].names: must be exact or fold_case",
		"columns: {a: {form: x}}":                             "unknown key form",
		"columns: {a: {unsigned: maybe}}":                     "must be true or false",
		"columns: {a: {fractions: round}}":                    "routes[0].columns.a.fractions: must be floor or error",
		"columns: {a: {timestamp_unit: auto}}":                "routes[0].columns.a.timestamp_unit: must be",
		"columns: {a: {from: X}, b: {from: X}, c: {}, d: {}}": "routes[0].columns.b.from: X is where a comes from",
	} {
		if _, err := with(keys); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", keys, err, want)
		}
	}
}

func TestEqualityDeletesKeepNoCells(t *testing.T) {
	t.Parallel()
	with := func(keys string) (*config.Config, error) {
		return config.Parse([]byte(strings.Replace(smallest, "format: flat", "format: debezium, deletes: equality"+keys, 1)))
	}
	for _, key := range []string{"absent", "unavailable"} {
		if _, err := with(", " + key + ": keep"); err == nil || !strings.Contains(err.Error(), "routes[0]."+key+": keep looks rows up") {
			t.Errorf("%s: got %v", key, err)
		}
	}
	c, err := with("")
	if err != nil || c.Routes[0].Deletes != "equality" {
		t.Errorf("without a word about kept cells: %v %v", c, err)
	}
	if _, err := with("_"); err == nil || !strings.Contains(err.Error(), "deletes: must be position, rewrite, equality or auto") {
		t.Errorf("another encoding: %v", err)
	}
}

func TestParseTakesAnEmptyRuleForNone(t *testing.T) {
	t.Parallel()
	c, err := config.Parse([]byte(strings.Replace(smallest, "format: flat,", "format: debezium, absent: , unavailable: ,", 1)))
	if err != nil {
		t.Fatal(err)
	}
	if r := c.Routes[0]; r.Absent != config.Keep || r.Unavailable != config.Keep {
		t.Errorf("absent %q, unavailable %q", r.Absent, r.Unavailable)
	}
}

func TestParseReadsABareNullAsTheWord(t *testing.T) {
	t.Parallel()
	c, err := config.Parse([]byte(strings.Replace(smallest, "format: flat", "format: debezium, absent: null, unavailable: error", 1)))
	if err != nil {
		t.Fatal(err)
	}
	if r := c.Routes[0]; r.Absent != config.Null || r.Unavailable != config.Error {
		t.Errorf("absent %q, unavailable %q", r.Absent, r.Unavailable)
	}
}

func TestParseSignsForTheEndpointsOfAWS(t *testing.T) {
	t.Parallel()
	for uri, want := range map[string]config.Auth{
		"https://glue.eu-west-1.amazonaws.com/iceberg":     {Type: "sigv4", Service: "glue", Region: "eu-west-1"},
		"https://s3tables.us-east-2.amazonaws.com/iceberg": {Type: "sigv4", Service: "s3tables", Region: "us-east-2"},
		"https://polaris.example.com/api/catalog":          {Type: "none"},
	} {
		c, err := config.Parse([]byte(strings.Replace(smallest, "http://localhost:8181", uri, 1)))
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Catalogs["main"].Auth; got != want {
			t.Errorf("%s: got %+v, want %+v", uri, got, want)
		}
	}
}

func TestFromVariables(t *testing.T) {
	t.Parallel()
	vars := map[string]string{
		"FRAZIL_CATALOG_URI": "http://c", "FRAZIL_TOPICS": "a, b", "FRAZIL_TABLE": "silver.t", "FRAZIL_FORMAT": "flat", "FRAZIL_KEY": "x,y",
	}
	c, err := config.FromVariables(func(k string) string { return vars[k] })
	if err != nil {
		t.Fatal(err)
	}
	r := c.Routes[0]
	if diff := cmp.Diff([]any{r.Topics, r.Key, r.Table.String()}, []any{[]string{"a", "b"}, []string{"x", "y"}, "main:silver.t"}); diff != "" {
		t.Error(diff)
	}
	vars["FRAZIL_TABLE"] = "main:silver.t"
	if _, err := config.FromVariables(func(k string) string { return vars[k] }); err == nil || !strings.Contains(err.Error(), "FRAZIL_TABLE") {
		t.Errorf("a catalog in FRAZIL_TABLE: got %v", err)
	}
	delete(vars, "FRAZIL_TABLE")
	delete(vars, "FRAZIL_FORMAT")
	_, err = config.FromVariables(func(k string) string { return vars[k] })
	if err == nil || !strings.Contains(err.Error(), "FRAZIL_TABLE") || !strings.Contains(err.Error(), "FRAZIL_FORMAT") {
		t.Errorf("got %v, want both missing variables named", err)
	}
}
