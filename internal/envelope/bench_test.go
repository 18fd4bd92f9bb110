package envelope_test

import (
	"path/filepath"
	"testing"

	"github.com/frazil/frazil/internal/envelope"
)

func BenchmarkDecode(b *testing.B) {
	for _, path := range []string{
		"testdata/debezium/pgplain-orders.jsonl", "testdata/debezium/pgschemas-orders.jsonl",
		"testdata/debezium_unwrapped/pgrewrite-orders.jsonl", "testdata/cockroachdb/enriched.jsonl",
	} {
		format := filepath.Base(filepath.Dir(path))
		b.Run("format="+format+"/"+filepath.Base(path), func(b *testing.B) {
			d, records := decoder(b, format, envelope.Options{}), readCapture(b, path)
			size := 0
			for _, r := range records {
				size += len(r.Key) + len(r.Value)
			}
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				for _, r := range records {
					_, _, _ = d.Decode(r) // hand-written captures hold refused records too
				}
			}
			b.ReportMetric(float64(len(records))*float64(b.N)/b.Elapsed().Seconds(), "records/s")
		})
	}
}
