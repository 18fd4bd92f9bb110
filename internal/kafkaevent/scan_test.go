package kafkaevent_test

import (
	"strings"
	"testing"

	"github.com/frazil/frazil/internal/kafka"
	"github.com/frazil/frazil/internal/kafkaevent"
	"github.com/google/go-cmp/cmp"
)

// event is an event of one partition list with these records.
func event(records string) []byte {
	return []byte(`{"eventSource":"aws:kafka","records":{"t-0":[` + records + `]}}`)
}

func scanOne(t *testing.T, record string) kafka.Record {
	t.Helper()
	e, err := kafkaevent.Scan(event(record))
	if err != nil {
		t.Fatalf("%s: %v", record, err)
	}
	if len(e.Records) != 1 {
		t.Fatalf("%s: got %d records", record, len(e.Records))
	}
	return e.Records[0]
}

func TestScanReadsARecord(t *testing.T) {
	t.Parallel()
	e, err := kafkaevent.Scan([]byte(` {
		"eventSource": "aws:kafka", "eventSourceArn": "arn:aws:kafka:x", "bootstrapServers": "b-1:9098,b-2:9098",
		"records": {"my-topic-0": [ {
			"topic": "my-topic", "partition": 2147483647, "offset": 9223372036854775807,
			"timestamp": 1545084650987, "timestampType": "CREATE_TIME",
			"key": "eyJpZCI6MX0=", "value": "eyJpZCI6MSwiYSI6Miw=",
			"headers": [ {"a": [104, 101, -36]}, {"\u0061b": [200]}, {"n": null}, {"e": []} ],
			"keySchemaMetadata": {"dataFormat": "AVRO", "schemaId": "1", "x": [1, -2.5e3, true, false, null, {}]}
		} ] } } `))
	if err != nil {
		t.Fatal(err)
	}
	part := &kafka.Partition{Source: "main", Topic: "my-topic", Number: 2147483647, Cluster: "arn:aws:kafka:x"}
	want := &kafkaevent.Event{
		Source: "aws:kafka", ARN: "arn:aws:kafka:x", Brokers: "b-1:9098,b-2:9098",
		Partitions: []*kafka.Partition{part},
		Records: []kafka.Record{{
			Part: part, Offset: 9223372036854775807, Time: 1545084650987,
			Key: []byte(`{"id":1}`), Value: []byte(`{"id":1,"a":2,`),
			Headers: []kafka.Header{
				{Key: "a", Value: []byte{104, 101, 220}}, {Key: "ab", Value: []byte{200}}, {Key: "n"}, {Key: "e", Value: []byte{}},
			},
		}},
	}
	if diff := cmp.Diff(e, want); diff != "" {
		t.Error(diff)
	}
}

func TestScanTellsNullFromEmpty(t *testing.T) {
	t.Parallel()
	const at = `"topic":"t","partition":0,"offset":1`
	for _, tt := range []struct {
		name, members string
		null          bool
	}{
		{"absent", ``, true}, {"null", `,"key":null,"value":null`, true}, {"empty", `,"key":"","value":""`, false},
	} {
		r := scanOne(t, `{`+at+tt.members+`}`)
		if (r.Key == nil) != tt.null || (r.Value == nil) != tt.null || len(r.Key)+len(r.Value) != 0 {
			t.Errorf("%s: got key %#v, value %#v", tt.name, r.Key, r.Value)
		}
		if r.Time != -1 {
			t.Errorf("%s: a record without a timestamp has time %d", tt.name, r.Time)
		}
	}
}

func TestScanReadsEscapedBase64(t *testing.T) {
	t.Parallel()
	r := scanOne(t, `{"topic":"t","partition":0,"offset":1,"key":"\/\/8\u003d","value":"YQ=\u003D"}`)
	if string(r.Key) != "\xff\xff" || string(r.Value) != "a" {
		t.Errorf("got key %x, value %q", r.Key, r.Value)
	}
}

func TestScanOrdersByTopicPartitionOffset(t *testing.T) {
	t.Parallel()
	rec := func(topic, partition, offset, value string) string {
		return `{"topic":"` + topic + `","partition":` + partition + `,"offset":` + offset + `,"value":"` + value + `"}`
	}
	payload := `{"records":{"b-0":[` + rec("b", "0", "3", "AAAA") + `,` + rec("b", "0", "5", "AAAA") + `],` +
		`"a-10":[` + rec("a", "10", "2", "AAAA") + `,` + rec("a", "10", "1", "AAAA") + `],` +
		`"a-9":[` + rec("a", "9", "7", "AAAA") + `,` + rec("a", "9", "7", "BBBB") + `],` +
		`"b-0 again":[` + rec("b", "0", "4", "AAAA") + `]}}`
	e, err := kafkaevent.Scan([]byte(payload))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range e.Records {
		got = append(got, e.Records[i].Ref().String())
	}
	want := []string{
		"topic a, partition 9, offset 7", "topic a, partition 9, offset 7", "topic a, partition 10, offset 1", "topic a, partition 10, offset 2",
		"topic b, partition 0, offset 3", "topic b, partition 0, offset 4", "topic b, partition 0, offset 5",
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Error(diff)
	}
	if e.Records[0].Value[0] != 0 || e.Records[1].Value[0] == 0 {
		t.Error("two records of one offset changed places")
	}
	if e.Records[4].Part != e.Records[5].Part {
		t.Error("one partition has two Partitions")
	}
	if len(e.Partitions) != 3 {
		t.Errorf("got %d partitions, want 3", len(e.Partitions))
	}
}

func TestScanTakesNoRecordsForAnEvent(t *testing.T) {
	t.Parallel()
	for _, payload := range []string{`{"records":{}}`, `{"records":{"t-0":[]}}`} {
		if e, err := kafkaevent.Scan([]byte(payload)); err != nil || len(e.Records) != 0 {
			t.Errorf("%s: got %v, %v", payload, e, err)
		}
	}
}

func TestScanRefusesBrokenEvents(t *testing.T) {
	t.Parallel()
	const ok = `{"topic":"t","partition":0,"offset":15,"value":"YQ=="}`
	tests := []struct{ payload, want string }{
		{``, `byte 0: the event is cut off`},
		{`{}`, `not a Kafka event`},
		{`{"Records":[]}`, `not a Kafka event`},
		{`{"records":[]}`, `not a Kafka event`},
		{`{"records":null}`, `not a Kafka event`},
		{`{"records":{}} x`, `byte 15: unexpected bytes`},
		{`{"records":{},}`, `byte 14: expected a text`},
		{`{"records" {}}`, `byte 11: expected a colon`},
		{`{"records":{"t-0":[` + ok + ` ` + ok + `]}}`, `expected a comma`},
		{`{"records":{"t-0":[` + ok + `,]}}`, `expected an object`},
		{`{"records":{"t-0":{}}}`, `expected an array`},
		{`{"a":01,"records":{}}`, `leading zeros`},
		{`{"a":tru,"records":{}}`, `expected a value`},
		{`{"a":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `,"records":{}}`, `in one another`},
	}
	for _, tt := range tests {
		if _, err := kafkaevent.Scan([]byte(tt.payload)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %s", tt.payload, err, tt.want)
		}
	}
}

func TestScanRefusesBrokenRecords(t *testing.T) {
	t.Parallel()
	const at = `"topic":"t","partition":3,"offset":15`
	tests := []struct{ record, want string }{
		{`{"partition":0,"offset":15}`, `partition 0, offset 15: byte 72: a record without a topic`},
		{`{"topic":"","partition":0,"offset":15}`, `without a topic`},
		{`{"topic":"t","offset":15}`, `topic t, offset 15: byte 70: a record without a partition`},
		{`{"topic":"t","partition":3}`, `topic t, partition 3: byte 72: a record without an offset`},
		{`{"topic":null,"partition":3,"offset":15}`, `a record: byte 54: expected a text`},
		{`{"topic":"t","partition":-1,"offset":15}`, `topic t: byte 70: a number out of range`},
		{`{"topic":"t","partition":-0,"offset":15}`, `out of range`},
		{`{"topic":"t","partition":2147483648,"offset":15}`, `out of range`},
		{`{"topic":"t","partition":0,"offset":9223372036854775808}`, `out of range`},
		{`{"topic":"t","partition":0,"offset":99999999999999999999999}`, `out of range`},
		{`{` + at + `,"timestamp":9223372036854775808}`, `out of range`},
		{`{` + at + `,"timestamp":-9223372036854775809}`, `out of range`},
		{`{"topic":"t","partition":0,"offset":1.0}`, `expected an integer`},
		{`{"topic":"t","partition":0,"offset":1e3}`, `expected an integer`},
		{`{"topic":"t","partition":0,"offset":"1"}`, `expected an integer`},
		{`{` + at + `,"value":"YQ="}`, `topic t, partition 3, offset 15: byte 93: bad base64`},
		{`{` + at + `,"value":"Y*=="}`, `bad base64`},
		{"{" + at + `,"value":"YWFh` + "\n\n\n\n" + `YWFh"}`, `bad base64`},
		{`{` + at + `,"value":7}`, `expected a text or null`},
		{`{` + at + `,"headers":[{"a":[256]}]}`, `out of range`},
		{`{` + at + `,"headers":[{"a":[-129]}]}`, `out of range`},
		{`{` + at + `,"headers":[{"a":"YQ=="}]}`, `expected an array`},
		{`{` + at + `,"headers":[{"\ud800":[]}]}`, `expected an escape`},
		{`{` + at + `,"headers":[{"\ud83dxude00":[]}]}`, `expected an escape`},
		{"{" + at + `,"headers":[{"` + "\xff" + `":[]}]}`, `not valid Unicode`},
		{`{` + at + `,"headers":{}}`, `expected an array`},
	}
	for _, tt := range tests {
		if _, err := kafkaevent.Scan(event(tt.record)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %s", tt.record, err, tt.want)
		}
	}
}

func TestScanRefusesEveryTruncation(t *testing.T) {
	t.Parallel()
	whole := string(event(`{"topic":"t","partition":3,"offset":15,"timestamp":1,"key":"YQ==","value":null,"headers":[{"a\n":[1,-2]}],"x":[1.5e3,true]}`))
	for n := range len(whole) {
		_, err := kafkaevent.Scan([]byte(whole[:n]))
		if err == nil {
			t.Errorf("accepted %s", whole[:n])
			continue
		}
		if i := strings.Index(whole, `,"timestamp"`); n > i && n < len(whole)-4 && !strings.Contains(err.Error(), "topic t, partition 3, offset 15: byte") {
			t.Errorf("cut at %d: the error does not say where: %v", n, err)
		}
	}
}
