package tablefile_test

import (
	"testing"

	"github.com/frazil/frazil/internal/tablefile"
)

func TestMemoryForgetsWhatWasNotUsedForLongest(t *testing.T) {
	t.Parallel()
	m := tablefile.NewMemory(30)
	memo := func(path string) tablefile.Memo { return tablefile.Memo{What: "n", Path: path} }
	has := func(path string) bool { _, ok := tablefile.Recall[int](m, memo(path)); return ok }
	for i, path := range []string{"a", "b", "c"} {
		m.Keep(memo(path), i, 10, m.Now())
	}
	has("a")
	m.Keep(memo("d"), 3, 10, m.Now())
	if !has("a") || has("b") || !has("c") || !has("d") {
		t.Error("not b went, which was used least")
	}

	since := m.Now()
	has("c")
	if m.Room(25, since) {
		t.Error("there is room for 25 beside c, which is in use")
	}
	if !has("c") {
		t.Error("c went, which is in use")
	}
	if !m.Room(20, since) {
		t.Error("there is no room for 20 beside c")
	}
	m.Keep(memo("e"), 4, 31, m.Now())
	if has("e") {
		t.Error("e is kept, which is over the budget")
	}
	m.Keep(tablefile.Memo{What: "m", Path: "c"}, 5, 1, m.Now())
	m.Forget("c")
	if _, ok := tablefile.Recall[int](m, tablefile.Memo{What: "m", Path: "c"}); ok || has("c") {
		t.Error("something of c is left")
	}
	if !m.Room(30, m.Now()) {
		t.Error("what went still takes room")
	}
}

func TestNoMemoryKeepsNothing(t *testing.T) {
	t.Parallel()
	var m *tablefile.Memory
	m.Keep(tablefile.Memo{Path: "a"}, 1, 1, m.Now())
	if _, ok := tablefile.Recall[int](m, tablefile.Memo{Path: "a"}); ok || m.Room(0, 0) {
		t.Error("something is kept")
	}
	m.Forget("a")
}
