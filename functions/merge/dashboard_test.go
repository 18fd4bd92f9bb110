package main

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/frazil/frazil/internal/report"
	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

// reported are the names of all metrics.
func reported() []string {
	names := map[string]bool{}
	for _, a := range report.Attrs(time.Unix(0, 0), report.Records(0), report.Inserted(0), report.Updated(0), report.Deleted(0), report.UnknownDeletes(0), report.Unchanged(0),
		report.DeadLetters(0), report.CommitTime(0), report.Freshness(0), report.Lag(0), report.Conflicts(0), report.UnknownOutcomes(0), report.Holes(0), report.Failed(0), report.Yielded(0),
		report.DataFiles(0), report.SmallFiles(0), report.DeleteFiles(0), report.DeleteOpenings(0), report.Manifests(0), report.MetadataSize(0), report.DeadRows(0),
		report.ScanCost(0), report.Compacted(0), report.Expired(0), report.FilesDeleted(0), report.Orphans(0), report.MaintainTime(0)) {
		if a.Key != "_aws" {
			names[a.Key] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

func TestDashboardAndAlarmsAreOfTheMetricsThatAreReported(t *testing.T) {
	t.Parallel()
	found := map[string]bool{}
	for _, m := range regexp.MustCompile(`MetricName=\\+"(\w+)`).FindAllStringSubmatch(dashboard(t), -1) {
		found[m[1]] = true
	}
	if diff := cmp.Diff(reported(), slices.Sorted(maps.Keys(found))); diff != "" {
		t.Errorf("dashboard (-reported +shown):\n%s", diff)
	}
	alarms := regexp.MustCompile(`Namespace: `+report.Namespace+`\n\s+MetricName: (\w+)`).FindAllStringSubmatch(templateText(t), -1)
	for _, m := range alarms {
		if !slices.Contains(reported(), m[1]) {
			t.Errorf("an alarm watches %s, which nobody reports", m[1])
		}
	}
	if len(alarms) < 6 {
		t.Errorf("%d alarms of frazil's metrics found", len(alarms))
	}
}

// dashboard is the template's, which has to be JSON.
func dashboard(t *testing.T) string {
	t.Helper()
	var parsed struct {
		Resources struct {
			Dashboard struct {
				Properties struct {
					DashboardBody yaml.Node `yaml:"DashboardBody"`
				} `yaml:"Properties"`
			} `yaml:"Dashboard"`
		} `yaml:"Resources"`
	}
	if err := yaml.Unmarshal([]byte(templateText(t)), &parsed); err != nil {
		t.Fatal(err)
	}
	body := parsed.Resources.Dashboard.Properties.DashboardBody.Value
	if !json.Valid([]byte(strings.TrimSpace(body))) {
		t.Errorf("the dashboard is no JSON: %s", body)
	}
	return body
}
