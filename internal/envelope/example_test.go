package envelope_test

import (
	"fmt"

	"github.com/frazil/frazil/internal/envelope"
	"github.com/frazil/frazil/internal/kafka"
)

func ExampleDecoder_Decode() {
	d, err := envelope.New("debezium", envelope.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, rec := range []kafka.Record{
		{Key: []byte(`{"id":7}`), Value: []byte(`{"before":null,"after":{"id":7,"sku":"a-1"},"op":"u"}`)},
		{Key: []byte(`{"id":7}`)},
		{Key: []byte(`{"serverName":"shop"}`), Value: []byte(`{"ts_ms":1709618828300}`)},
	} {
		c, control, err := d.Decode(&rec)
		fmt.Println(c.Op(), string(c.Key().Raw()), string(c.Row().Raw()), control, err)
	}
	// Output:
	// upsert {"id":7} {"id":7,"sku":"a-1"}  <nil>
	// delete {"id":7}   <nil>
	// none   heartbeat <nil>
}
