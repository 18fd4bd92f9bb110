package source_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/frazil/frazil/internal/local/source"
	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"
)

func TestEventIsLambdasJSON(t *testing.T) {
	t.Parallel()
	at := time.UnixMilli(1709618828123)
	got, err := source.Event([]*kgo.Record{
		{Topic: "shop.a-b", Partition: 1, Offset: 15, Timestamp: at, Key: []byte(`{"id":1}`), Value: []byte("v"), Headers: []kgo.RecordHeader{{Key: `h"é`, Value: []byte{104, 0, 220}}, {Key: "n"}, {Key: "e", Value: []byte{}}}},
		{Topic: "shop.a-b", Partition: 0, Offset: 3, Timestamp: at, Key: []byte{}, Value: []byte{}},
		{Topic: "shop.a-b", Partition: 1, Offset: 16, Timestamp: at},
	}, source.Origin{Brokers: "b-1:9092,b-2:9092"})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"eventSource":"SelfManagedKafka","bootstrapServers":"b-1:9092,b-2:9092","records":{` +
		`"shop.a-b-1":[` +
		`{"topic":"shop.a-b","partition":1,"offset":15,"timestamp":1709618828123,"timestampType":"CREATE_TIME","key":"eyJpZCI6MX0=","value":"dg==","headers":[{"h\"é":[104,0,-36]},{"n":null},{"e":[]}]},` +
		`{"topic":"shop.a-b","partition":1,"offset":16,"timestamp":1709618828123,"timestampType":"CREATE_TIME","value":null,"headers":[]}],` +
		`"shop.a-b-0":[` +
		`{"topic":"shop.a-b","partition":0,"offset":3,"timestamp":1709618828123,"timestampType":"CREATE_TIME","key":"","value":"","headers":[]}]}}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
	var decoded events.KafkaEvent
	if err := json.Unmarshal(got, &decoded); err != nil {
		t.Errorf("the Lambda library refuses it: %v", err)
	}
}

func TestEventOfAnMSKClusterNamesIt(t *testing.T) {
	t.Parallel()
	arn := "arn:aws:kafka:us-east-1:000000000000:cluster/shop/abc"
	got, err := source.Event(nil, source.Origin{Brokers: "b:9098", ClusterARN: arn})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"eventSource":"aws:kafka","eventSourceArn":"` + arn + `","bootstrapServers":"b:9098","records":{}}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}

func TestEventLimitIsExact(t *testing.T) {
	t.Parallel()
	record := func(value int) []*kgo.Record {
		return []*kgo.Record{
			{Topic: "t", Partition: 0, Timestamp: time.UnixMilli(0), Value: []byte("x")},
			{Topic: "t", Partition: 1, Timestamp: time.UnixMilli(0), Value: bytes.Repeat([]byte("x"), value)},
		}
	}
	empty, err := source.Event(record(0), source.Origin{})
	if err != nil {
		t.Fatal(err)
	}
	// Base64 makes 4 bytes of 3, so pad the rest with the length of the brokers.
	free := source.MaxEvent - len(empty)
	brokers := func(extra int) source.Origin {
		return source.Origin{Brokers: string(bytes.Repeat([]byte("b"), free%4+extra))}
	}
	largest, err := source.Event(record(free/4*3), brokers(0))
	if err != nil || len(largest) != source.MaxEvent {
		t.Errorf("%d bytes, %v", len(largest), err)
	}
	if _, err := source.Event(record(free/4*3), brokers(1)); !errors.Is(err, source.ErrTooLarge) {
		t.Errorf("one byte more: %v", err)
	}
}
