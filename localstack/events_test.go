package main_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/frazil/frazil/internal/kafkaevent"
	"github.com/frazil/frazil/internal/local/scenario"
	"github.com/frazil/frazil/internal/local/source"
	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"
	"go.yaml.in/yaml/v3"
)

var update = flag.Bool("update", false, "write the sample events anew")

// sample is an entry of events.yaml.
type sample struct {
	Name    string
	Cluster string
	Seed    string
	Nulls   string
	Records []scenario.Record
	Error   struct{ Type, Message string }
}

func TestSampleEventsAreCurrent(t *testing.T) {
	t.Parallel()
	var names []string
	for _, s := range samples(t) {
		path := filepath.Join("events", s.Name+".json")
		names = append(names, path)
		want := s.event(t)
		if *update {
			if err := os.WriteFile(path, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s is not what events.yaml says (-want +got); go test ./localstack -run Event -update writes it:\n%s", path, diff)
		}
	}
	files, err := filepath.Glob("events/*.json")
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	if diff := cmp.Diff(names, files); diff != "" {
		t.Errorf("files (-events.yaml +folder):\n%s", diff)
	}
}

func TestSampleEventsAreScannedToTheirRecords(t *testing.T) {
	t.Parallel()
	for _, s := range samples(t) {
		event, err := kafkaevent.Scan(s.event(t))
		if err != nil {
			t.Errorf("%s: %v", s.Name, err)
			continue
		}
		if got, want := len(event.Records), len(s.records(t)); got != want {
			t.Errorf("%s: %d records, want %d", s.Name, got, want)
		}
		for _, r := range event.Records {
			if s.Nulls == "absent" && r.Value != nil && len(r.Value) == 0 {
				t.Errorf("%s: %s: the value is empty, not null", s.Name, r.Ref())
			}
		}
	}
}

func TestReadmeNamesEventsThatExist(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range regexp.MustCompile(`localstack/events/[\w.-]+`).FindAllString(string(readme), -1) {
		if _, err := os.Stat(filepath.Join("..", path)); err != nil {
			t.Errorf("README.md mentions %s: %v", path, err)
		}
	}
}

func samples(t *testing.T) []sample {
	t.Helper()
	var all []sample
	readYAML(t, "events/events.yaml", &all)
	return all
}

func (s sample) event(t *testing.T) []byte {
	t.Helper()
	origin := source.Origin{Brokers: "broker-1.example.com:9096,broker-2.example.com:9096"}
	if s.Cluster == "msk" {
		origin = source.Origin{
			Brokers:    "b-1.shop.abc123.c2.kafka.eu-west-1.amazonaws.com:9098,b-2.shop.abc123.c2.kafka.eu-west-1.amazonaws.com:9098",
			ClusterARN: "arn:aws:kafka:eu-west-1:123456789012:cluster/shop/6b2c1f5e-0000-4000-8000-000000000000-2",
		}
	}
	event, err := source.Event(s.records(t), origin)
	if err != nil {
		t.Fatal(err)
	}
	if s.Nulls == "absent" {
		event = bytes.ReplaceAll(event, []byte(`,"value":null`), nil)
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, event, "", "  "); err != nil {
		t.Fatal(err)
	}
	indented.WriteByte('\n')
	return indented.Bytes()
}

func (s sample) records(t *testing.T) []*kgo.Record {
	t.Helper()
	records := s.Records
	if s.Seed != "" {
		seed, err := scenario.Read(filepath.Join("seeds", s.Seed+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		records = seed.Batches[0].Records
	}
	out := make([]*kgo.Record, len(records))
	for i := range records {
		var err error
		if out[i], err = records[i].Kafka(); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func readYAML(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}
