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
		m.Keep(memo(path), i, 10)
	}
	has("a")
	m.Keep(memo("d"), 3, 10)
	if !has("a") || has("b") || !has("c") || !has("d") {
		t.Error("not b went, which was used least")
	}

	since := m.Now()
	has("c")
	if m.Reserve(25, since) {
		t.Error("there is room for 25 beside c, which is in use")
	}
	if !has("c") {
		t.Error("c went, which is in use")
	}
	if !m.Reserve(20, since) {
		t.Error("there is no room for 20 beside c")
	}
	m.Release(20)
	m.Keep(memo("e"), 4, 31)
	if has("e") {
		t.Error("e is kept, which is over the budget")
	}
	m.Keep(tablefile.Memo{What: "m", Path: "c"}, 5, 1)
	m.Forget("c")
	if _, ok := tablefile.Recall[int](m, tablefile.Memo{What: "m", Path: "c"}); ok || has("c") {
		t.Error("something of c is left")
	}
	if !m.Reserve(30, m.Now()) {
		t.Error("what went still takes room")
	}
}

func TestWhatIsReservedIsTaken(t *testing.T) {
	t.Parallel()
	m := tablefile.NewMemory(30)
	a, b, c := tablefile.Memo{Path: "a"}, tablefile.Memo{Path: "b"}, tablefile.Memo{Path: "c"}
	has := func(name tablefile.Memo) bool { _, ok := tablefile.Recall[int](m, name); return ok }
	m.Keep(a, 1, 10)
	if m.Reserve(31, m.Now()); !has(a) {
		t.Error("a went for what never fits")
	}
	if !m.Reserve(20, m.Now()) || m.Reserve(11, m.Now()) {
		t.Error("20 and 11 of 30 are reserved at once, or 20 are not")
	}
	m.Fill(b, 2, 20)
	m.Keep(c, 3, 10)
	if has(a) || !has(b) || !has(c) {
		t.Error("b and c are not what is kept in the end")
	}
	m.Fill(b, 2, 0) // again, as a concurrent reader of the same object does
	m.Forget("b")
	if !m.Reserve(20, m.Now()) {
		t.Error("there is no room for 20 beside c")
	}
}

func TestNoMemoryKeepsNothing(t *testing.T) {
	t.Parallel()
	var m *tablefile.Memory
	m.Keep(tablefile.Memo{Path: "a"}, 1, 1)
	if _, ok := tablefile.Recall[int](m, tablefile.Memo{Path: "a"}); ok || m.Reserve(0, 0) {
		t.Error("something is kept")
	}
	m.Forget("a")
}
