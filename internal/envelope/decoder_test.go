package envelope_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/frazil/frazil/internal/change"
	"github.com/frazil/frazil/internal/envelope"
	"github.com/frazil/frazil/internal/kafka"
	"github.com/frazil/frazil/internal/wire"
)

func decoder(t testing.TB, format string, o envelope.Options) *envelope.Decoder {
	t.Helper()
	d, err := envelope.New(format, o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestNewListsTheFormatsItKnows(t *testing.T) {
	t.Parallel()
	names := envelope.Formats()
	if !slices.IsSorted(names) || len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Errorf("the names are not a sorted set: %v", names)
	}
	_, err := envelope.New("nobody's", envelope.Options{})
	if err == nil {
		t.Fatal("an unknown format has a decoder")
	}
	for _, name := range names {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("the error does not list %s: %v", name, err)
		}
		decoder(t, name, envelope.Options{})
	}
}

func TestNullFormsFollowTheNullRule(t *testing.T) {
	t.Parallel()
	forms := [][]byte{nil, []byte(`null`), []byte(` null `), []byte(`{"schema":null,"payload":null}`), []byte(`{"schema":{"type":"struct","fields":[],"optional":true},"payload":null}`)}
	for _, format := range envelope.Formats() {
		for _, value := range forms {
			rec := &kafka.Record{Key: []byte(`{"id":1}`), Value: value}
			c, control, err := decoder(t, format, envelope.Options{}).Decode(rec)
			if c.Op() != change.OpDelete || string(c.Key().Field("id").Text()) != "1" || control != "" || err != nil {
				t.Errorf("%s, delete, %s: got %v, %q, %v", format, value, c.Op(), control, err)
			}
			c, control, err = decoder(t, format, envelope.Options{NullValue: envelope.NullIgnore}).Decode(rec)
			if c.Op() != change.OpNone || control != envelope.NullIgnored || err != nil {
				t.Errorf("%s, ignore, %s: got %v, %q, %v", format, value, c.Op(), control, err)
			}
			if _, _, err = decoder(t, format, envelope.Options{NullValue: envelope.NullError}).Decode(rec); err == nil {
				t.Errorf("%s, error, %s: got none", format, value)
			}
		}
	}
}

func TestNullWithoutKeyIsControlUnderEveryRule(t *testing.T) {
	t.Parallel()
	for _, rule := range []envelope.NullRule{envelope.NullDelete, envelope.NullIgnore, envelope.NullError} {
		for _, key := range [][]byte{nil, []byte(`null`), []byte(`{"schema":null,"payload":null}`)} {
			_, control, err := decoder(t, "debezium", envelope.Options{NullValue: rule}).Decode(&kafka.Record{Key: key})
			if control != envelope.TombstoneWithoutKey || err != nil {
				t.Errorf("rule %d, key %s: got %q, %v", rule, key, control, err)
			}
		}
	}
}

func TestWrapperIsTheRoutesChoice(t *testing.T) {
	t.Parallel()
	row := &kafka.Record{Key: []byte(`{"schema":"s","payload":"p"}`), Value: []byte(`{"schema":null,"payload":{"id":1}}`)}
	for w, want := range map[wire.Wrapper]string{
		wire.Auto: `{"id":1}`, wire.SchemaPayload: `{"id":1}`, wire.None: `{"schema":null,"payload":{"id":1}}`,
	} {
		c, _, err := decoder(t, "flat", envelope.Options{Wrapper: w}).Decode(row)
		if err != nil || string(c.Row().Raw()) != want || string(c.Key().Raw()) != string(row.Key) {
			t.Errorf("wrapper %d: got row %s, key %s, %v", w, c.Row().Raw(), c.Key().Raw(), err)
		}
	}
	if _, _, err := decoder(t, "flat", envelope.Options{Wrapper: wire.SchemaPayload}).Decode(&kafka.Record{Value: []byte(`{"id":1}`)}); err == nil {
		t.Error("schema_payload took a value without it")
	}
}

func TestErrorsShowNoContent(t *testing.T) {
	t.Parallel()
	for _, format := range envelope.Formats() {
		for _, value := range []string{
			`{"op":"secret","after":{"a":"secret"}}`, `{"__op":"secret"}`, `{"__deleted":"secret"}`, `{"secret":1,"secret":2}`, `"secret"`, `secret`,
			`{"secret":`, `{"schema":{"type":"struct","fields":"secret"},"payload":"secret"}`, `{"after":"secret"}`,
		} {
			_, _, err := decoder(t, format, envelope.Options{}).Decode(&kafka.Record{Value: []byte(value)})
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("%s, %s: %v", format, value, err)
			}
		}
	}
}

func TestDecodeAllocatesNothingOnceWarm(t *testing.T) {
	for format, path := range map[string]string{
		"debezium": "testdata/debezium/pgplain-orders.jsonl", "debezium_unwrapped": "testdata/debezium_unwrapped/pgrewrite-orders.jsonl",
	} {
		d, records := decoder(t, format, envelope.Options{}), readCapture(t, path)
		n := testing.AllocsPerRun(10, func() {
			for _, r := range records {
				if _, _, err := d.Decode(r); err != nil {
					t.Fatal(err)
				}
			}
		})
		if n != 0 {
			t.Errorf("%s: got %v allocations", format, n)
		}
	}
}
