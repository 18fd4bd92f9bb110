package demo

import (
	"maps"
	"testing"

	"github.com/frazil/frazil/internal/local/scenario"
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
