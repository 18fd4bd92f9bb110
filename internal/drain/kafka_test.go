package drain_test

import (
	"fmt"
	"sync"
	"testing"
)

// cuts ends a connection to Kafka.
type cuts struct {
	mu   sync.Mutex
	seen map[string]int // requests, by kind
	kind string         // of whose requests one meets the end of its connection
	skip int            // which one
}

func (c *cuts) cut(kind string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen[kind]++
	return kind == c.kind && c.seen[kind] == c.skip+1
}

// arm begins anew, and returns what was seen until then.
func (c *cuts) arm(kind string, skip int) map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	seen := c.seen
	c.seen, c.kind, c.skip = map[string]int{}, kind, skip
	return seen
}

// A connection to Kafka may end at every request: what the run does not apply the next one does.
func TestNoEndOfAConnectionToKafkaLosesARecord(t *testing.T) {
	t.Parallel()
	const document = "dead_letter: kafka://letters\n" + oneRoute
	play := func(t *testing.T, kind string, skip int) map[string]int {
		t.Helper()
		c := &cuts{seen: map[string]int{}}
		w := newWorld(t, "shop.orders")
		w.topic("orders", 2)
		w.topic("letters", 1)
		w.put("orders", 0, 1, 2)
		w.run(w.drain(w.config(document)))
		w.put("orders", 1, 3, 5)
		w.produce(w.kafka, "orders", 0, `{"id":"?"}`)
		w.put("orders", 0, 4)
		w.parts.Broker.SetFault(c.cut)
		d := inSmallBatches(w.drain(w.config(document)))
		c.arm(kind, skip)
		_ = d.Run(t.Context(), nil) // whatever it says, the table tells
		seen := c.arm("", 0)
		for p, next := range []int64{w.next("shop.orders", "orders", 0), w.next("shop.orders", "orders", 1)} {
			if want := []int64{4, 2}[p]; next > want {
				t.Errorf("the ledger expects %d of partition %d", next, p)
			}
		}
		w.run(d)
		w.wantIDs("shop.orders", "1", "2", "3", "4", "5")
		if got := w.end("letters"); got < 1 {
			t.Errorf("%d dead letters", got)
		}
		return seen
	}
	seen := play(t, "", 0)
	for _, kind := range []string{"Metadata", "ListOffsets", "Fetch", "Produce", "InitProducerID"} {
		if seen[kind] == 0 {
			t.Errorf("a run makes no request %s", kind)
		}
	}
	for kind, n := range seen {
		for skip := range min(n, 3) {
			t.Run(fmt.Sprintf("%s %d", kind, skip), func(t *testing.T) {
				t.Parallel()
				play(t, kind, skip)
			})
		}
	}
}
