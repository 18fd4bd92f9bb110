package warehouse_test

import (
	"encoding/json"
	"testing"

	"github.com/frazil/frazil/internal/warehouse"
	"github.com/google/go-cmp/cmp"
)

func TestAnswersToCommitsKeepTheSnapshotsOfRefs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ answer, want string }{
		"two refs": {
			`{"metadata-location": "s3://b/m", "metadata": {"refs": {"main": {"snapshot-id": 3, "type": "branch"}, "old \"]}": {"type": "tag", "snapshot-id": 1}},
				"snapshots": [{"snapshot-id": 1, "summary": {"a": "]}\\"}}, {"snapshot-id": 2}, {"summary": {"snapshot-id": "2"}, "snapshot-id": 3}], "current-snapshot-id": 3}} `,
			`{"metadata-location": "s3://b/m", "metadata": {"refs": {"main": {"snapshot-id": 3, "type": "branch"}, "old \"]}": {"type": "tag", "snapshot-id": 1}},
				"snapshots": [{"snapshot-id": 1, "summary": {"a": "]}\\"}},{"summary": {"snapshot-id": "2"}, "snapshot-id": 3}], "current-snapshot-id": 3}} `,
		},
		"a ref whose snapshot is not there": {`{"metadata":{"refs":{"main":{"snapshot-id":4}},"snapshots":[{"snapshot-id":3}]}}`, ``},
		"no refs":                           {`{"metadata":{"snapshots":[{"snapshot-id":3}]}}`, ``},
		"no snapshots":                      {`{"metadata":{"refs":{"main":{"snapshot-id":4}}}}`, ``},
		"something else":                    {`["metadata", 1]`, ``},
		"nothing":                           {``, ``},
	} {
		want := c.want
		if want == "" {
			want = c.answer
		}
		if diff := cmp.Diff(want, string(warehouse.WithoutOldSnapshots([]byte(c.answer)))); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// Whatever an answer is, nothing of it is lost but snapshots.
func FuzzAnswersToCommits(f *testing.F) {
	f.Add([]byte(`{"metadata":{"refs":{"main":{"snapshot-id":3}},"snapshots":[{"snapshot-id":3},{"snapshot-id":1}]}}`))
	f.Add([]byte(`{"metadata":{"refs":{"main":{"snapshot-id":3}},"snapshots":[{"snap`))
	f.Add([]byte("{ \"metadata\" :\n{\"snapshots\":[ {\"snapshot-id\" : 3 , \"x\":[\"]\",{}]} , 7, {}],\"refs\" : {\"a\": {\"snapshot-id\": 3}}, \"y\": null}, \"z\": -1e9}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		out := warehouse.WithoutOldSnapshots(text)
		var before, after struct {
			Metadata map[string]json.RawMessage `json:"metadata"`
		}
		if json.Unmarshal(text, &before) != nil {
			return
		}
		if err := json.Unmarshal(out, &after); err != nil {
			t.Fatalf("%s became %s: %v", text, out, err)
		}
		delete(before.Metadata, "snapshots")
		delete(after.Metadata, "snapshots")
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("%s became %s: %s", text, out, diff)
		}
	})
}
