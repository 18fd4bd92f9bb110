// Package scenario runs scenario files: tables, configuration, batches and the expected end of a behaviour of
// frazil, as a text that people read as the specification.
//
// Each file gets a catalog and a prefix in the store of its own. The records of a batch go through the function's
// own path: Lambda's event JSON, the scanner, the pipeline. What frazil wrote is read back by package lake.
package scenario

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/frazil/frazil/internal/local/fault"
	"github.com/frazil/frazil/internal/local/lake"
	"github.com/twmb/franz-go/pkg/kgo"
	"go.yaml.in/yaml/v3"
)

// Scenario is one file.
type Scenario struct {
	Name    string    `yaml:"name"`
	Tables  []Table   `yaml:"tables"`
	Config  yaml.Node `yaml:"config"`
	Batches []Entry   `yaml:"batches"`
	Expect  Expect    `yaml:"expect"`
}

// Table is a table that is there before the first batch.
type Table struct {
	Name          string            `yaml:"name"`
	FormatVersion int               `yaml:"format_version"`
	Schema        []Column          `yaml:"schema"`
	Key           []string          `yaml:"key"`
	PartitionBy   []string          `yaml:"partition_by"`
	SortBy        []string          `yaml:"sort_by"`
	Properties    map[string]string `yaml:"properties"`
	Rows          []Row             `yaml:"rows"`
}

// Column is a column of a table.
type Column struct {
	Name     string  `yaml:"name"`
	Type     string  `yaml:"type"`
	Required bool    `yaml:"required"`
	Default  *string `yaml:"default"` // initial-default and write-default, of format version 3
}

// Row holds a row's literals by column; one that is left out is NULL. Literals of nested types are YAML or JSON.
type Row map[string]yaml.Node

// Entry is one step: exactly one of its members is there.
type Entry struct {
	Records  []Record     `yaml:"records"`
	Brokers  string       `yaml:"brokers"` // where the records come from; default: scenario:9092
	Replay   *int         `yaml:"replay"`
	Fault    *fault.Fault `yaml:"fault"` // what the next invocation meets
	Alter    *Alter       `yaml:"alter"`
	Foreign  *Foreign     `yaml:"foreign"`
	Maintain *Maintain    `yaml:"maintain"` // a run of maintain, as config says
	Parallel []Entry      `yaml:"parallel"`
}

// Record is a Kafka record. Key and value are texts, or bytes in base64; neither means Kafka's null.
type Record struct {
	Topic       string            `yaml:"topic"`
	Partition   int32             `yaml:"partition"`
	Offset      int64             `yaml:"offset"`
	Timestamp   *int64            `yaml:"timestamp"`
	Key         *string           `yaml:"key"`
	Value       *string           `yaml:"value"`
	KeyBase64   *string           `yaml:"key_base64"`
	ValueBase64 *string           `yaml:"value_base64"`
	Headers     map[string]string `yaml:"headers"`
}

// Foreign is what another writer does.
type Foreign struct {
	Table  string `yaml:"table"`
	Action string `yaml:"action"`
	Rows   []Row  `yaml:"rows"`  // of append; of delete: the columns by which rows are found
	How    string `yaml:"how"`   // of delete: position (on format version 3 a vector), equality or rewrite
	Keep   int    `yaml:"keep"`  // of expire
	Steps  int    `yaml:"steps"` // of rollback
}

// Maintain is a run of maintain.
type Maintain struct {
	Later time.Duration `yaml:"later"` // how much later than now snapshots and files are judged, as 240h
}

// Alter is what the table's owner changes.
type Alter struct {
	Table         string            `yaml:"table"`
	Schema        []Column          `yaml:"schema"`
	PartitionBy   *[]string         `yaml:"partition_by"`
	SortBy        *[]string         `yaml:"sort_by"`
	FormatVersion int               `yaml:"format_version"`
	Properties    map[string]string `yaml:"properties"`
}

// Expect is the end that the scenario has to come to.
type Expect struct {
	Tables      map[string]TableEnd `yaml:"tables"`
	Result      yaml.Node           `yaml:"result"` // ok, error, or a Cut; of the last invocation
	DeadLetters []Letter            `yaml:"dead_letters"`
	// Error is a text that the error of the last invocation has to hold.
	Error string `yaml:"error"`
}

// Cut is the result of an invocation that reports the first bad records of some partitions.
type Cut struct {
	Failed []At `yaml:"failed"`
}

// At is a record.
type At struct {
	Topic     string `yaml:"topic"`
	Partition int32  `yaml:"partition"`
	Offset    int64  `yaml:"offset"`
}

// Letter is an expected dead letter; its reason has to hold the text.
type Letter struct {
	At     `yaml:",inline"`
	Reason string `yaml:"reason"`
}

// TableEnd is the expected end of a table.
type TableEnd struct {
	Rows      *[]Row                     `yaml:"rows"`
	Snapshots *int                       `yaml:"snapshots"`
	Ledger    map[string]map[int32]int64 `yaml:"ledger"`
	Deletes   *Kinds                     `yaml:"deletes"`
	Files     FilesEnd                   `yaml:"files"`
}

// FilesEnd is what the files that frazil wrote have to be, and how many files there are.
type FilesEnd struct {
	Sorted  bool `yaml:"sorted"`  // each claims the table's sort order, and is sorted
	Data    *int `yaml:"data"`    // how many data files the head has
	Deletes *int `yaml:"deletes"` // and delete files
}

// Kinds are the kinds of delete files that a table's head has, as a set: position, vectors, equality. It is written as a
// list, or as one kind, or as none.
type Kinds []lake.Kind

// UnmarshalYAML reads a list or a scalar.
func (k *Kinds) UnmarshalYAML(node *yaml.Node) error {
	var names []string
	if err := node.Decode(&names); err != nil {
		names = []string{node.Value}
	}
	*k = Kinds{}
	for _, name := range names {
		switch kind := lake.Kind(name); {
		case kind == lake.PositionFiles || kind == lake.Vectors || kind == lake.EqualityFiles:
			*k = append(*k, kind)
		case name != "none" || len(names) > 1:
			return fmt.Errorf("line %d: deletes: %q is none of position, vectors, equality, none", node.Line, name)
		}
	}
	return nil
}

// Read reads a scenario file. A key that does not exist, or does not exist yet, is an error that names it.
func Read(path string) (*Scenario, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(text)
}

// Parse is Read for a file's text.
func Parse(text []byte) (*Scenario, error) {
	var s Scenario
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	switch err := dec.Decode(&s); {
	case errors.Is(err, io.EOF):
		return nil, errors.New("the file is empty")
	case err != nil:
		return nil, explain(err)
	case s.Expect.Tables == nil && s.Expect.Result.Kind == 0:
		return nil, errors.New("expect: neither tables nor result are given, so that nothing would be checked")
	}
	return &s, nil
}

var (
	unknownKey = regexp.MustCompile(`field (\S+) not found in type \S+`)
	wrongType  = regexp.MustCompile(`(?s)cannot unmarshal .* into (\S+)$`)
)

func explain(err error) error {
	var wrong *yaml.TypeError
	if !errors.As(err, &wrong) {
		return err
	}
	var lines []string
	for _, line := range wrong.Errors {
		line = unknownKey.ReplaceAllString(line, "the key $1 does not exist (yet)")
		lines = append(lines, wrongType.ReplaceAllString(line, "a value of another kind is wanted"))
	}
	return errors.New(strings.Join(lines, "; "))
}

// Kafka is the record as Kafka holds it. Without a timestamp it is 1700000000000 + offset.
func (r *Record) Kafka() (*kgo.Record, error) {
	key, err := content(r.Key, r.KeyBase64)
	if err != nil {
		return nil, fmt.Errorf("offset %d: key: %w", r.Offset, err)
	}
	value, err := content(r.Value, r.ValueBase64)
	if err != nil {
		return nil, fmt.Errorf("offset %d: value: %w", r.Offset, err)
	}
	at := 1_700_000_000_000 + r.Offset
	if r.Timestamp != nil {
		at = *r.Timestamp
	}
	out := &kgo.Record{Topic: r.Topic, Partition: r.Partition, Offset: r.Offset, Timestamp: time.UnixMilli(at), Key: key, Value: value}
	for _, k := range slices.Sorted(maps.Keys(r.Headers)) {
		out.Headers = append(out.Headers, kgo.RecordHeader{Key: k, Value: []byte(r.Headers[k])})
	}
	return out, nil
}

func content(text, encoded *string) ([]byte, error) {
	switch {
	case text != nil && encoded != nil:
		return nil, errors.New("is given as text and in base64")
	case text != nil:
		return []byte(*text), nil
	case encoded != nil:
		return base64.StdEncoding.DecodeString(*encoded)
	}
	return nil, nil
}
