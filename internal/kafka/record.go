// Package kafka holds one Kafka record and says where it stands: source, topic, partition and offset.
//
// A record borrows its bytes from the delivery that it came in and is valid until the handler of that
// delivery returns. In Key, Value and a header's Value nil is Kafka's null, while an empty slice is zero
// bytes: two different things (a null value deletes, zero bytes are an error).
//
// The package reads nothing, sends nothing and knows no encoding.
package kafka

import "strconv"

// MainSource is the name of the source where only one is configured, or none: the cluster behind the function.
const MainSource = "main"

// Partition names one partition of one topic of one source. The records of a partition share one Partition,
// so that comparing pointers is enough inside a delivery.
type Partition struct {
	Source  string // its name in the configuration
	Topic   string
	Number  int32
	Cluster string // the ARN of the MSK cluster; "" where the delivery does not say
}

// Header is one record header. A name may occur more than once in a record.
type Header struct {
	Key   string
	Value []byte
}

// Record is one record as Kafka held it.
type Record struct {
	Part    *Partition
	Offset  int64
	Time    int64 // milliseconds since the epoch, by the producer's clock or the broker's; -1 if it has none
	Key     []byte
	Value   []byte
	Headers []Header
}

// Ref says which record something is about, without holding on to its bytes.
type Ref struct {
	Part   *Partition
	Offset int64
}

// Range is offsets of a partition that were read, from From up to Next. Those of them that are not in the delivery Kafka
// does not hold: they were compacted away, are of a transaction that was aborted, or are its marker.
type Range struct {
	Part       *Partition
	From, Next int64
}

// Ref names the record.
func (r *Record) Ref() Ref { return Ref{Part: r.Part, Offset: r.Offset} }

// Header returns the value of the first header of that name, and whether there is one.
func (r *Record) Header(key string) ([]byte, bool) {
	for i := range r.Headers {
		if r.Headers[i].Key == key {
			return r.Headers[i].Value, true
		}
	}
	return nil, false
}

// String names the record for people: "topic orders, partition 0, offset 15".
func (r Ref) String() string {
	b := make([]byte, 0, 64)
	if r.Part != nil {
		b = append(b, "topic "...)
		b = append(b, r.Part.Topic...)
		b = append(b, ", partition "...)
		b = strconv.AppendInt(b, int64(r.Part.Number), 10)
		b = append(b, ", "...)
	}
	b = append(b, "offset "...)
	return string(strconv.AppendInt(b, r.Offset, 10))
}
