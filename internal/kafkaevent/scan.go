// Package kafkaevent reads the event in which AWS Lambda's event source mapping hands over Kafka records
// ("Using Lambda with Amazon MSK" and "… self-managed Apache Kafka" in AWS's documentation).
//
// Everything that the event says about a record is kept, null apart from empty too, or the scan fails: it never
// drops a record. The scan is in place, because an event is as large as its records: see Scan for what that means
// to the caller.
//
// The package does not look into keys and values, and does not remove duplicates: an offset that occurs twice in
// an event occurs twice in its records.
package kafkaevent

import (
	"errors"
	"fmt"
	"math"

	"github.com/frazil/frazil/internal/kafka"
)

// Event is a delivery of records.
type Event struct {
	Source     string             // eventSource: "aws:kafka" or "SelfManagedKafka"
	ARN        string             // eventSourceArn, the MSK cluster; "" for self-managed Kafka
	Brokers    string             // bootstrapServers: addresses, separated by commas
	Records    []kafka.Record     // by topic, partition, offset
	Partitions []*kafka.Partition // of the records, each once, in the order of their first record in the event
}

// recordBytes is about what a record with a small row takes in an event; it sizes the first allocation.
const recordBytes = 1024

// errNoRecords is about an event of another service, most of which have a list called Records.
var errNoRecords = errors.New(`not a Kafka event: it has no object "records"`)

// Scan reads an event. The payload is overwritten, and the records borrow it: they are valid as long as the payload
// is left alone. Records of one partition share one *kafka.Partition, whose Source is kafka.MainSource and whose Cluster is the ARN.
//
// A key or value that is null or absent is nil, and "" is zero bytes. Members that are not known are passed over. An error
// says at which byte of the payload the event is wrong and, inside a record, in which, as far as was read by then.
func Scan(payload []byte) (*Event, error) {
	s := scanner{text: text{b: payload}, event: &Event{}}
	if err := s.object(s.eventMember); err != nil {
		return nil, err
	}
	if s.space(); s.pos < len(s.b) {
		return nil, s.fail("unexpected bytes after the event")
	}
	if s.event.Records == nil {
		return nil, errNoRecords
	}
	s.event.Records = inOrder(s.event.Records)
	for _, p := range s.event.Partitions { // the ARN may stand behind the records
		p.Cluster = s.event.ARN
	}
	return s.event, nil
}

// SetSource gives all records a source of another name.
func (e *Event) SetSource(name string) {
	for _, p := range e.Partitions {
		p.Source = name
	}
}

type scanner struct {
	text
	event   *Event
	last    *kafka.Partition
	headers []kafka.Header    // of all records, each of which has a part of it
	names   map[string]string // header names met before
	draft   draft
}

// draft is the record that is being read. Negative numbers are not read yet.
type draft struct {
	kafka.Record
	topic  []byte
	number int64
}

// locate says in which record an error is, as far as that is known.
func (d *draft) locate(err error) error {
	at := "a record"
	if len(d.topic) > 0 {
		at = "topic " + string(d.topic)
	}
	if d.number >= 0 {
		at += fmt.Sprintf(", partition %d", d.number)
	}
	if d.Offset >= 0 {
		at += fmt.Sprintf(", offset %d", d.Offset)
	}
	return fmt.Errorf("%s: %w", at, err)
}

func (s *scanner) eventMember(name []byte) (err error) {
	switch string(name) {
	case "eventSource":
		s.event.Source, err = s.optionalString()
	case "eventSourceArn":
		s.event.ARN, err = s.optionalString()
	case "bootstrapServers":
		s.event.Brokers, err = s.optionalString()
	case "records":
		if s.peek() != '{' {
			return errNoRecords
		}
		if s.event.Records == nil {
			s.event.Records = make([]kafka.Record, 0, len(s.b)/recordBytes+1)
		}
		err = s.object(func([]byte) error { return s.array(s.record) })
	default:
		err = s.skip(0)
	}
	return err
}

func (s *scanner) optionalString() (string, error) {
	if s.peek() == 'n' {
		return "", s.literal("null")
	}
	b, err := s.quoted()
	return string(b), err
}

func (s *scanner) record() error {
	s.draft = draft{Record: kafka.Record{Offset: -1, Time: -1}, number: -1}
	if err := s.object(s.recordMember); err != nil {
		return s.draft.locate(err)
	}
	d := &s.draft
	switch {
	case len(d.topic) == 0:
		return d.locate(s.fail("a record without a topic"))
	case d.number < 0:
		return d.locate(s.fail("a record without a partition"))
	case d.Offset < 0:
		return d.locate(s.fail("a record without an offset"))
	}
	d.Part = s.partition(d.topic, int32(d.number))
	s.event.Records = append(s.event.Records, d.Record)
	return nil
}

func (s *scanner) recordMember(name []byte) (err error) {
	d := &s.draft
	switch string(name) {
	case "topic":
		d.topic, err = s.quoted()
	case "partition":
		d.number, err = s.integer(0, math.MaxInt32)
	case "offset":
		d.Offset, err = s.integer(0, math.MaxInt64)
	case "timestamp":
		d.Time, err = s.integer(math.MinInt64, math.MaxInt64)
	case "key":
		d.Key, err = s.base64()
	case "value":
		d.Value, err = s.base64()
	case "headers":
		err = s.headerList()
	default:
		err = s.skip(0)
	}
	return err
}

// partition returns the one Partition of that name. An event has few, and keeps the records of one together.
func (s *scanner) partition(topic []byte, number int32) *kafka.Partition {
	if p := s.last; p != nil && p.Number == number && p.Topic == string(topic) {
		return p
	}
	for _, p := range s.event.Partitions {
		if p.Number == number && p.Topic == string(topic) {
			s.last = p
			return p
		}
	}
	s.last = &kafka.Partition{Source: kafka.MainSource, Topic: string(topic), Number: number}
	s.event.Partitions = append(s.event.Partitions, s.last)
	return s.last
}
