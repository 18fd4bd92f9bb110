package main

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/frazil/frazil/internal/local/lake"
	"github.com/frazil/frazil/internal/local/scenario"
	"github.com/frazil/frazil/internal/local/stack"
)

func env(values map[string]string) (out []string) {
	for name, value := range values {
		out = append(out, name+"="+value)
	}
	return out
}

func noFiles(string) ([]byte, error) { return nil, fs.ErrNotExist }

// testHandler has a catalog that nothing listens at: an event that gets as far as a table fails.
func testHandler(t *testing.T) *handler {
	t.Helper()
	h, err := newHandler(env(map[string]string{
		"FRAZIL_CATALOG_URI": "http://127.0.0.1:1", "FRAZIL_TOPICS": "orders", "FRAZIL_TABLE": "shop.orders", "FRAZIL_FORMAT": "flat",
	}), noFiles, slog.New(slog.DiscardHandler))
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

// Each partition's first record that is not done, as the event source mapping wants it named. The store is where the
// environment says, so the test cannot run beside others.
func TestInvokeReportsWherePartitionsEnd(t *testing.T) {
	parts, err := stack.StartLake()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(parts.Close)
	for _, variable := range parts.Env() {
		name, value, _ := strings.Cut(variable, "=")
		t.Setenv(name, value)
	}
	l, err := lake.Open(t.Context(), parts.CatalogConfig())
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Create(t.Context(), lake.Spec{Name: "shop.orders", Columns: []lake.Column{{Name: "id", Type: "long", Required: true}}, Key: []string{"id"}}); err != nil {
		t.Fatal(err)
	}
	document, err := scenario.Document(parts.CatalogConfig(), "")
	if err != nil {
		t.Fatal(err)
	}
	document += "report_failures: true\n"
	document = strings.Replace(document, "routes: []", "routes: [{topics: [orders], format: flat, table: \"main:shop.orders\"}]", 1)
	h, err := newHandler(env(map[string]string{"FRAZIL_CONFIG": document}), noFiles, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	event := `{"eventSource":"aws:kafka","records":{
		"orders-0":[{"topic":"orders","partition":0,"offset":7,"timestamp":1,"value":"eyJpZCI6MX0="},{"topic":"orders","partition":0,"offset":8,"timestamp":1,"value":"e30="},{"topic":"orders","partition":0,"offset":9,"timestamp":1,"value":"e30="}],
		"orders-12":[{"topic":"orders","partition":12,"offset":0,"timestamp":1,"value":"eyJpZCI6Mn0="}]}}`
	got, err := h.Invoke(t.Context(), []byte(event))
	if want := `{"batchItemFailures":[{"itemIdentifier":{"partition":"orders-0","offset":8}}]}`; err != nil || string(got) != want {
		t.Errorf("answer %s, %v, want %s", got, err, want)
	}
	if _, rows, err := l.Rows(t.Context(), "shop.orders"); err != nil || len(rows) != 2 {
		t.Errorf("%d rows, %v", len(rows), err)
	}
}
