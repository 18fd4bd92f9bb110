package envelope_test

import (
	"testing"

	"github.com/frazil/frazil/internal/change"
	"github.com/frazil/frazil/internal/envelope"
	"github.com/frazil/frazil/internal/kafka"
	"github.com/frazil/frazil/internal/wire"
)

// FuzzDecode holds every format to what a change must have, and to one and only one answer for each record.
func FuzzDecode(f *testing.F) {
	for _, path := range []string{
		"testdata/debezium/odd.jsonl", "testdata/debezium/pgplain-wrapper_trap.jsonl", "testdata/debezium_unwrapped/odd.jsonl",
		"testdata/cockroachdb/wrapped.jsonl", "testdata/cockroachdb/enriched.jsonl", "testdata/flat/rows.jsonl",
	} {
		for _, r := range readCapture(f, path) {
			header, _ := r.Header("__op")
			f.Add(r.Key, r.Value, header, uint8(0))
		}
	}
	f.Fuzz(func(t *testing.T, key, value, header []byte, options uint8) {
		rec := &kafka.Record{Key: key, Value: value, Headers: []kafka.Header{{Key: "__op", Value: header}}}
		o := envelope.Options{Wrapper: wire.Wrapper(options % 3), NullValue: envelope.NullRule(options / 3 % 3)}
		for _, format := range envelope.Formats() {
			d := decoder(t, format, o)
			for range 2 { // cold, and with the schemas known
				c, control, err := d.Decode(rec)
				checkAnswer(t, format, c, control, err)
			}
		}
	})
}

func checkAnswer(t *testing.T, format string, c change.Change, control envelope.Control, err error) {
	t.Helper()
	row, named := c.Row().Kind() == wire.Object, c.Key().Kind() > wire.Null || c.Before().Kind() == wire.Object
	if c.Row().Kind() != wire.Absent && !row || c.Before().Kind() != wire.Absent && c.Before().Kind() != wire.Object {
		t.Fatalf("%s: a row or an image before that is no object", format)
	}
	ok := map[change.Op]bool{
		change.OpNone:     (err != nil) != (control != "") && !row && !named,
		change.OpUpsert:   row,
		change.OpDelete:   named && !row && !c.IsInsert(),
		change.OpTruncate: !row && !named,
	}
	if !ok[c.Op()] || c.Op() != change.OpNone && (err != nil || control != "") {
		t.Fatalf("%s: got a change with op %v, row %v, key or before %v, together with control %q and error %v", format, c.Op(), row, named, control, err)
	}
}
