package maintain

import (
	"context"
	"slices"

	"github.com/apache/iceberg-go/table"
	"github.com/frazil/frazil/internal/locate"
	"github.com/frazil/frazil/internal/tablefile"
)

// equalitySince reports whether equality deletes came to the table after a sequence number.
func (c *compaction) equalitySince(sequence int64) bool {
	for _, e := range c.live.Equality {
		if e.Sequence > sequence {
			return true
		}
	}
	return false
}

// spokenOfElsewhere reports whether equality deletes came since that speak of one partition, and rows of a part are in another
// partition than they were, as those of a past spec are. Such deletes would miss them, or hit rows that they were not meant for.
func (c *compaction) spokenOfElsewhere(p *part) bool {
	if !p.moved() {
		return false
	}
	return slices.ContainsFunc(c.live.Equality, func(e locate.File) bool { return e.Sequence > p.sequence && !c.live.Global(e) })
}

// moved reports whether rows are in another partition than they were.
func (p *part) moved() bool {
	for _, to := range p.Data {
		key := locate.PartitionKey(to.SpecID(), to.Partition())
		if slices.ContainsFunc(p.From, func(f locate.File) bool { return f.PartitionKey() != key }) {
			return true
		}
	}
	return false
}

// prove drops what is not proven to hold on the head: of which a file is gone or has lost other rows than it had, and all if
// the head does not come of the snapshot that it was read from.
func (c *compaction) prove(ctx context.Context) error {
	var holds, spoiled []*part
	meta := c.head.Metadata()
	for _, p := range c.staged {
		ok := p.version == meta.Version() && comesOf(meta, p.snapshot)
		if ok && meta.CurrentSnapshot().SnapshotID != p.snapshot {
			var err error
			if ok, err = c.untouched(ctx, p); err != nil {
				return err
			}
		}
		if ok {
			holds = append(holds, p)
		} else {
			spoiled = append(spoiled, p)
		}
	}
	c.tally.spoiled += len(spoiled)
	c.drop(ctx, spoiled)
	c.staged = holds
	return nil
}

// comesOf reports whether a snapshot is main's head or one of its ancestors, which the catalog may have forgotten.
func comesOf(meta table.Metadata, snapshot int64) bool {
	head := meta.CurrentSnapshot()
	if head == nil {
		return false
	}
	for _, s := range table.AncestorsOf(head.SnapshotID, meta.SnapshotByID) {
		if s.SnapshotID == snapshot {
			return true
		}
	}
	return false
}

// untouched reports whether the files that a part was written from are still there, and no row of them has been deleted by
// position since. What equality deletes say since the new files let them say too, by their sequence number, where they are in the partition that the rows were in.
func (c *compaction) untouched(ctx context.Context, p *part) (bool, error) {
	var from []*file
	for _, f := range p.From {
		from = append(from, &file{File: f})
	}
	now := locateAll(c.live, from)
	if len(now) != len(from) || c.spokenOfElsewhere(p) {
		return false, nil
	}
	deleted, err := c.live.ByPosition(ctx, c.store, now)
	if err != nil {
		return false, err
	}
	for _, f := range now {
		if !same(p.Deleted[f.FilePath()].Positions, deleted[f.FilePath()].Positions) {
			return false, nil
		}
	}
	return true, nil
}

func same(a, b *tablefile.Positions) bool {
	if a == nil || b == nil {
		return (a == nil || a.IsEmpty()) && (b == nil || b.IsEmpty())
	}
	if a.Cardinality() != b.Cardinality() {
		return false
	}
	for pos := range a.Positions() {
		if !b.Contains(pos) {
			return false
		}
	}
	return true
}
