package cluster

import (
	"context"
	"fmt"
	"strconv"

	"github.com/frazil/frazil/internal/deadletter"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Letters is a topic of dead letters: the record's key, value and headers as they were, and the rest of the letter in
// headers of frazil's.
type Letters struct {
	Kafka *kgo.Client
	Topic string
}

// Bury produces letters and waits until all replicas in sync have them. The producer is idempotent.
func (l *Letters) Bury(ctx context.Context, letters []deadletter.Letter) error {
	records := make([]*kgo.Record, len(letters))
	for i := range letters {
		records[i] = record(l.Topic, &letters[i])
	}
	done := make(chan error, 1)
	go func() { done <- l.produce(ctx, records) }() // a record on its way is waited for beyond ctx
	select {
	case err := <-done:
		if err != nil {
			return fmt.Errorf("produce to %s: %w", l.Topic, err)
		}
		return nil
	case <-ctx.Done():
		return fmt.Errorf("produce to %s: %w", l.Topic, ctx.Err())
	}
}

// largest is the size of the largest letter, in bytes, that the client sends. An event has 6 MB; what the topic takes its
// owner says. together is that of letters that go at once, which any topic takes.
const (
	largest  = 8 << 20
	together = 900_000
)

func (l *Letters) produce(ctx context.Context, records []*kgo.Record) error {
	for len(records) > 0 {
		n := fitting(records)
		if err := l.Kafka.ProduceSync(ctx, records[:n]...).FirstErr(); err != nil {
			return err
		}
		records = records[n:]
	}
	return nil
}

// fitting counts the first records that go together, one at least.
func fitting(records []*kgo.Record) (n int) {
	size := 0
	for _, r := range records {
		const overhead = 64 // of numbers and lengths
		size += len(r.Key) + len(r.Value) + overhead
		for _, h := range r.Headers {
			size += len(h.Key) + len(h.Value)
		}
		if n > 0 && size > together {
			break
		}
		n++
	}
	return n
}

func record(topic string, l *deadletter.Letter) *kgo.Record {
	r := &kgo.Record{Topic: topic, Key: l.Key, Value: l.Value}
	for _, h := range l.Headers {
		r.Headers = append(r.Headers, kgo.RecordHeader{Key: h.Key, Value: h.Value})
	}
	for _, h := range [][2]string{
		{"source", l.Source}, {"topic", l.Topic}, {"partition", strconv.Itoa(int(l.Partition))}, {"offset", strconv.FormatInt(l.Offset, 10)},
		{"timestamp", strconv.FormatInt(l.Time, 10)}, {"table", l.Table}, {"column", l.Column}, {"class", l.Class}, {"reason", l.Reason}, {"version", l.Version},
	} {
		r.Headers = append(r.Headers, kgo.RecordHeader{Key: "frazil." + h[0], Value: []byte(h[1])})
	}
	return r
}
