package source

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/twmb/franz-go/pkg/kgo"
)

// MaxEvent is the most bytes that an event may have: Lambda's limit of a synchronous invocation.
const MaxEvent = 6 * 1024 * 1024

// ErrTooLarge is an event, or a record alone in its event, that passes the size limit.
var ErrTooLarge = errors.New("event is too large")

// Origin is what an event says about where it comes from.
type Origin struct {
	// Brokers is the bootstrap addresses, separated by commas.
	Brokers string
	// ClusterARN makes the event one of an MSK cluster. Without it the cluster is self-managed.
	ClusterARN string
}

// Event returns the JSON that Lambda gives a function for these records: grouped by topic and partition, in the order
// given. A null key is absent and a null value is null, as captured from the service; empty ones are "". It is
// ErrTooLarge when that passes MaxEvent.
func Event(records []*kgo.Record, o Origin) ([]byte, error) {
	b := newBatch(o, len(records), MaxEvent)
	for _, r := range records {
		if !b.add(r) {
			return nil, fmt.Errorf("event of %d records: %w", len(records), ErrTooLarge)
		}
	}
	return b.event(), nil
}

// batch collects records for one event and knows the event's exact size.
type batch struct {
	prefix     []byte
	records    []*kgo.Record
	groups     map[group]int // index into encoded
	encoded    [][]byte      // one JSON member per group, without its closing bracket
	size       int
	maxRecords int
	maxBytes   int
}

type group struct {
	topic     string
	partition int32
}

const suffix = "}}"

func newBatch(o Origin, maxRecords, maxBytes int) *batch {
	prefix := o.prefix()
	return &batch{
		prefix: prefix, groups: map[group]int{}, size: len(prefix) + len(suffix),
		maxRecords: maxRecords, maxBytes: maxBytes,
	}
}

func (o Origin) prefix() []byte {
	b := []byte(`{"eventSource":`)
	if o.ClusterARN != "" {
		b = append(b, `"aws:kafka","eventSourceArn":`...)
		b = appendText(b, o.ClusterARN)
	} else {
		b = append(b, `"SelfManagedKafka"`...)
	}
	b = append(b, `,"bootstrapServers":`...)
	b = appendText(b, o.Brokers)
	return append(b, `,"records":{`...)
}

// add appends r, unless the batch is full or its event would become too large.
func (b *batch) add(r *kgo.Record) bool {
	if len(b.records) >= b.maxRecords {
		return false
	}
	g := group{r.Topic, r.Partition}
	at, known := b.groups[g]
	lead, size := []byte(","), b.size
	if !known {
		lead = b.opening(g)
		size++ // its closing bracket
	}
	encoded := appendRecord(lead, r)
	if size += len(encoded); size > b.maxBytes {
		return false
	}
	if !known {
		at = len(b.encoded)
		b.groups[g] = at
		b.encoded = append(b.encoded, nil)
	}
	b.encoded[at] = append(b.encoded[at], encoded...)
	b.records = append(b.records, r)
	b.size = size
	return true
}

func (b *batch) opening(g group) []byte {
	var opening []byte
	if len(b.encoded) > 0 {
		opening = append(opening, ',')
	}
	opening = appendText(opening, g.topic+"-"+strconv.Itoa(int(g.partition)))
	return append(opening, ":["...)
}

func (b *batch) event() []byte {
	event := make([]byte, 0, b.size)
	event = append(event, b.prefix...)
	for _, encoded := range b.encoded {
		event = append(append(event, encoded...), ']')
	}
	return append(event, suffix...)
}

func appendRecord(b []byte, r *kgo.Record) []byte {
	b = append(b, `{"topic":`...)
	b = appendText(b, r.Topic)
	b = append(b, `,"partition":`...)
	b = strconv.AppendInt(b, int64(r.Partition), 10)
	b = append(b, `,"offset":`...)
	b = strconv.AppendInt(b, r.Offset, 10)
	b = append(b, `,"timestamp":`...)
	b = strconv.AppendInt(b, r.Timestamp.UnixMilli(), 10)
	b = append(b, `,"timestampType":"`...)
	b = append(b, timestampType(r)...)
	b = append(b, '"')
	if r.Key != nil {
		b = appendBase64(append(b, `,"key":`...), r.Key)
	}
	b = append(b, `,"value":`...)
	if r.Value == nil {
		b = append(b, "null"...)
	} else {
		b = appendBase64(b, r.Value)
	}
	return append(appendHeaders(b, r.Headers), '}')
}

func timestampType(r *kgo.Record) string {
	if r.Attrs.TimestampType() == 1 {
		return "LOG_APPEND_TIME"
	}
	return "CREATE_TIME"
}

// appendHeaders writes each header as an object of one member whose value is a list of signed bytes.
func appendHeaders(b []byte, headers []kgo.RecordHeader) []byte {
	b = append(b, `,"headers":[`...)
	for i, h := range headers {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendText(append(b, '{'), h.Key), ':')
		b = append(appendSigned(b, h.Value), '}')
	}
	return append(b, ']')
}

func appendSigned(b, value []byte) []byte {
	if value == nil {
		return append(b, "null"...)
	}
	b = append(b, '[')
	for i, v := range value {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(int8(v)), 10)
	}
	return append(b, ']')
}

func appendBase64(b, value []byte) []byte {
	b = append(b, '"')
	b = base64.StdEncoding.AppendEncode(b, value)
	return append(b, '"')
}

func appendText(b []byte, text string) []byte {
	quoted, _ := json.Marshal(text) // a string
	return append(b, quoted...)
}
