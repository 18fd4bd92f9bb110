// Package tablefile reads the files that make up a table: columns of Parquet files as typed parts, whole rows in the
// shape of today's schema, and deletion vectors.
//
// It reads through ranged requests, so that a file costs what is asked of it. Columns are found by Iceberg's field ids,
// never by name: what was renamed or moved is found, what was added later has its initial default. Which file is
// live, and which row of it, is none of its business.
package tablefile

import (
	"context"

	"github.com/apache/iceberg-go"
	"github.com/frazil/frazil/internal/rows"
)

// Store reads the table's files. Both methods may be called concurrently.
type Store interface {
	// Read returns a whole object.
	Read(ctx context.Context, path string) ([]byte, error)
	// ReadRange returns n bytes from offset off, or an error; never less.
	ReadRange(ctx context.Context, path string, off, n int64) ([]byte, error)
}

// File is a data or delete file of a snapshot.
type File struct {
	iceberg.DataFile
	// Sequence is its data sequence number, which says what deletes apply to what data.
	Sequence int64
	// Names are for the columns of a file without field ids.
	Names Names
	// Identities are the partition fields that have a column's values as they are, by the ids of the columns.
	Identities map[int]int
}

// Defaults are the initial defaults of fields by id: what rows have in files that are older than the field.
type Defaults map[int]*rows.Cell

// Row lineage (Iceberg spec, reserved field ids): the id that a row keeps for life, and the sequence number of the
// commit that changed it last.
const (
	FieldRowID       = 2147483540
	FieldLastUpdated = 2147483539
)

// Requests is how many files one call reads at a time.
const Requests = 32
