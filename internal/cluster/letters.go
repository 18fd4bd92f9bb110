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
	go func() { done <- l.Kafka.ProduceSync(ctx, records...).FirstErr() }() // a record on its way is waited for beyond ctx
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
