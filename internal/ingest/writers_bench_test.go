package ingest_test

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/frazil/frazil/internal/kafka"
	"github.com/frazil/frazil/internal/local/catalog"
)

// BenchmarkWriters has processes commit to one table as fast as they can, each ten rows of a partition of its own, on a
// catalog that takes a while to answer a commit: what concurrency costs. An op is one delivery.
func BenchmarkWriters(b *testing.B) {
	for _, latency := range []time.Duration{0, 300 * time.Millisecond} {
		for _, writers := range []int{1, 4, 16} {
			b.Run(fmt.Sprintf("%d-at-%dms", writers, latency.Milliseconds()), func(b *testing.B) { benchmarkWriters(b, writers, latency) })
		}
	}
}

func benchmarkWriters(b *testing.B, writers int, latency time.Duration) {
	w := newWorld(b, shopOrders, flatRoute)
	w.catalog.SetFault(func(op catalog.Op, r *http.Request) catalog.Fault {
		if op == catalog.OpCommitTable {
			select {
			case <-time.After(latency):
			case <-r.Context().Done():
			}
		}
		return catalog.Fault{}
	})
	deliveries := max(b.N, 2*writers)
	todo := make(chan struct{}, deliveries)
	for range deliveries {
		todo <- struct{}{}
	}
	close(todo)
	before := w.commits()
	var mu sync.Mutex
	var took []time.Duration
	var wg sync.WaitGroup
	b.ResetTimer()
	for n := range writers {
		p, part, offset := w.pipeline(), partition(int32(n)), int64(0)
		wg.Go(func() {
			for range todo {
				var records []kafka.Record
				for range 10 {
					records = append(records, flat(part, offset, fmt.Sprintf(`{"id":%d,"n":1}`, int64(n)*1_000_000+offset%1000)))
					offset++
				}
				start := time.Now()
				if err := deliver(b.Context(), p, records...); err != nil {
					b.Error(err)
				}
				mu.Lock()
				took = append(took, time.Since(start))
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	slices.Sort(took)
	b.ReportMetric(float64(deliveries)/b.Elapsed().Seconds(), "commits/s")
	b.ReportMetric(float64(w.commits()-before-deliveries)/float64(deliveries), "conflicts/commit")
	b.ReportMetric(took[len(took)/2].Seconds()*1e3, "p50-ms")
	b.ReportMetric(took[len(took)*99/100].Seconds()*1e3, "p99-ms")
}
