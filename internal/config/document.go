package config

import (
	"bytes"
	"errors"
	"io"
	"regexp"

	"go.yaml.in/yaml/v3"
)

// document is the YAML as written; check turns it into a Config.
type document struct {
	Catalogs map[string]catalogDoc `yaml:"catalogs"`
	Sources  map[string]sourceDoc  `yaml:"sources"`
	Routes   []routeDoc            `yaml:"routes"`

	DeadLetter     yaml.Node `yaml:"dead_letter"` // an address, or a deadLetterDoc
	ReportFailures bool      `yaml:"report_failures"`
	Memory         string    `yaml:"memory"`
	Drain          drainDoc  `yaml:"drain"`

	Maintain map[string]upkeepDoc `yaml:"maintain"`
}

type deadLetterDoc struct {
	To         string   `yaml:"to"`
	MaxRatio   *float64 `yaml:"max_ratio"`
	MinRecords *int     `yaml:"min_records"`
}

type catalogDoc struct {
	URI        string            `yaml:"uri"`
	Warehouse  string            `yaml:"warehouse"`
	Auth       authDoc           `yaml:"auth"`
	Role       string            `yaml:"role"`
	Locations  []string          `yaml:"locations"`
	Properties map[string]string `yaml:"properties"`
}

type authDoc struct {
	Type       string `yaml:"type"`
	Token      string `yaml:"token"`
	Credential string `yaml:"credential"`
	TokenURL   string `yaml:"token_url"`
	Scope      string `yaml:"scope"`
	Service    string `yaml:"service"`
	Region     string `yaml:"region"`
}

type routeDoc struct {
	Topics []string `yaml:"topics"`
	Source string   `yaml:"source"`
	Format string   `yaml:"format"`
	Table  string   `yaml:"table"`
	Key    []string `yaml:"key"`

	Deletes string `yaml:"deletes"`
	Offsets string `yaml:"offsets"`

	NullValue      string    `yaml:"null_value"`
	Absent         yaml.Node `yaml:"absent"` // nodes, since a bare null means the text "null" (word)
	Unavailable    yaml.Node `yaml:"unavailable"`
	Placeholder    *string   `yaml:"placeholder"`
	Truncate       string    `yaml:"truncate"`
	UnknownColumns string    `yaml:"unknown_columns"`

	Wrapper         string `yaml:"wrapper"`
	TimestampUnit   string `yaml:"timestamp_unit"`
	DecimalEncoding string `yaml:"decimal_encoding"`
	BinaryEncoding  string `yaml:"binary_encoding"`

	Names            string               `yaml:"names"`
	TimeZone         string               `yaml:"time_zone"`
	SpecialTemporals yaml.Node            `yaml:"special_temporals"`
	Columns          map[string]columnDoc `yaml:"columns"`
}

type columnDoc struct {
	From          string `yaml:"from"`
	Unsigned      bool   `yaml:"unsigned"`
	TimestampUnit string `yaml:"timestamp_unit"`
	Fractions     string `yaml:"fractions"`
}

// Parse reads a configuration document. The error lists all problems.
func Parse(text []byte) (*Config, error) {
	var p problems
	var doc document
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	err := dec.Decode(&doc)
	var wrong *yaml.TypeError
	switch {
	case errors.Is(err, io.EOF):
		p.add("the document is empty")
		return nil, p.err()
	case errors.As(err, &wrong):
		for _, line := range wrong.Errors {
			p.add("%s", explain(line))
		}
	case err != nil:
		p.add("%s", noAnchor.ReplaceAllString(err.Error(), "an alias has no anchor; a text that begins with * stands in quotes"))
		return nil, p.err()
	}
	if dec.Decode(new(yaml.Node)) != io.EOF {
		p.add("there is more than one document")
	}
	c := doc.check(&p)
	if err := p.err(); err != nil {
		return nil, err
	}
	return c, nil
}

var (
	unknownKey = regexp.MustCompile(`^(line \d+): field (.+) not found in type \S+$`)
	wrongType  = regexp.MustCompile(`(?s)^(line \d+): cannot unmarshal .* into (\S+)$`)
	noAnchor   = regexp.MustCompile(`unknown anchor '.*' referenced`) // its name may be a secret that was to be a text
	kinds      = map[string]string{"[]string": "a list of texts", "string": "a text", "bool": "true or false", "map[string]string": "a map of texts"}
)

// explain turns the YAML library's words, which quote values and name Go types, into the user's.
func explain(problem string) string {
	if m := unknownKey.FindStringSubmatch(problem); m != nil {
		return m[1] + ": unknown key " + m[2]
	}
	if m := wrongType.FindStringSubmatch(problem); m != nil {
		kind, ok := kinds[m[2]]
		if !ok {
			kind = "a map of keys"
		}
		return m[1] + ": must be " + kind
	}
	return problem
}

// word is the text of a scalar, where a bare null is the word "null". Nothing behind the colon is no word at all.
func word(n yaml.Node) (text string, ok bool) {
	switch {
	case n.Kind == 0:
		return "", true
	case n.Kind != yaml.ScalarNode:
		return "", false
	case n.Tag == "!!null" && n.Value != "":
		return "null", true
	}
	return n.Value, true
}
