package demo

import (
	"maps"
	"testing"

	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/local/scenario"
	"github.com/frazil/frazil/internal/local/stack"
)

func TestTopicsAreThoseOfRecordsAndRoutes(t *testing.T) {
	t.Parallel()
	s, err := scenario.Parse([]byte(`
name: topics
tables: [{name: shop.orders, schema: [{name: id, type: long, required: true}], key: [id]}]
config:
  routes: [{topics: [orders, late, "/shop\\..*/"], format: flat, table: "main:shop.orders"}]
batches: [{records: [{topic: orders, partition: 2, offset: 0, key: '{"id":1}'}]}]
expect: {result: ok}
`))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int32{"orders": 3, "late": 1}
	if got := (Seed{Scenario: s}).topics(); !maps.Equal(got, want) {
		t.Errorf("topics %v, want %v", got, want)
	}
}

// What reads Kafka itself takes the document of Up as it is.
func TestTheDocumentSaysWhereTheBrokerIs(t *testing.T) {
	t.Parallel()
	parse := func(more string) Seed {
		s, err := scenario.Parse([]byte(`
name: document
tables: [{name: shop.orders, schema: [{name: id, type: long, required: true}], key: [id]}]
config:
  routes: [{topics: [orders], format: flat, table: "main:shop.orders"}]
` + more + `
expect: {result: ok}
`))
		if err != nil {
			t.Fatal(err)
		}
		return Seed{Scenario: s}
	}
	for more, want := range map[string]string{"": stack.KafkaAddr, `  sources: {main: {brokers: ["b:1"]}}`: "b:1"} {
		text, err := (&world{Endpoints: stack.Fixed(), seeds: []Seed{parse(more)}}).config()
		if err != nil {
			t.Fatal(err)
		}
		c, err := config.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Sources["main"].Brokers; len(got) != 1 || got[0] != want {
			t.Errorf("brokers %v, want %s", got, want)
		}
	}
}
