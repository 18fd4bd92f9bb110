package consume

import (
	"cmp"
	"slices"
	"sync"
)

// order knows how far partitions are read, by the times of their records. It has those read on first that are behind: what was written
// at one time, to whichever partition, is then in one batch or in a few that follow each other. What a source's
// snapshot has in the order of its keys is so in files of narrow bounds, which later look-ups and other readers tell apart.
type order struct {
	mu     sync.Mutex // franz-go asks whenever it fetches
	newest map[topicPartition]int64
}

// note says when the last record was made that was read of a partition, in milliseconds since 1970.
func (o *order) note(p topicPartition, time int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.newest[p] = max(o.newest[p], time)
}

// prefer is a kgo.PreferLagFn. Where all are as far as each other the order stays as it is, in which they take turns.
func (o *order) prefer(_ map[string]map[int32]int64, topics []string, partitions map[string][]int32) ([]string, map[string][]int32) {
	o.mu.Lock()
	defer o.mu.Unlock()
	sorted := make(map[string][]int32, len(partitions))
	for topic, numbers := range partitions {
		numbers = slices.Clone(numbers)
		slices.SortStableFunc(numbers, func(a, b int32) int {
			return cmp.Compare(o.newest[topicPartition{topic, a}], o.newest[topicPartition{topic, b}])
		})
		sorted[topic] = numbers
	}
	topics = slices.Clone(topics)
	slices.SortStableFunc(topics, func(a, b string) int {
		return cmp.Compare(o.newest[topicPartition{a, sorted[a][0]}], o.newest[topicPartition{b, sorted[b][0]}])
	})
	return topics, sorted
}
