package kafka_test

import (
	"testing"

	"github.com/frazil/frazil/internal/kafka"
)

func TestRefNamesTopicPartitionAndOffset(t *testing.T) {
	t.Parallel()
	r := kafka.Record{Part: &kafka.Partition{Source: "main", Topic: "orders", Number: 3}, Offset: 15}
	if got, want := r.Ref().String(), "topic orders, partition 3, offset 15"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := (kafka.Ref{Offset: 7}).String(), "offset 7"; got != want {
		t.Errorf("without a partition: got %q, want %q", got, want)
	}
}

func TestHeaderReturnsTheFirstOfItsName(t *testing.T) {
	t.Parallel()
	r := kafka.Record{Headers: []kafka.Header{{Key: "a"}, {Key: "op", Value: []byte("d")}, {Key: "op", Value: []byte("c")}}}
	if got, ok := r.Header("op"); !ok || string(got) != "d" {
		t.Errorf("op: got %q, %v", got, ok)
	}
	if got, ok := r.Header("a"); !ok || got != nil {
		t.Errorf("a null header: got %v, %v", got, ok)
	}
	if _, ok := r.Header("b"); ok {
		t.Error("found a header that is not there")
	}
}
