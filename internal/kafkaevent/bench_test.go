package kafkaevent_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/frazil/frazil/internal/kafkaevent"
)

// fullEvent is an event of Lambda's 6 MB: six partitions, 2 % null values, values of about 700 bytes.
func fullEvent(headers string) []byte {
	value := base64.StdEncoding.EncodeToString([]byte(`{"before":null,"after":{"id":1,"note":"` + strings.Repeat("x", 650) + `"},"op":"u"}`))
	var b bytes.Buffer
	b.WriteString(`{"eventSource":"aws:kafka","eventSourceArn":"arn:aws:kafka:x","bootstrapServers":"b-1:9098","records":{`)
	for p := range 6 {
		fmt.Fprintf(&b, `"orders-%d":[`, p)
		for n := range 5788 / 6 {
			v := `"` + value + `"`
			if n%50 == 0 {
				v = "null"
			}
			fmt.Fprintf(&b, `{"topic":"orders","partition":%d,"offset":%d,"timestamp":1545084650987,"timestampType":"CREATE_TIME","key":"eyJpZCI6MX0=","value":%s,"headers":[%s]},`, p, n, v, headers)
		}
		b.Truncate(b.Len() - 1)
		b.WriteString(`],`)
	}
	b.Truncate(b.Len() - 1)
	b.WriteString(`}}`)
	return b.Bytes()
}

func BenchmarkScan(b *testing.B) {
	for name, headers := range map[string]string{
		"headers=0": ``,
		"headers=2": `{"__debezium.context.taskId":[48]},{"__debezium.context.connectorName":[112,111,115,116,103,114,101,115,113,108]}`,
	} {
		b.Run(name, func(b *testing.B) {
			payload := fullEvent(headers)
			work := make([]byte, len(payload))
			b.SetBytes(int64(len(payload)))
			b.ReportAllocs()
			for b.Loop() {
				copy(work, payload) // Scan overwrites it
				if _, err := kafkaevent.Scan(work); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
