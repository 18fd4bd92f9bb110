// Package stage writes an outcome into files that no snapshot references yet: data files with the new rows, and what
// takes the old ones away.
//
// Files are built in memory, so that a commit can send all of its objects at once. Data files are Parquet, written
// by arrow-go as the table's properties say, with Iceberg's metrics; they go to the partitions of the table's current
// spec, in its sort order. The package decides bytes and statistics; it neither uploads nor commits. What it reads of
// the table is the files that it replaces.
package stage

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/iceberg-go"
	"github.com/frazil/frazil/internal/locate"
	"github.com/frazil/frazil/internal/resolve"
	"github.com/frazil/frazil/internal/rows"
	"github.com/frazil/frazil/internal/tablefile"
	"github.com/google/uuid"
)

// Encoding is how rows are taken away.
type Encoding string

// The encodings, by the names of a route's deletes.
const (
	Position Encoding = "position" // position-delete files; deletion vectors from format version 3 on
	Rewrite  Encoding = "rewrite"  // data files that lose rows are written again without them
	Auto     Encoding = "auto"     // one of these two for each data file, as is cheaper
	Equality Encoding = "equality" // files of the keys that go; nothing is looked up
)

// Target is a table to write for.
type Target struct {
	Version int // format version: 2 or 3
	Schema  *iceberg.Schema
	Spec    iceberg.PartitionSpec   // of new data files
	Specs   []iceberg.PartitionSpec // all of the table
	Sort    Order
	Layout  Layout
	// Global is a spec without partitions: an equality delete that is written by it speaks of the whole table.
	Global iceberg.PartitionSpec
	// Path is where a data or delete file of the given name goes.
	Path func(name string) string
}

// spec finds a spec that a live file was written by.
func (t Target) spec(id int32) (iceberg.PartitionSpec, error) {
	for _, s := range t.Specs {
		if s.ID() == int(id) {
			return s, nil
		}
	}
	return iceberg.PartitionSpec{}, fmt.Errorf("the table has no partition spec %d", id)
}

// Object is a file to upload.
type Object struct {
	Path string
	Data []byte
}

// Files is what one attempt changes about a table's files.
type Files struct {
	Data    []iceberg.DataFile // of the table's current spec
	Deletes []iceberg.DataFile // of any
	Removed []locate.File
	Objects []Object
	// Fingerprints are those of the rows of the data files, by path.
	Fingerprints map[string][]rows.Fingerprint
	Care         Tally

	// Replaces says that the table has the same rows afterwards. Sequences are then those of data files that keep an older
	// sequence number than the commit's, by path: newer equality deletes speak of their rows.
	Replaces  bool
	Sequences map[string]int64
	// Gather has the table's small manifests become few.
	Gather bool
}

// Write builds the files of an outcome against the snapshot that it was settled with. Every call names its files anew: an
// attempt whose fate is unknown never shares a file with the next (P4).
func Write(ctx context.Context, store tablefile.Store, live *locate.Snapshot, o *resolve.Outcome, e Encoding, t Target) (*Files, error) {
	avoid := map[string]bool{}
	var bad *unreadable
	for {
		w := newWriter(ctx, store, live, o, t)
		if w.avoid = avoid; bad != nil {
			w.Care.Neglected = careFailed(bad)
		}
		err := w.write(e)
		if err == nil {
			return &w.Files, nil
		}
		if !errors.As(err, &bad) {
			return nil, err
		}
		avoid[bad.path] = true
	}
}

func (w *writer) write(e Encoding) error {
	w.Fingerprints = map[string][]rows.Fingerprint{}
	p := newPile(w.outcome)
	err := w.lay(p)
	switch {
	case err != nil:
	case e == Equality: // without care: it would have to read what nothing else is read for, dead rows and who deleted them
		err = w.addKeys()
	default:
		err = w.takeAway(p, e)
	}
	if err != nil {
		return err
	}
	if err := w.addRows(p); err != nil {
		return fmt.Errorf("write data file: %w", err)
	}
	return nil
}

// writer builds the files of one attempt.
type writer struct {
	Files
	ctx     context.Context
	store   tablefile.Store
	live    *locate.Snapshot
	outcome *resolve.Outcome
	target  Target
	id      string // of the attempt, in the names of its files
	named   int
	avoid   map[string]bool // paths of files that could not be read: care leaves them
	gone    map[string]bool // paths of the files that are taken out of the table
}

func newWriter(ctx context.Context, store tablefile.Store, live *locate.Snapshot, o *resolve.Outcome, t Target) *writer {
	if slices.ContainsFunc(t.Sort.Fields, func(f OrderField) bool { return unknown(f.Transform) }) {
		t.Sort = Order{} // no promise to anybody: rows stay as they come, and files claim no order
	}
	return &writer{ctx: ctx, store: store, live: live, outcome: o, target: t, id: uuid.NewString()}
}

// name makes a name for a file in the given folder of a partition.
func (w *writer) name(folder, kind string) string {
	w.named++
	return w.target.Path(fmt.Sprintf("%s%05d-%s%s", folder, w.named-1, w.id, kind))
}
