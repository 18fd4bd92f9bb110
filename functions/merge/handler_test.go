package main

import (
	"errors"
	"log/slog"
	"os"
	"strings"
	"testing"
)

// testHandler has a catalog that nothing listens at: an event that gets as far as a table fails.
func testHandler(t *testing.T) *handler {
	t.Helper()
	values := variables()
	values["FRAZIL_CATALOG_URI"] = "http://127.0.0.1:1"
	h, err := newHandler(env(values), noFiles, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestHandlerIsNotMadeOfAWrongConfiguration(t *testing.T) {
	t.Parallel()
	if _, err := newHandler(env(nil), noFiles, slog.New(slog.DiscardHandler)); err == nil {
		t.Error("no error without configuration")
	}
}

func TestInvokeWithoutRecordsNeedsNoCatalog(t *testing.T) {
	t.Parallel()
	event, err := os.ReadFile("../../localstack/events/no-records.json")
	if err != nil {
		t.Fatal(err)
	}
	got, err := testHandler(t).Invoke(t.Context(), event)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"batchItemFailures":[]}`; string(got) != want {
		t.Errorf("answer %s, want %s", got, want)
	}
}

func TestInvokeRefusesWhatIsNoKafkaEvent(t *testing.T) {
	t.Parallel()
	for name, event := range map[string]string{
		"empty":               ``,
		"text":                `kafka`,
		"another service's":   `{"Records":[{"eventSource":"aws:sqs","body":"{}"}]}`,
		"cut off":             `{"eventSource":"aws:kafka","records":{"orders-0":[{"topic":"orders","part`,
		"value not base64":    `{"eventSource":"aws:kafka","records":{"orders-0":[{"topic":"orders","partition":0,"offset":7,"timestamp":1,"value":"{}"}]}}`,
		"record off no topic": `{"eventSource":"aws:kafka","records":{"orders-0":[{"partition":0,"offset":7,"timestamp":1,"value":"e30="}]}}`,
	} {
		_, err := testHandler(t).Invoke(t.Context(), []byte(event))
		var bad *BadEvent
		if !errors.As(err, &bad) || !strings.HasPrefix(err.Error(), "read event: ") {
			t.Errorf("%s: error %v, want a BadEvent", name, err)
		}
	}
}

func TestInvokeNamesTheRecordOfATopicWithoutRoute(t *testing.T) {
	t.Parallel()
	event := `{"eventSource":"aws:kafka","records":{"returns-3":[{"topic":"returns","partition":3,"offset":7,"timestamp":1,"value":"e30="}]}}`
	_, err := testHandler(t).Invoke(t.Context(), []byte(event))
	var failed *DeliveryFailed
	if !errors.As(err, &failed) {
		t.Fatalf("error %v, want a DeliveryFailed", err)
	}
	for _, want := range []string{"returns", "3", "7"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not mention %s", err, want)
		}
	}
}

func TestInvokeFailsWithoutTheCatalog(t *testing.T) {
	t.Parallel()
	event := `{"eventSource":"aws:kafka","records":{"orders-0":[{"topic":"orders","partition":0,"offset":7,"timestamp":1,"value":"eyJpZCI6MX0="}]}}`
	_, err := testHandler(t).Invoke(t.Context(), []byte(event))
	var failed *DeliveryFailed
	if !errors.As(err, &failed) {
		t.Errorf("error %v, want a DeliveryFailed", err)
	}
}
