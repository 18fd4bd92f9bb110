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
		"dead_letter: kafka://dead":                                                                    "sources.main, which is not given",
		"dead_letter: kafka://de ad":                                                                   "must be s3://bucket/prefix or kafka://topic",
		"dead_letter: kafka://":                                                                        "must be s3://bucket/prefix or kafka://topic",
		"sources: {main: {brokers: [b:1]}}":                                                            "nothing reads it",
		"sources: {other: {brokers: [b:1]}}":                                                           "there may be main only",
		"dead_letter: kafka://d\nsources: {main: {}}":                                                  "sources.main.brokers: none is given",
		"dead_letter: kafka://d\nsources: {main: {brokers: [b]}}":                                      `"b" is not host:port`,
		"dead_letter: kafka://d\nsources: {main: {brokers: [b:1], auth: {type: iam}}}":                 "sources.main.tls: must be true",
		"dead_letter: kafka://d\nsources: {main: {brokers: [b:1], auth: {type: ldap}}}":                "sources.main.auth.type: must be",
		"dead_letter: kafka://d\nsources: {main: {brokers: [b:1], auth: {type: scram, secret: p4ss}}}": "must say where the secret is kept",
		"dead_letter: kafka://d\nsources: {main: {brokers: [b:1], auth: {secret: \"ssm:/a\"}}}":        "is not read with type none",
	} {
		if _, err := config.Parse([]byte(smallest + more)); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "p4ss") {
			t.Errorf("%s: got %v, want %q", more, err, want)
		}
	}
}
