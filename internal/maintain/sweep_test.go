package maintain_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/frazil/frazil/internal/local/stack"
	"github.com/frazil/frazil/internal/warehouse"
	"github.com/google/uuid"
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

// TestTheFilesOfATableThatWasRenamedStay: its location is still that of its first name, at which another one has been made.
func TestTheFilesOfATableThatWasRenamedStay(t *testing.T) {
	t.Parallel()
	for _, writes := range []bool{false, true} {
		w := newWorld(t, orders(2, nil), "position", "{orphans: {delete: true}}")
		w.put(1, 1)
		open, err := warehouse.Open(t.Context(), "main", w.parts.CatalogConfig())
		w.must(err)
		_, err = open.Catalog().RenameTable(t.Context(), strings.Split(name, "."), []string{"shop", "bills"})
		w.must(err)
		w.must(w.lake.Create(t.Context(), orders(2, nil)))
		if writes {
			w.offset = 0
			w.put(2, 2)
		}
		before := w.parts.Objects.Keys(stack.Bucket, "")
		m := w.maintain()
		m.Now = func() time.Time { return time.Now().Add(week) }
		if err := m.Run(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "another table") {
			t.Error(err)
		}
		if after := w.parts.Objects.Keys(stack.Bucket, ""); !slices.Equal(after, before) {
			t.Errorf("%q stay of %q", after, before)
		}
	}
}

// TestMetadataThatTheLogNamesNoMoreAreOrphans, also compressed ones; those of a table that lacks a UUID are another's.
func TestMetadataThatTheLogNamesNoMoreAreOrphans(t *testing.T) {
	t.Parallel()
	for _, other := range []bool{false, true} {
		w := newWorld(t, orders(2, map[string]string{"write.metadata.previous-versions-max": "1"}), "position", "{orphans: {delete: true}}")
		for id := range 4 {
			w.put(1, id+1)
		}
		id := w.load().Metadata().TableUUID().String()
		if other {
			id = uuid.NewString()
		}
		var text bytes.Buffer
		z := gzip.NewWriter(&text)
		_, err := fmt.Fprintf(z, `{"format-version": 1, "table-uuid": %q}`, id)
		w.must(errors.Join(err, z.Close()))
		for _, path := range []string{"metadata/v1.gz.metadata.json", "metadata/v1.metadata.json.gz"} {
			w.parts.Objects.Write(stack.Bucket, w.leave(path), text.Bytes())
		}
		m := w.maintain()
		m.Now = func() time.Time { return time.Now().Add(week) }
		err = m.Run(t.Context(), nil)
		n := 0
		for _, key := range w.parts.Objects.Keys(stack.Bucket, "") {
			if strings.Contains(key, ".metadata.json") {
				n++
			}
		}
		if (err != nil) != other || !other && n != 2 { // the current one, and that of the log
			t.Errorf("%v; %d files of metadata", err, n)
		}
	}
}
