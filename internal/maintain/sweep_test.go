package maintain_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/frazil/frazil/internal/local/stack"
)

// leave puts an object that nothing references below the table's location.
func (w *world) leave(path string) string {
	w.Helper()
	key := strings.TrimPrefix(w.load().Location(), "s3://"+stack.Bucket+"/") + "/" + path
	w.parts.Objects.Write(stack.Bucket, key, []byte("x"))
	return key
}

func TestOrphansGoWhereThePolicySaysSo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		policy  string
		later   time.Duration
		deletes bool
	}{
		{"{orphans: {}}", week, false},
		{"{orphans: {delete: true}}", time.Hour, false},
		{"{orphans: {delete: true}}", week, true},
	} {
		w := newWorld(t, orders(2, nil), "position", c.policy)
		for id := range 4 {
			w.put(1, id+1)
		}
		w.put(2, 1)
		before := w.parts.Objects.Keys(stack.Bucket, "")
		inside := []string{w.leave("data/day=1/a.parquet"), w.leave("metadata/b.avro"), w.leave("metadata/c.metadata.json")}
		others := []string{w.leave("c.txt"), w.leave("database/d.parquet"), w.leave("other/data/e.parquet")}
		w.runLater(c.later)
		want := slices.Concat(before, others)
		if !c.deletes {
			want = append(want, inside...)
		}
		got := w.parts.Objects.Keys(stack.Bucket, "")
		slices.Sort(want)
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", c.policy, got, want)
		}
		w.wantRows("1=2", "2=1", "3=1", "4=1")
	}
}

func TestAFolderWithAnotherTableInItIsLeftAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, orders(2, nil), "position", "{orphans: {delete: true}}")
	w.put(1, 1)
	key := w.leave("data/inner/metadata/00001-x.metadata.json")
	other := w.leave("data/inner/data/a.parquet")
	m := w.maintain()
	m.Now = func() time.Time { return time.Now().Add(week) }
	if err := m.Run(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "another table") {
		t.Error(err)
	}
	for _, k := range []string{key, other} {
		if _, there := w.parts.Objects.Read(stack.Bucket, k); !there {
			t.Errorf("%s is gone", k)
		}
	}
}
