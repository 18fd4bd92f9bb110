package verify_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/frazil/frazil/internal/drain"
	"github.com/frazil/frazil/internal/local/broker"
	"github.com/frazil/frazil/internal/local/lake"
	"github.com/frazil/frazil/internal/local/owner"
	"github.com/frazil/frazil/internal/local/stack"
	"github.com/frazil/frazil/internal/local/verify"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

func TestATableIsComparedWithAReplayOfItsTopics(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	parts, err := stack.Start(false)
	must(t, err)
	t.Cleanup(parts.Close)
	l, err := lake.Open(ctx, parts.CatalogConfig())
	must(t, err)
	must(t, l.Create(ctx, lake.Spec{
		Name: "shop.orders", Key: []string{"id"}, Partition: []string{"bucket(4, id)"},
		Columns: []lake.Column{{Name: "id", Type: "long", Required: true}, {Name: "n", Type: "string"}},
	}))
	client, err := broker.NewClient(parts.Kafka)
	must(t, err)
	t.Cleanup(client.Close)
	must(t, client.CreateTopic(ctx, "orders", 2))
	produce := func(id int, value string) {
		t.Helper()
		r := &kgo.Record{Topic: "orders", Partition: int32(id % 2), Key: fmt.Appendf(nil, `{"id":%d}`, id)}
		if value != "" {
			r.Value = fmt.Appendf(nil, `{"id":%d,"n":%q}`, id, value)
		}
		_, err := client.Produce(ctx, r)
		must(t, err)
	}
	for id := range 40 {
		produce(id, "first")
	}
	c, err := stack.Configure(parts.CatalogConfig(), fmt.Sprintf(`sources: {main: {brokers: [%q]}}
dead_letter: s3://frazil/dead
routes: [{topics: [orders], format: flat, table: "main:shop.orders"}]`, parts.Kafka))
	must(t, err)
	run := func() {
		t.Helper()
		d, err := drain.New(ctx, c, slog.New(slog.DiscardHandler))
		must(t, err)
		must(t, d.Run(ctx, nil))
	}
	run()
	produce(1, "second")
	produce(2, "")
	_, err = client.Produce(ctx, &kgo.Record{Topic: "orders", Partition: 1, Key: []byte(`{"id":3}`), Value: []byte(`{"id":3,"other":1}`)})
	must(t, err)
	run()
	letters, err := parts.Letters("dead")
	must(t, err)
	produce(4, "later than the table is")
	check := func(want bool, texts ...string) {
		t.Helper()
		var out bytes.Buffer
		equal, err := verify.Run(context.WithoutCancel(ctx), verify.Options{Config: c, Table: owner.TableName("shop.orders")}, &out)
		must(t, err)
		for _, text := range append(texts, "main:shop.orders") {
			if equal != want || !strings.Contains(out.String(), text) {
				t.Errorf("equal is %t, and it says %s; want %t and %s", equal, out.String(), want, text)
			}
		}
	}
	check(true, "topic orders, next offset by partition {0: 21, 1: 22}", "39 rows of 2 columns")
	must(t, l.Delete(ctx, "shop.orders", []lake.Row{{"id": "5"}, {"id": "6"}}, lake.Positions))
	must(t, l.Append(ctx, "shop.orders", []lake.Row{{"id": "6", "n": "of another"}, {"id": "7", "n": "first"}}))
	check(false, `missing: id "5"`, "other: id \"6\"\n    n is \"of another\", not \"first\"", `too many: id "7"`)
	again, err := parts.Letters("dead")
	must(t, err)
	if len(letters) != 1 || len(again) != 1 {
		t.Errorf("%d dead letters, and %d after the replay, want one", len(letters), len(again))
	}
	forget(t, parts.Kafka, "orders", 0, 5)
	check(false, "topic orders, partition 0 begins at offset 5: rows that only records before it speak of are missing in the replay", `too many: id "0"`)
}

// forget has a partition begin at an offset, as retention does.
func forget(t *testing.T, address, topic string, partition int32, offset int64) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(address))
	must(t, err)
	defer client.Close()
	offsets := kadm.Offsets{}
	offsets.AddOffset(topic, partition, offset, -1)
	_, err = kadm.NewClient(client).DeleteRecords(t.Context(), offsets)
	must(t, err)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
