package commit

import (
	"strconv"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"
	"github.com/frazil/frazil/internal/locate"
	"github.com/frazil/frazil/internal/stage"
)

// summarize counts what a snapshot changes and what the table then has. The totals are counted from the live files, not
// carried on from the summary before: other writers leave them out, or get them wrong.
func summarize(live *locate.Snapshot, files *stage.Files) *table.Summary {
	s := &table.Summary{Operation: operation(files), Properties: iceberg.Properties{}}
	had := tally(live.Data)
	had.plus(tally(live.Deletes))
	had.plus(tally(live.Equality))
	added := tally(files.Data)
	added.plus(tally(files.Deletes))
	removed := tally(files.Removed)

	some := func(name string, n int64) {
		if n > 0 {
			s.Properties[name] = strconv.FormatInt(n, 10)
		}
	}
	some("added-data-files", added.data.files)
	some("added-records", added.data.rows)
	some("deleted-data-files", removed.data.files)
	some("deleted-records", removed.data.rows)
	for verb, t := range map[string]tallies{"added": added, "removed": removed} {
		some(verb+"-delete-files", t.positions.files+t.vectors.files+t.equality.files)
		some(verb+"-position-delete-files", t.positions.files)
		some(verb+"-dvs", t.vectors.files)
		some(verb+"-position-deletes", t.positions.rows+t.vectors.rows)
		some(verb+"-equality-delete-files", t.equality.files)
		some(verb+"-equality-deletes", t.equality.rows)
		some(verb+"-files-size", t.bytes())
	}

	for what, n := range map[string]int{
		"by-position": files.Care.ByPosition, "rewritten": files.Care.Rewritten, "merged": files.Care.Merged, "dead": files.Care.Dead,
	} {
		some("frazil.files-"+what, int64(n))
	}

	total := func(name string, of func(tallies) int64) {
		s.Properties["total-"+name] = strconv.FormatInt(of(had)+of(added)-of(removed), 10)
	}
	total("data-files", func(t tallies) int64 { return t.data.files })
	total("records", func(t tallies) int64 { return t.data.rows })
	total("delete-files", func(t tallies) int64 { return t.positions.files + t.vectors.files + t.equality.files })
	total("position-deletes", func(t tallies) int64 { return t.positions.rows + t.vectors.rows })
	total("equality-deletes", func(t tallies) int64 { return t.equality.rows })
	total("files-size", tallies.bytes)
	return s
}

func operation(files *stage.Files) table.Operation {
	switch {
	case files.Replaces:
		return table.OpReplace
	case len(files.Deletes)+len(files.Removed) == 0:
		return table.OpAppend
	case len(files.Data) == 0:
		return table.OpDelete
	}
	return table.OpOverwrite
}

type counts struct{ files, rows, bytes int64 }

// tallies are counts by kind of file.
type tallies struct{ data, positions, vectors, equality counts }

func tally[F iceberg.DataFile](files []F) (t tallies) {
	for _, f := range files {
		c := &t.data
		switch {
		case f.ContentType() == iceberg.EntryContentEqDeletes:
			c = &t.equality
		case f.FileFormat() == iceberg.PuffinFile:
			c = &t.vectors
		case f.ContentType() == iceberg.EntryContentPosDeletes:
			c = &t.positions
		}
		c.files++
		c.rows += f.Count()
		c.bytes += size(f)
	}
	return t
}

// size is the bytes that a file takes up: a deletion vector is a part of one.
func size(f iceberg.DataFile) int64 {
	if n := f.ContentSizeInBytes(); n != nil {
		return *n
	}
	return f.FileSizeBytes()
}

func (t *tallies) plus(o tallies) {
	t.data.plus(o.data)
	t.positions.plus(o.positions)
	t.vectors.plus(o.vectors)
	t.equality.plus(o.equality)
}

func (c *counts) plus(o counts) {
	c.files += o.files
	c.rows += o.rows
	c.bytes += o.bytes
}

func (t tallies) bytes() int64 {
	return t.data.bytes + t.positions.bytes + t.vectors.bytes + t.equality.bytes
}
