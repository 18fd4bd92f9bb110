package config_test

import (
	"strings"
	"testing"

	"github.com/frazil/frazil/internal/config"
	"github.com/google/go-cmp/cmp"
)

func TestDeadLetterIsAnAddressOrAMap(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]config.DeadLetter{
		`dead_letter: s3://lake/dead`:                                       {To: "s3://lake/dead", MaxRatio: 0.5, MinRecords: 100},
		`dead_letter: {to: "s3://lake"}`:                                    {To: "s3://lake", MaxRatio: 0.5, MinRecords: 100},
		`dead_letter: {to: s3://lake/d, max_ratio: 1, min_records: 7}`:      {To: "s3://lake/d", MaxRatio: 1, MinRecords: 7},
		"report_failures: true\ndead_letter: {to: s3://l, max_ratio: 0.01}": {To: "s3://l", MaxRatio: 0.01, MinRecords: 100},
	} {
		c, err := config.Parse([]byte(smallest + text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if diff := cmp.Diff(want, c.DeadLetter); diff != "" || c.ReportFailures != strings.HasPrefix(text, "report") {
			t.Errorf("%s: %s", text, diff)
		}
	}
	for text, problem := range map[string]string{
		`dead_letter: http://dead`:                        "must be s3://bucket/prefix",
		`dead_letter: s3:///dead`:                         "must be s3://bucket/prefix",
		`dead_letter: {max_ratio: 0.1}`:                   "must be s3://bucket/prefix",
		`dead_letter: {to: s3://l/d, max_ratio: 0}`:       "dead_letter.max_ratio",
		`dead_letter: {to: s3://l/d, max_ratio: 50}`:      "dead_letter.max_ratio",
		`dead_letter: {to: s3://l/d, max_ratio: .nan}`:    "dead_letter.max_ratio",
		`dead_letter: {to: s3://l/d, min_records: 0}`:     "dead_letter.min_records",
		`dead_letter: {to: s3://l/d, max_records: 1}`:     "must be an address, or a map",
		`dead_letter: [s3://l/d]`:                         "must be an address, or a map",
		`report_failures: sometimes`:                      "line 4",
		"dead_letter: s3://l/d\ndead_letters: s3://l/d\n": "unknown key dead_letters",
	} {
		if _, err := config.Parse([]byte(smallest + text)); err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("%s: %v, want an error with %q", text, err, problem)
		}
	}
}
