package kafkaevent_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/frazil/frazil/internal/kafka"
	"github.com/frazil/frazil/internal/kafkaevent"
	"github.com/frazil/frazil/internal/wire"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// FuzzScan compares Scan with encoding/json: what Scan accepts, encoding/json reads to the same records. What only
// encoding/json accepts is what Scan refuses on purpose.
func FuzzScan(f *testing.F) {
	for _, seed := range []string{
		`{"topic":"t","partition":0,"offset":15,"timestamp":1,"key":"YQ==","value":null,"headers":[{"a":[1,-2]},{"b":null}]}`,
		`{"topic":"\u0074","partition":1,"offset":3},{"topic":"t","partition":1,"offset":2,"value":""}`,
		`{"topic":"t","partition":0,"offset":0,"value":"\/\u002f8="}`,
	} {
		f.Add(event(seed))
	}
	f.Add([]byte(`{"x":[1.5e3,true,{}],"records":{"a":[],"b":[]}}`))
	f.Fuzz(func(t *testing.T, payload []byte) {
		want, wantErr := oracle(bytes.Clone(payload))
		strict := wantErr == nil && extraStrict(payload)
		e, err := kafkaevent.Scan(payload)
		if err != nil {
			if wantErr == nil && !strict {
				t.Fatalf("refused, though encoding/json reads it: %v", err)
			}
			return
		}
		if wantErr != nil {
			t.Fatalf("accepted, though encoding/json says %v", wantErr)
		}
		if len(e.Records)+len(want) > 0 {
			sameRecords(t, e.Records, want)
		}
	})
}

// extraStrict reports what Scan refuses beyond encoding/json: what wire does too, some spellings, and depth.
func extraStrict(payload []byte) bool {
	var d wire.Doc
	_, err := d.JSON(payload)
	return err != nil || bytes.Contains(payload, []byte(`-0`)) ||
		bytes.Count(payload, []byte("["))+bytes.Count(payload, []byte("{")) > 60
}

func sameRecords(t *testing.T, got, want []kafka.Record) {
	t.Helper()
	byPlace := cmpopts.SortSlices(func(a, b kafka.Record) bool {
		if a.Part.Topic != b.Part.Topic {
			return a.Part.Topic < b.Part.Topic
		}
		if a.Part.Number != b.Part.Number {
			return a.Part.Number < b.Part.Number
		}
		if a.Offset != b.Offset {
			return a.Offset < b.Offset
		}
		return string(a.Key)+"\x00"+string(a.Value) < string(b.Key)+"\x00"+string(b.Value)
	})
	if diff := cmp.Diff(got, want, byPlace, cmpopts.IgnoreFields(kafka.Record{}, "Headers"), cmpopts.IgnoreFields(kafka.Partition{}, "Cluster")); diff != "" {
		t.Fatal(diff)
	}
}

// oracle reads an event slowly. Objects are read token by token where a name may occur twice.
func oracle(payload []byte) ([]kafka.Record, error) {
	if !json.Valid(payload) {
		return nil, errors.New("not JSON")
	}
	dec := json.NewDecoder(bytes.NewReader(payload))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("no object")
	}
	var all []kafka.Record
	found := false
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, err
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return nil, err
		}
		switch name {
		case "records":
			found = true
			list, err := oracleLists(raw)
			if err != nil {
				return nil, err
			}
			all = append(all, list...)
		case "eventSource", "eventSourceArn":
			var s *string
			if err := json.Unmarshal(raw, &s); err != nil {
				return nil, err
			}
		}
	}
	if !found {
		return nil, errors.New("no records")
	}
	return all, nil
}

func oracleLists(raw []byte) (all []kafka.Record, err error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("records is no object")
	}
	for dec.More() {
		if _, err := dec.Token(); err != nil {
			return nil, err
		}
		var list *[]map[string]json.RawMessage
		if err := dec.Decode(&list); err != nil || list == nil {
			return nil, errors.New("no list")
		}
		for _, m := range *list {
			r, err := oracleRecord(m)
			if err != nil {
				return nil, err
			}
			all = append(all, r)
		}
	}
	return all, nil
}

func oracleRecord(m map[string]json.RawMessage) (r kafka.Record, err error) {
	var topic *string
	var number *int32
	var offset *int64
	var headers []map[string]*[]*int16
	time := int64(-1)
	for name, into := range map[string]any{"topic": &topic, "partition": &number, "offset": &offset, "timestamp": &time, "headers": &headers} {
		raw, ok := m[name]
		if !ok {
			continue
		}
		if name == "timestamp" && string(raw) == "null" {
			return r, errors.New("no time")
		}
		if err := json.Unmarshal(raw, into); err != nil {
			return r, err
		}
	}
	if topic == nil || *topic == "" || number == nil || *number < 0 || offset == nil || *offset < 0 {
		return r, errors.New("no place")
	}
	for _, h := range headers {
		if h == nil {
			return r, errors.New("null for a header")
		}
		for _, list := range h {
			if list == nil {
				continue
			}
			for _, n := range *list {
				if n == nil || *n < -128 || *n > 255 {
					return r, errors.New("no byte")
				}
			}
		}
	}
	r = kafka.Record{Part: &kafka.Partition{Source: "main", Topic: *topic, Number: *number}, Offset: *offset, Time: time}
	if r.Key, err = oracleBytes(m["key"]); err == nil {
		r.Value, err = oracleBytes(m["value"])
	}
	return r, err
}

func oracleBytes(raw json.RawMessage) ([]byte, error) {
	if raw == nil || string(raw) == "null" {
		return nil, nil
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil, err
	}
	if strings.ContainsAny(s, "\r\n") {
		return nil, errors.New("line break")
	}
	b, err := base64.StdEncoding.DecodeString(s)
	if err == nil && b == nil {
		b = []byte{}
	}
	return b, err
}
