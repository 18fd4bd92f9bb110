package config

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Rule says what happens to something that the formats leave open. The document's own words.
type Rule string

// The rules of null_value, absent, unavailable, truncate, unknown_columns and special_temporals.
const (
	Delete Rule = "delete"
	Ignore Rule = "ignore"
	Error  Rule = "error"
	Null   Rule = "null"
	Keep   Rule = "keep"
	Clamp  Rule = "clamp"
)

// Placeholder is what Debezium sends for a value that it did not read again, unless it is configured otherwise.
const Placeholder = "__debezium_unavailable_value"

// Route is the configured way from topics to a table.
type Route struct {
	Topics []string // names, or patterns between slashes
	Source string   // of the topics; empty: kafka.MainSource
	Format string
	Table  Table
	Key    []string // empty: the table's identifier fields

	Deletes string // how rows are taken away: position, rewrite, equality or auto; empty: as the table's properties say

	Dense bool // offsets: dense: every offset has to be delivered

	NullValue      Rule // delete, ignore or error
	Absent         Rule // keep, null or error
	Unavailable    Rule // keep, null or error
	Placeholder    string
	Truncate       Rule // ignore or error
	UnknownColumns Rule // ignore or error

	Wrapper         string // auto, none or schema_payload
	TimestampUnit   string // auto, s, ms, us or ns
	DecimalEncoding string // auto, text, base64 or number
	BinaryEncoding  string // base64, base64url, hex, pg_hex, utf8 or latin1

	Names            string // exact or fold_case
	TimeZone         string // of the IANA's database; of texts without a zone that go into timestamptz
	SpecialTemporals Rule   // error, null or clamp
	Columns          map[string]Column
}

// absentByFormat is the list of formats, each with what an absent cell means in it unless the route says.
var absentByFormat = map[string]Rule{
	"cockroachdb":        Keep,
	"debezium":           Keep,
	"debezium_unwrapped": Keep,
	"flat":               Null,
}

// Formats lists the names that a route's format may have, sorted.
func Formats() []string { return slices.Sorted(maps.Keys(absentByFormat)) }

func (d routeDoc) check(at string, p *problems) Route {
	r := Route{Topics: d.Topics, Format: d.Format, Key: d.Key, Placeholder: Placeholder}
	checkTopics(d.Topics, at, p)
	absent, known := absentByFormat[d.Format]
	switch {
	case d.Format == "":
		p.add("%s.format: is not given", at)
	case !known:
		p.add("%s.format: must be %s", at, oneOf(Formats()))
	}
	r.Table = checkTable(d.Table, at, p)
	if twice := repeated(d.Key); twice != "" {
		p.add("%s.key: names %s twice", at, twice)
	}
	if d.Placeholder != nil {
		r.Placeholder = *d.Placeholder
		if r.Placeholder == "" {
			p.add("%s.placeholder: must not be empty", at)
		}
	}
	r.Deletes = choose(at+".deletes", d.Deletes, "", p, "position", "rewrite", "equality", "auto")
	r.Dense = choose(at+".offsets", d.Offsets, "sparse", p, "sparse", "dense") == "dense"
	d.checkEquality(at, p)
	d.checkRules(&r, absent, at, p)
	d.checkEncodings(&r, at, p)
	return r
}

func (d routeDoc) checkRules(r *Route, absent Rule, at string, p *problems) {
	r.NullValue = choose(at+".null_value", Rule(d.NullValue), Delete, p, Delete, Ignore, Error)
	r.Absent = chooseWord(at+".absent", d.Absent, absent, p, Keep, Null, Error)
	r.Unavailable = chooseWord(at+".unavailable", d.Unavailable, Keep, p, Keep, Null, Error)
	r.Truncate = choose(at+".truncate", Rule(d.Truncate), Error, p, Ignore, Error)
	r.UnknownColumns = choose(at+".unknown_columns", Rule(d.UnknownColumns), Error, p, Error, Ignore)
}

// checkEquality finds the rules that keep cells of the row that is there: equality deletes never look it up. Where the
// document does not say keep, it is a default that refuses what it cannot keep.
func (d routeDoc) checkEquality(at string, p *problems) {
	check := func(name string, n yaml.Node) {
		if text, _ := word(n); Rule(text) == Keep && d.Deletes == "equality" {
			p.add("%s.%s: keep looks rows up, and deletes: equality never does", at, name)
		}
	}
	check("absent", d.Absent)
	check("unavailable", d.Unavailable)
}

func checkTopics(topics []string, at string, p *problems) {
	if len(topics) == 0 {
		p.add("%s.topics: none is given", at)
	}
	for _, t := range topics {
		if _, pattern, err := Pattern(t); err != nil {
			p.add("%s.topics: %w", at, err)
		} else if !pattern && !topicName.MatchString(t) {
			p.add("%s.topics: %q is no topic's name; a pattern stands between slashes", at, t)
		}
	}
	if twice := repeated(topics); twice != "" {
		p.add("%s.topics: names %s twice", at, twice)
	}
}

// topicName is what Kafka lets a topic be called.
var topicName = regexp.MustCompile(`^[a-zA-Z0-9._-]{1,249}$`)

// Pattern compiles a topic that is written as a regular expression between slashes; ok is false for a plain
// name. The expression has to match the whole topic.
func Pattern(topic string) (re *regexp.Regexp, ok bool, err error) {
	if len(topic) < 2 || topic[0] != '/' || topic[len(topic)-1] != '/' {
		return nil, false, nil
	}
	re, err = regexp.Compile("^(?:" + topic[1:len(topic)-1] + ")$")
	if err != nil {
		return nil, true, fmt.Errorf("pattern %s: %w", topic, err)
	}
	return re, true, nil
}

func checkTable(s, at string, p *problems) Table {
	catalog, name, ok := strings.Cut(s, ":")
	path := strings.Split(name, ".")
	if !ok || catalog == "" || len(path) < 2 || slices.Contains(path, "") {
		p.add("%s.table: must be catalog:namespace.table", at)
		return Table{}
	}
	return Table{Catalog: catalog, Path: path}
}

func repeated(names []string) string {
	for i, n := range names {
		if slices.Contains(names[:i], n) {
			return n
		}
	}
	return ""
}

func choose[T ~string](at string, got, fallback T, p *problems, allowed ...T) T {
	if got == "" {
		return fallback
	}
	if !slices.Contains(allowed, got) {
		p.add("%s: must be %s", at, oneOf(allowed))
	}
	return got
}

func oneOf[T ~string](words []T) string {
	var text []string
	for _, w := range words {
		text = append(text, string(w))
	}
	return strings.Join(text[:len(text)-1], ", ") + " or " + text[len(text)-1]
}

func chooseWord(at string, n yaml.Node, fallback Rule, p *problems, allowed ...Rule) Rule {
	text, ok := word(n)
	if !ok {
		p.add("%s: must be %s", at, oneOf(allowed))
		return fallback
	}
	return choose(at, Rule(text), fallback, p, allowed...)
}
