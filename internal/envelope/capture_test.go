package envelope_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/frazil/frazil/internal/kafka"
)

// captured is a line of a .jsonl file: a record as Kafka held it, in base64 where it was captured, as text where
// it was written by hand. Neither is Kafka's null.
type captured struct {
	Topic       string `json:"topic"`
	Partition   int32  `json:"partition"`
	Offset      int64  `json:"offset"`
	Timestamp   int64  `json:"timestamp"`
	KeyBase64   []byte `json:"key_base64"`
	ValueBase64 []byte `json:"value_base64"`
	Key         *string
	Value       *string
	Headers     []struct {
		Key         string
		ValueBase64 []byte `json:"value_base64"`
		Value       *string
	}
}

func either(raw []byte, text *string) []byte {
	if text != nil {
		return []byte(*text)
	}
	return raw
}

func (c captured) record() *kafka.Record {
	r := &kafka.Record{
		Part:   &kafka.Partition{Source: kafka.MainSource, Topic: c.Topic, Number: c.Partition},
		Offset: c.Offset, Time: c.Timestamp,
		Key: either(c.KeyBase64, c.Key), Value: either(c.ValueBase64, c.Value),
	}
	for _, h := range c.Headers {
		r.Headers = append(r.Headers, kafka.Header{Key: h.Key, Value: either(h.ValueBase64, h.Value)})
	}
	return r
}

func readCapture(t testing.TB, path string) []*kafka.Record {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var records []*kafka.Record
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var c captured
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatalf("%s, line %d: %v", path, len(records)+1, err)
		}
		records = append(records, c.record())
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return records
}

// eachCapture runs f for every testdata/<format>/NAME.jsonl.
func eachCapture(t *testing.T, f func(t *testing.T, format, path string)) {
	paths, err := filepath.Glob("testdata/*/*.jsonl")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no captures: %v", err)
	}
	for _, path := range paths {
		format := filepath.Base(filepath.Dir(path))
		t.Run(format+"/"+strings.TrimSuffix(filepath.Base(path), ".jsonl"), func(t *testing.T) {
			t.Parallel()
			f(t, format, path)
		})
	}
}
