// Package deadletter keeps records that could not be applied, as Kafka held them, with the reason.
//
// Letters are objects of JSON lines, one letter a line, in a store and under a prefix that the configuration names, or
// records of a topic (package cluster). They are written before the snapshot that passes over their records, so a delivery
// that is repeated may write one again: letters are at least once and a superset; a record is told from another by source,
// topic, partition and offset. Row values are in them, unlike in logs and errors. The package decides their form; it judges
// no records.
package deadletter

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/frazil/frazil/internal/kafka"
	"github.com/google/uuid"
)

// Letter is one record with the reason why it was not applied.
type Letter struct {
	Source    string   `json:"source"`
	Topic     string   `json:"topic"`
	Partition int32    `json:"partition"`
	Offset    int64    `json:"offset"`
	Time      int64    `json:"timestamp"`    // of the record, milliseconds since 1970
	Key       []byte   `json:"key_base64"`   // null is Kafka's null
	Value     []byte   `json:"value_base64"` // null is Kafka's null
	Headers   []Header `json:"headers,omitempty"`

	Table  string    `json:"table"` // catalog:namespace.table that it was for
	Column string    `json:"column,omitempty"`
	Class  string    `json:"class,omitempty"` // what kind of reason
	Reason string    `json:"reason"`          // without a value of the record
	At     time.Time `json:"at"`              // when it was given up

	Version string `json:"version,omitempty"` // of the frazil that gave it up
}

// Classes of reasons.
const (
	Column  = "column"  // a value does not fit its column
	Row     = "row"     // the values do not make a row of the table
	Message = "message" // the record is no message that its route's format has, or one that it refuses
)

// Sink is where letters go. Once Bury returns without an error they are kept.
type Sink interface {
	Bury(ctx context.Context, letters []Letter) error
}

// Objects is a sink of objects under a prefix.
type Objects struct {
	Write  func(ctx context.Context, path string, data []byte) error
	Prefix string
}

// Bury writes one object.
func (o Objects) Bury(ctx context.Context, letters []Letter) error {
	text, err := Encode(letters)
	if err != nil {
		return err
	}
	return o.Write(ctx, Path(o.Prefix, letters[0].At, uuid.NewString()), text)
}

// Version is that of the running frazil.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	return info.Main.Version
}

// Header is one of the record's headers.
type Header struct {
	Key   string `json:"key"`
	Value []byte `json:"value_base64"`
}

// New is the letter of a record; the bytes are copied.
func New(r *kafka.Record) Letter {
	l := Letter{
		Source: r.Part.Source, Topic: r.Part.Topic, Partition: r.Part.Number, Offset: r.Offset, Time: r.Time,
		Key: bytes.Clone(r.Key), Value: bytes.Clone(r.Value),
	}
	for _, h := range r.Headers {
		l.Headers = append(l.Headers, Header{h.Key, bytes.Clone(h.Value)})
	}
	return l
}

// Path is where the letters that were written at a time go: below the prefix, in a folder for each day. id makes it theirs
// alone.
func Path(prefix string, at time.Time, id string) string {
	at = at.UTC()
	return strings.TrimRight(prefix, "/") + "/" + at.Format("2006/01/02/150405") + "-" + id + ".jsonl"
}

// Encode is the content of an object.
func Encode(letters []Letter) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	for i := range letters {
		if err := e.Encode(&letters[i]); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), nil
}

// Decode reads an object's letters back.
func Decode(data []byte) (letters []Letter, err error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	for n := 1; d.More(); n++ {
		var l Letter
		if err := d.Decode(&l); err != nil {
			return nil, fmt.Errorf("letter %d: %w", n, err)
		}
		letters = append(letters, l)
	}
	return letters, nil
}
