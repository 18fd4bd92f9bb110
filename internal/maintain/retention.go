package maintain

import (
	"cmp"
	"math"
	"strconv"
	"time"

	"github.com/apache/iceberg-go/table"
	"github.com/frazil/frazil/internal/config"
)

// Iceberg's defaults, and the least age at which a snapshot goes, whatever a table says: readers, and writers that work on an old
// head, are at its files.
const (
	defaultSnapshotAge = 5 * 24 * time.Hour
	leastSnapshotAge   = time.Hour
)

// retention is which snapshots and refs of a table go, as Iceberg's spec wants it (snapshot retention policy): of each branch stay
// the newest ones, by number and age, of each tag its snapshot, of snapshots that no ref leads to the young ones. What a branch
// says itself goes before the policy, and that before the table's properties.
func retention(meta table.Metadata, policy config.Expire, now time.Time) (snapshots []int64, refs []string) {
	r := reader{meta.Properties()}
	age := max(leastSnapshotAge, cmp.Or(policy.OlderThan, r.milliseconds("history.expire.max-snapshot-age-ms", defaultSnapshotAge)))
	keep := cmp.Or(policy.Keep, int(r.number("history.expire.min-snapshots-to-keep", 1)))
	refAge := r.milliseconds("history.expire.max-ref-age-ms", 0)
	young := func(s *table.Snapshot, age time.Duration) bool { return now.Sub(time.UnixMilli(s.TimestampMs)) < age }

	stays, ofRef := map[int64]bool{}, map[int64]bool{}
	for name, ref := range meta.Refs() {
		s := meta.SnapshotByID(ref.SnapshotID)
		most := refAge
		if ref.MaxRefAgeMs != nil {
			most = milliseconds(*ref.MaxRefAgeMs)
		}
		if s == nil || name != table.MainBranch && most > 0 && !young(s, max(most, leastSnapshotAge)) {
			refs = append(refs, name)
			continue
		}
		stays[s.SnapshotID], ofRef[s.SnapshotID] = true, true
		if ref.SnapshotRefType != table.BranchRef {
			continue
		}
		ownAge, ownKeep := age, keep
		if ref.MaxSnapshotAgeMs != nil {
			ownAge = max(leastSnapshotAge, milliseconds(*ref.MaxSnapshotAgeMs))
		}
		if ref.MinSnapshotsToKeep != nil {
			ownKeep = *ref.MinSnapshotsToKeep
		}
		expired := false
		for i, ancestor := range table.AncestorsOf(s.SnapshotID, meta.SnapshotByID) {
			ofRef[ancestor.SnapshotID] = true
			if expired = expired || i >= ownKeep && !young(&ancestor, ownAge); !expired {
				stays[ancestor.SnapshotID] = true
			}
		}
	}
	for _, s := range meta.Snapshots() {
		if !stays[s.SnapshotID] && (ofRef[s.SnapshotID] || !young(&s, age)) {
			snapshots = append(snapshots, s.SnapshotID)
		}
	}
	return snapshots, refs
}

// reader reads properties. One that is no number counts as if it were not there: an engine that reads it says so.
type reader struct{ properties map[string]string }

func (r reader) number(name string, fallback int64) int64 {
	if n, err := strconv.ParseInt(r.properties[name], 10, 64); err == nil && n > 0 {
		return n
	}
	return fallback
}

func (r reader) milliseconds(name string, fallback time.Duration) time.Duration {
	return milliseconds(r.number(name, fallback.Milliseconds()))
}

// milliseconds is a time of so many. Of more than a time can have, which mean never, it is the longest one.
func milliseconds(n int64) time.Duration {
	return time.Duration(min(n, math.MaxInt64/int64(time.Millisecond))) * time.Millisecond
}
