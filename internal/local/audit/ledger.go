package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"github.com/apache/iceberg-go/table"
)

const prefix = "frazil.ledger.main."

// topic is the text form of a topic's ledger, as the reference documents it.
type topic struct {
	Snapshot   int64   `json:"snapshot"`
	Sequence   int64   `json:"sequence"`
	Partitions []int32 `json:"partitions"`
	Next       []int64 `json:"next"`
}

// Ledger is the next offset of each topic-partition.
func (a *Auditor) Ledger(ctx context.Context) (map[string]int64, error) {
	t, err := a.lake.Load(ctx, a.table)
	if err != nil {
		return nil, err
	}
	return a.ledger(t.Metadata(), &Report{})
}

// ledger reads the table's ledger, and follows its copies from snapshot to snapshot: each of frazil's moves some partition
// forward and none back, or its records were applied before.
func (a *Auditor) ledger(meta table.Metadata, r *Report) (map[string]int64, error) {
	now, topics, err := marks(meta.Properties())
	if err != nil {
		return nil, err
	}
	for name, t := range topics {
		if s := meta.SnapshotByID(t.Snapshot); s != nil && s.SequenceNumber != t.Sequence {
			r.add("the ledger of %s names snapshot %d with the sequence number %d, which has %d", name, t.Snapshot, t.Sequence, s.SequenceNumber)
		}
	}
	at := map[string]int64{}
	line := main(meta)
	expired := len(line) > 0 && line[0].ParentSnapshotID != nil
	for _, s := range line {
		if !byFrazil(&s) {
			continue
		}
		stays := s.Summary.Operation == table.OpReplace // the same rows, and the same ledger
		copied, _, err := marks(s.Summary.Properties)
		if err != nil {
			return nil, fmt.Errorf("snapshot %d: %w", s.SnapshotID, err)
		}
		forward := false
		for p, next := range copied {
			if next < at[p] {
				r.add("snapshot %d moves the ledger of %s back, from %d to %d", s.SnapshotID, p, at[p], next)
			}
			// A commit copies the topics that it moved, one of the same rows all topics: those that moved one not met yet may be gone.
			was, met := at[p]
			forward = forward || next > was && (met || !stays || !expired)
		}
		switch {
		case forward && stays && len(at) > 0:
			r.add("snapshot %d replaces files and moves the ledger", s.SnapshotID)
		case !forward && !stays:
			r.add("snapshot %d applies what was applied", s.SnapshotID)
		}
		maps.Copy(at, copied)
	}
	if a.RolledBack { // then the copies hold, until the next commit
		return at, nil
	}
	for p, next := range at {
		if now[p] != next {
			r.add("the ledger expects %d next of %s, the newest copy says %d", now[p], p, next)
		}
	}
	return now, nil
}

func marks(properties map[string]string) (next map[string]int64, topics map[string]topic, err error) {
	next, topics = map[string]int64{}, map[string]topic{}
	for key, text := range properties {
		name, ok := strings.CutPrefix(key, prefix)
		if !ok {
			continue
		}
		var t topic
		if err := json.Unmarshal([]byte(text), &t); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", key, err)
		}
		topics[name] = t
		for i, p := range t.Partitions {
			next[fmt.Sprintf("%s-%d", name, p)] = t.Next[i]
		}
	}
	return next, topics, nil
}
