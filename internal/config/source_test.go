package config_test

import (
	"strings"
	"testing"

	"github.com/frazil/frazil/internal/config"
	"github.com/google/go-cmp/cmp"
)

func TestDeadLettersMayGoToATopicOfASource(t *testing.T) {
	t.Parallel()
	c, err := config.Parse([]byte(smallest + `dead_letter: kafka://dead
sources: {main: {brokers: ["b-1:9098", "b-2:9098"], tls: true, auth: {type: iam}}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := config.Source{Brokers: []string{"b-1:9098", "b-2:9098"}, TLS: true, Auth: config.SourceAuth{Type: "iam"}}
	if diff := cmp.Diff(want, c.Sources["main"]); diff != "" || c.DeadLetter.Topic() != "dead" {
		t.Errorf("topic %q, %s", c.DeadLetter.Topic(), diff)
	}
}

func TestParseRefusesSourcesThatCannotWork(t *testing.T) {
	t.Parallel()
	for more, want := range map[string]string{
		"dead_letter: kafka://dead":                                                                    "sources.main, whose brokers are not given",
		"dead_letter: kafka://de ad":                                                                   "must be s3://bucket/prefix or kafka://topic",
		"dead_letter: kafka://":                                                                        "must be s3://bucket/prefix or kafka://topic",
		"sources: {main: {brokers: [b:1]}, other: {brokers: [c:1]}}":                                   "routes[0].source: is not given, and there are main, other",
		"sources: {a.b: {brokers: [b:1]}}":                                                             "a name has letters",
		"sources: {main: {arn: msk}}":                                                                  "must be the ARN",
		"dead_letter: kafka://d\nsources: {main: {}}":                                                  "sources.main: neither brokers nor an arn is given",
		"dead_letter: kafka://d\nsources: {main: {brokers: [b]}}":                                      "sources.main.brokers[0]: is not host:port",
		"dead_letter: kafka://d\nsources: {main: {brokers: [b:1], auth: {type: iam}}}":                 "sources.main.tls: must be true",
		"dead_letter: kafka://d\nsources: {main: {brokers: [b:1], auth: {type: ldap}}}":                "sources.main.auth.type: must be",
		"dead_letter: kafka://d\nsources: {main: {brokers: [b:1], auth: {type: scram, secret: p4ss}}}": "must say where the secret is kept",
		"dead_letter: kafka://d\nsources: {main: {brokers: [b:1], auth: {secret: \"ssm:/a\"}}}":        "is not read with type none",
		"sources: {main: {brokers: [b:1], ca: \"ssm:/ca\"}}":                                           "sources.main.ca: is not read without tls",
		"sources: {main: {brokers: [b:1], tls: true, ca: p4ss}}":                                       "sources.main.ca: must say where the secret is kept",
		"sources: {main: {brokers: [b:1, \"u:p4ss@b:1\"]}}":                                            "sources.main.brokers[1]: is not host:port",
		"sources: {main: {brokers: [b:1], auth: {type: plain, password: p4ss}}}":                       "line 4: unknown key password",
		"sources: {main: {brokers: [b:1], auth: p4ss}}":                                                "line 4: must be a map of keys",
		"sources: {main: {brokers: [b:1], auth: {type: plain, secret: *p4ss}}}":                        "a text that begins with * stands in quotes",
	} {
		if _, err := config.Parse([]byte(smallest + more)); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "p4ss") {
			t.Errorf("%s: got %v, want %q", more, err, want)
		}
	}
}

func TestARouteHasASource(t *testing.T) {
	t.Parallel()
	const two = "catalogs: {main: {uri: \"http://localhost\"}}\nsources: {main: {brokers: [b:1]}, eu: {brokers: [c:1]}}\n"
	c, err := config.Parse([]byte(two + `routes:
  - {topics: [orders, "/x.*/"], source: eu, format: flat, table: "main:sales.eu"}
  - {topics: [orders, "/x.*/", xy], source: main, format: flat, table: "main:sales.orders"}`))
	if err != nil || c.Routes[0].Source != "eu" || c.Routes[1].Source != "main" {
		t.Errorf("got %v", err)
	}
	for route, want := range map[string]string{"eu": "", "us": `there is no source "us"`} {
		_, err := config.Parse([]byte(two + "routes: [{topics: [orders], source: " + route + ", format: flat, table: \"main:sales.eu\"}]"))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: got %v", route, err)
		}
	}
}

func TestSourceOfAnEvent(t *testing.T) {
	t.Parallel()
	arn := func(s string) config.Source { return config.Source{ARN: "arn:aws:kafka:" + s} }
	brokers := func(s ...string) config.Source { return config.Source{Brokers: s} }
	for name, c := range map[string]struct {
		sources      map[string]config.Source
		arn, brokers string
		want         string // "": none
	}{
		"none is configured":           {nil, "arn:aws:kafka:x", "b:1", "main"},
		"the only one":                 {map[string]config.Source{"eu": brokers("b:1")}, "", "private:1", "eu"},
		"the only one, by its ARN":     {map[string]config.Source{"eu": arn("x")}, "arn:aws:kafka:x", "b:1", "eu"},
		"the only one is another":      {map[string]config.Source{"eu": arn("x")}, "arn:aws:kafka:y", "b:1", ""},
		"by ARN":                       {map[string]config.Source{"eu": arn("x"), "us": arn("y")}, "arn:aws:kafka:y", "b:1", "us"},
		"by one of its brokers":        {map[string]config.Source{"eu": brokers("b:1", "b:2"), "us": brokers("c:1")}, "", "b:3, b:2", "eu"},
		"another one of several":       {map[string]config.Source{"eu": brokers("b:1"), "us": brokers("c:1")}, "", "d:1", ""},
		"an ARN goes before a broker":  {map[string]config.Source{"a": {Brokers: []string{"b:1"}, ARN: "arn:aws:kafka:x"}, "b": arn("y")}, "arn:aws:kafka:y", "b:1", "b"},
		"a cluster without ARN of two": {map[string]config.Source{"eu": brokers("b:1"), "us": arn("y")}, "arn:aws:kafka:z", "b:1", "eu"},
	} {
		got, err := (&config.Config{Sources: c.sources}).SourceOf(c.arn, c.brokers)
		if got != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%s: got %q, %v; want %q", name, got, err, c.want)
		}
	}
}
