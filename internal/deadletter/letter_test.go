package deadletter_test

import (
	"testing"
	"time"

	"github.com/frazil/frazil/internal/deadletter"
	"github.com/frazil/frazil/internal/kafka"
	"github.com/google/go-cmp/cmp"
)

func TestLettersKeepTheRecordsBytes(t *testing.T) {
	t.Parallel()
	part := &kafka.Partition{Source: "main", Topic: "orders", Number: 3}
	records := []kafka.Record{
		{Part: part, Offset: 7, Time: 1_700_000_000_123, Key: []byte("{\"id\":1}"), Value: []byte{0, 0xff, '\n', '"'},
			Headers: []kafka.Header{{Key: "h", Value: nil}, {Key: "h", Value: []byte{}}, {Key: "ü", Value: []byte("x")}}},
		{Part: part, Offset: 8, Time: -1, Key: nil, Value: []byte{}},
	}
	var letters []deadletter.Letter
	for i := range records {
		l := deadletter.New(&records[i])
		l.Table, l.Reason, l.Column, l.At = "main:shop.orders", "is no number", "n", time.Unix(1_700_000_001, 0).UTC()
		letters = append(letters, l)
	}
	text, err := deadletter.Encode(letters)
	if err != nil {
		t.Fatal(err)
	}
	back, err := deadletter.Decode(text)
	if diff := cmp.Diff(letters, back); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if back[1].Key != nil || back[1].Value == nil || back[0].Headers[0].Value != nil || back[0].Headers[1].Value == nil {
		t.Error("null and empty bytes are one")
	}
	if _, err := deadletter.Decode([]byte(`{"topic":"a","color":"red"}`)); err == nil {
		t.Error("a letter of another kind was read")
	}
}

func TestEachDayHasItsFolder(t *testing.T) {
	t.Parallel()
	at := time.Date(2024, 3, 5, 23, 59, 59, 0, time.FixedZone("", 3600))
	if got := deadletter.Path("s3://lake/dead/", at, "4711"); got != "s3://lake/dead/2024/03/05/225959-4711.jsonl" {
		t.Error(got)
	}
}
