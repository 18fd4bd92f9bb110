package consume_test

import (
	"testing"
	"time"

	"github.com/frazil/frazil/internal/kafka"
	"github.com/twmb/franz-go/pkg/kgo"
)

// What was written at one time to several partitions is read at about one time, and so is in few batches.
func TestPartitionsAreReadInTheOrderOfTime(t *testing.T) {
	t.Parallel()
	w := newWorldOf(t, 1, 3, "a", "b")
	producer := w.producer(kgo.ProducerBatchCompression(kgo.NoCompression()), kgo.ProducerBatchMaxBytes(100<<10))
	const each = 200
	var records []*kgo.Record
	sizes := []int{90 << 10, 20 << 10, 20 << 10} // by partition
	for i := range int64(each) {
		for _, topic := range []string{"a", "b"} {
			for partition := range int32(3) {
				records = append(records, &kgo.Record{Topic: topic, Partition: partition, Value: make([]byte, sizes[partition]), Timestamp: time.UnixMilli(1000 + i)})
			}
		}
	}
	if err := producer.ProduceSync(t.Context(), records...).FirstErr(); err != nil {
		t.Fatal(err)
	}
	c := w.open(large())
	read := map[kafka.Partition]int64{}
	furthest := int64(0)
	for b, err := range c.Batches(t.Context(), w.stretches(c, "a", "b")) {
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range b.Read {
			read[*r.Part] = r.Next
		}
		least, most := int64(each), int64(0)
		for _, next := range read {
			least, most = min(least, next), max(most, next)
		}
		if len(read) < 6 {
			least = 0
		}
		furthest = max(furthest, most-least)
	}
	// A response has a MiB, 50 records of one partition at most, and there may be one that nobody has asked for yet.
	if furthest > 100 {
		t.Errorf("a partition was read %d records further than another", furthest)
	}
}
