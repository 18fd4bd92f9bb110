package commit

import (
	"strconv"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"
	"github.com/frazil/frazil/internal/locate"
	"github.com/frazil/frazil/internal/stage"
)

// summarize counts what a snapshot adds and what the table then has. The totals are counted from the live
// files, not carried on from the summary before: other writers leave them out, or get them wrong.
func summarize(live *locate.Snapshot, files *stage.Files) *table.Summary {
	s := &table.Summary{Operation: operation(files), Properties: iceberg.Properties{}}
	added := func(name string, n int64) {
		if n > 0 {
			s.Properties["added-"+name] = strconv.FormatInt(n, 10)
		}
	}
	data, deletes := count(files.Data), count(files.Deletes)
	added("data-files", data.files)
	added("records", data.rows)
	added("delete-files", deletes.files)
	added("position-delete-files", deletes.files)
	added("position-deletes", deletes.rows)
	added("files-size", data.bytes+deletes.bytes)

	hadData, hadDeletes, hadEquality := count(live.Data), count(live.Deletes), count(live.Equality)
	total := func(name string, n int64) { s.Properties["total-"+name] = strconv.FormatInt(n, 10) }
	total("data-files", hadData.files+data.files)
	total("records", hadData.rows+data.rows)
	total("delete-files", hadDeletes.files+hadEquality.files+deletes.files)
	total("position-deletes", hadDeletes.rows+deletes.rows)
	total("equality-deletes", hadEquality.rows)
	total("files-size", hadData.bytes+hadDeletes.bytes+hadEquality.bytes+data.bytes+deletes.bytes)
	return s
}

func operation(files *stage.Files) table.Operation {
	switch {
	case len(files.Deletes) == 0:
		return table.OpAppend
	case len(files.Data) == 0:
		return table.OpDelete
	}
	return table.OpOverwrite
}

type counts struct{ files, rows, bytes int64 }

func count[F iceberg.DataFile](files []F) (c counts) {
	for _, f := range files {
		c.files++
		c.rows += f.Count()
		c.bytes += f.FileSizeBytes()
	}
	return c
}
