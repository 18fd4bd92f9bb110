// Package commit publishes staged files and the ledger as one snapshot of a table, exactly once or not at all.
//
// A commit is an Attempt: objects to upload and one catalog request. Every attempt has a random snapshot id
// and names of its own (P4), so that whether an attempt is in can always be told from whether another
// one with the same records is. Publish ends in one of three ways, and says which: landed, rejected or
// unknown. What follows is the caller's: the package retries nothing.
//
// Not promised: that concurrent writers get on; they conflict, and the loser starts again from a new head.
package commit

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"
	"github.com/frazil/frazil/internal/ledger"
	"github.com/frazil/frazil/internal/locate"
	"github.com/frazil/frazil/internal/stage"
	"github.com/google/uuid"
)

// Base is what an attempt builds on: a table as it was loaded, and the live files of its current snapshot.
type Base struct {
	Table *table.Table
	Live  *locate.Snapshot
}

// DataPath is where a data or delete file of the given name goes.
func (b Base) DataPath(name string) string { return b.path("data", name) }

// path is below the table's own location, whatever its properties say: they may lead to a stranger's bucket (P10).
func (b Base) path(folder, name string) string {
	return strings.TrimRight(b.Table.Location(), "/") + "/" + folder + "/" + name
}

// Attempt is one commit, ready to publish.
type Attempt struct {
	Snapshot int64 // its id
	Objects  []stage.Object

	table        *table.Table
	parent       *int64 // the snapshot that it builds on
	requirements []table.Requirement
	updates      []table.Update
}

// New makes the attempt that adds files and moves the ledger by a delivery, as of now.
func New(base Base, files *stage.Files, l *ledger.Ledger, delivery ledger.Spans, now time.Time) (*Attempt, error) {
	meta := base.Table.Metadata()
	a := &Attempt{Snapshot: rand.Int64(), table: base.Table, Objects: files.Objects}
	sequence := meta.LastSequenceNumber() + 1
	moved, err := l.Advance(delivery, a.Snapshot, sequence)
	if err != nil {
		return nil, err
	}
	if s := meta.CurrentSnapshot(); s != nil {
		a.parent = &s.SnapshotID
	}
	list, err := a.manifestList(base, files, sequence)
	if err != nil {
		return nil, err
	}
	summary := summarize(base.Live, files)
	maps.Copy(summary.Properties, ledger.Summary(moved, delivery))
	schema := base.Table.Schema().ID
	snapshot := &table.Snapshot{
		SnapshotID: a.Snapshot, ParentSnapshotID: a.parent, SequenceNumber: sequence, SchemaID: &schema,
		TimestampMs:  max(now.UnixMilli(), meta.LastUpdatedMillis()), // the spec lets time only go forward
		ManifestList: list, Summary: summary,
	}
	a.requirements = []table.Requirement{
		table.AssertTableUUID(meta.TableUUID()),
		table.AssertRefSnapshotID(table.MainBranch, a.parent),
		table.AssertCurrentSchemaID(schema), // rows coerced for another schema may lack what the records have
		table.AssertDefaultSpecID(meta.DefaultPartitionSpec()),
	}
	a.updates = []table.Update{table.NewSetPropertiesUpdate(moved), table.NewAddSnapshotUpdate(snapshot), a.moveMain(meta)}
	return a, nil
}

// moveMain points main at the attempt's snapshot. The branch's retention has to be sent along, or it is reset.
func (a *Attempt) moveMain(meta table.Metadata) table.Update {
	var main table.SnapshotRef
	for name, ref := range meta.Refs() {
		if name == table.MainBranch {
			main = ref
		}
	}
	return table.NewSetSnapshotRefUpdate(table.MainBranch, a.Snapshot, table.BranchRef,
		orZero(main.MaxRefAgeMs), orZero(main.MaxSnapshotAgeMs), orZero(main.MinSnapshotsToKeep))
}

func orZero[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// manifestList writes the manifests of the added files and the list that names them beside those of the base.
func (a *Attempt) manifestList(base Base, files *stage.Files, sequence int64) (path string, err error) {
	id := uuid.NewString()
	var manifests []iceberg.ManifestFile
	for i, group := range []struct {
		content iceberg.ManifestContent
		files   []iceberg.DataFile
	}{{iceberg.ManifestContentData, files.Data}, {iceberg.ManifestContentDeletes, files.Deletes}} {
		if len(group.files) == 0 {
			continue
		}
		m, err := a.manifest(base.Table, base.path("metadata", fmt.Sprintf("%s-m%d.avro", id, i)), group.content, group.files)
		if err != nil {
			return "", fmt.Errorf("write manifest: %w", err)
		}
		manifests = append(manifests, m)
	}
	for _, m := range base.Live.Manifests {
		if m.HasAddedFiles() || m.HasExistingFiles() { // one that only remembers removed files has no use any more
			manifests = append(manifests, m)
		}
	}
	var list bytes.Buffer
	if err := iceberg.WriteManifestList(base.Table.Metadata().Version(), &list, a.Snapshot, a.parent, &sequence, 0, manifests); err != nil {
		return "", fmt.Errorf("write manifest list: %w", err)
	}
	path = base.path("metadata", fmt.Sprintf("snap-%d-1-%s.avro", a.Snapshot, id))
	a.Objects = append(a.Objects, stage.Object{Path: path, Data: list.Bytes()})
	return path, nil
}

func (a *Attempt) manifest(t *table.Table, path string, content iceberg.ManifestContent, files []iceberg.DataFile) (iceberg.ManifestFile, error) {
	var buf bytes.Buffer
	w, err := iceberg.NewManifestWriter(t.Metadata().Version(), &buf, t.Spec(), t.Schema(), a.Snapshot, iceberg.WithManifestWriterContent(content))
	if err != nil {
		return nil, err
	}
	for _, f := range files { // without a sequence number: the catalog's commit gives it
		if err := w.Add(iceberg.NewManifestEntry(iceberg.EntryStatusADDED, &a.Snapshot, nil, nil, f)); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	a.Objects = append(a.Objects, stage.Object{Path: path, Data: buf.Bytes()})
	return w.ToManifestFile(path, int64(buf.Len()), iceberg.WithManifestFileContent(content))
}
