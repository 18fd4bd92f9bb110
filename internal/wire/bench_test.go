package wire_test

import (
	"encoding/json"
	"testing"

	"github.com/frazil/frazil/internal/wire"
)

const debeziumValue = `{"before":null,"after":{"id":1,"customer":"ann","amount":"A+g=","note":"first","created":"2024-01-01T00:00:00.000000Z"},"source":{"version":"3.6.1.Final","connector":"postgresql","name":"pg","ts_ms":1795992686391,"snapshot":"false","db":"shop","sequence":"[null,\"27965584\"]","ts_us":1795992686391042,"ts_ns":1795992686391042000,"schema":"public","table":"orders","txId":784,"lsn":27965584,"xmin":null,"origin":null,"origin_lsn":null},"transaction":null,"op":"c","ts_ms":1795992688257,"ts_us":1795992688257460,"ts_ns":1795992688257460619}`

func BenchmarkJSON(b *testing.B) {
	value := []byte(debeziumValue)
	var d wire.Doc
	b.SetBytes(int64(len(value)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := d.JSON(value); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkJSONValid is the yardstick: encoding/json checking the same document and keeping nothing.
func BenchmarkJSONValid(b *testing.B) {
	value := []byte(debeziumValue)
	b.SetBytes(int64(len(value)))
	for b.Loop() {
		if !json.Valid(value) {
			b.Fatal("not JSON")
		}
	}
}

func BenchmarkConnect(b *testing.B) {
	value := []byte(`{"schema":` + orderSchema + `,"payload":` + debeziumValue + `}`)
	var d wire.Doc
	b.SetBytes(int64(len(value)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := d.Connect(value, wire.Auto); err != nil {
			b.Fatal(err)
		}
	}
}
