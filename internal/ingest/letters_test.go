package ingest_test

import (
	"context"
	"testing"
	"time"

	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/kafka"
	"github.com/frazil/frazil/internal/local/broker"
)

// Letters are acknowledged before the snapshot that passes over their records: without the topic there is no snapshot.
// The environment says as whom the process runs, so the test cannot run beside others.
func TestDeadLettersGoToATopicBeforeTheSnapshot(t *testing.T) {
	t.Setenv("AWS_REGION", "eu-west-1")
	w := newWorld(t, shopOrders, flatRoute)
	b, err := broker.Start(broker.Options{})
	w.must(err)
	t.Cleanup(b.Close)
	admin, err := broker.NewClient(b.Addr())
	w.must(err)
	t.Cleanup(admin.Close)
	w.config.Sources = map[string]config.Source{kafka.MainSource: {Brokers: []string{b.Addr()}, Auth: config.SourceAuth{Type: "none"}}}
	w.config.DeadLetter = config.DeadLetter{To: "kafka://dead", MaxRatio: 1, MinRecords: 100}
	good, bad := flat(partition(0), 0, `{"id":1,"n":1}`), flat(partition(0), 1, `{"id":2,"n":"two"}`)

	if err := deliver(t.Context(), w.pipeline(), good, bad); err == nil {
		t.Error("without the topic the delivery went through")
	}
	w.wantRows()
	w.must(admin.CreateTopic(t.Context(), "dead", 1))
	w.must(deliver(t.Context(), w.pipeline(), good, bad))
	w.wantRows("id=1 n=1")
	if ends, err := admin.EndOffsets(t.Context(), "dead"); err != nil || ends[0] != 1 {
		t.Errorf("the topic ends at %v, %v", ends, err)
	}

	b.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := deliver(ctx, w.pipeline(), flat(partition(0), 2, `{"id":3,"n":3}`), flat(partition(0), 3, `{"id":4,"n":"four"}`)); err == nil || ctx.Err() == nil {
		t.Errorf("without a broker: %v", err)
	}
	w.wantRows("id=1 n=1")
}
