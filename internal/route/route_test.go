package route_test

import (
	"strings"
	"testing"

	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/route"
)

func TestOf(t *testing.T) {
	t.Parallel()
	r, err := route.New([]config.Route{{Topics: []string{"orders", `/shop\..*/`}}, {Topics: []string{"/.*orders/", "users"}}, {Topics: []string{"orders"}, Source: "eu"}})
	if err != nil {
		t.Fatal(err)
	}
	for topic, want := range map[string]int{"shop.a": 0, "users": 1, "x.orders": 1} {
		if got, err := r.Of("main", topic); err != nil || got != want {
			t.Errorf("%s: got %d %v, want %d", topic, got, err, want)
		}
	}
	for topic, want := range map[string]string{"orders": "both want it", "shop.orders": "both want it", "myshop.a": "no route", "users2": "no route"} {
		if _, err := r.Of("main", topic); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want an error with %q", topic, err, want)
		}
	}
	if got, err := r.Of("eu", "orders"); err != nil || got != 2 {
		t.Errorf("of another source: got %d %v, want 2", got, err)
	}
}
