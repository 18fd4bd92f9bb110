package demo_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/frazil/frazil/internal/deadletter"
	"github.com/frazil/frazil/internal/kafka"
	"github.com/frazil/frazil/internal/local/demo"
	"github.com/frazil/frazil/internal/local/objectio"
	"github.com/frazil/frazil/internal/local/stack"
)

func TestDeadLettersAreListedByReasonAndShown(t *testing.T) {
	t.Parallel()
	parts, err := stack.StartLake()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(parts.Close)
	part := &kafka.Partition{Source: "main", Topic: "orders", Number: 3}
	for _, batch := range [][]int64{{7, 9}, {8, 9}} { // 9 twice: letters are at least once
		var letters []deadletter.Letter
		for _, offset := range batch {
			l := deadletter.New(&kafka.Record{Part: part, Offset: offset, Key: []byte{0xff}, Value: []byte(`{"id":"x"}`)})
			l.Class, l.Reason, l.At = deadletter.Column, "is no number", time.Unix(offset, 0).UTC()
			letters = append(letters, l)
		}
		text, err := deadletter.Encode(letters)
		if err != nil {
			t.Fatal(err)
		}
		path := deadletter.Path("s3://frazil/dead", time.Unix(0, 0), letters[0].At.Format("05"))
		if err := objectio.New(parts.Objects).WriteFile(path, text); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	if err := demo.Letters(t.Context(), demo.Options{Out: &out}, parts.Store, "s3://frazil/dead", ""); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); !strings.Contains(got, "3  column   is no number  orders/3/7 … orders/3/9") || !strings.Contains(got, "3 record(s) with") {
		t.Errorf("listed:\n%s", got)
	}
	out.Reset()
	if err := demo.Letters(t.Context(), demo.Options{Out: &out}, parts.Store, "s3://frazil/dead", "orders/3/8"); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); !strings.Contains(got, "key      1 bytes, hex ff\nvalue    {\"id\":\"x\"}") {
		t.Errorf("shown:\n%s", got)
	}
	if err := demo.Letters(t.Context(), demo.Options{Out: &out}, parts.Store, "s3://frazil/dead", "orders/3/10"); err == nil {
		t.Error("one that is not there was shown")
	}
}
