// Package stage writes an outcome into files that no snapshot references yet: one data file with the new rows
// and one position-delete file with the rows that go.
//
// Files are Parquet, written by arrow-go with settings of our own (field ids, page index, Iceberg's metrics);
// they are built in memory, so that a commit can send all of its objects at once. The package decides bytes
// and statistics; it neither uploads nor commits.
package stage

import (
	"fmt"

	"github.com/apache/iceberg-go"
	"github.com/frazil/frazil/internal/resolve"
	"github.com/google/uuid"
)

// Object is a file to upload.
type Object struct {
	Path string
	Data []byte
}

// Files is what one attempt adds to a table.
type Files struct {
	Data    []iceberg.DataFile
	Deletes []iceberg.DataFile
	Objects []Object
}

// Target is where files go: the table's partition spec, and a path of its own for a file of the given name.
type Target struct {
	Spec iceberg.PartitionSpec
	Path func(name string) string
}

// Write builds the files of an outcome. Every call names its files anew: an attempt whose fate is unknown
// never shares a file with the next (P4).
func Write(o *resolve.Outcome, t Target) (*Files, error) {
	out := &Files{}
	id := uuid.NewString()
	if len(o.Write) > 0 {
		if err := out.addRows(o, t, t.Path(id+".parquet")); err != nil {
			return nil, fmt.Errorf("write data file: %w", err)
		}
	}
	if len(o.Kill) > 0 {
		if err := out.addDeletes(o.Kill, t, t.Path(id+"-deletes.parquet")); err != nil {
			return nil, fmt.Errorf("write position-delete file: %w", err)
		}
	}
	return out, nil
}
