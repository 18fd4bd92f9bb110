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
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"
	"github.com/frazil/frazil/internal/ledger"
	"github.com/frazil/frazil/internal/stage"
)

// Attempt is one commit, ready to publish.
type Attempt struct {
	Snapshot int64 // its id
	Objects  []stage.Object
	Care     stage.Tally // of the table's data files
	// Refused: it is proven that the attempt never will land; what it uploaded is deleted.
	Refused bool

	table        *table.Table
	parent       *int64 // the snapshot that it builds on
	requirements []table.Requirement
	updates      []table.Update
}

// New makes the attempt that adds files and moves the ledger, as of now.
func New(base Base, files *stage.Files, move ledger.Move, now time.Time) (*Attempt, error) {
	meta := base.Table.Metadata()
	a := &Attempt{Snapshot: rand.Int64(), table: base.Table, Objects: files.Objects, Care: files.Care}
	sequence := meta.LastSequenceNumber() + 1
	properties := move.Properties(a.Snapshot, sequence)
	if s := meta.CurrentSnapshot(); s != nil {
		a.parent = &s.SnapshotID
	}
	list, nextRow, err := a.manifestList(base, files, sequence)
	if err != nil {
		return nil, err
	}
	summary := summarize(base.Live, files)
	maps.Copy(summary.Properties, move.Summary(properties))
	schema := base.Table.Schema().ID
	snapshot := &table.Snapshot{
		SnapshotID: a.Snapshot, ParentSnapshotID: a.parent, SequenceNumber: sequence, SchemaID: &schema,
		TimestampMs:  max(now.UnixMilli(), meta.LastUpdatedMillis()), // the spec lets time only go forward
		ManifestList: list, Summary: summary,
	}
	if nextRow != nil {
		first := meta.NextRowID()
		added := *nextRow - first
		snapshot.FirstRowID, snapshot.AddedRows = &first, &added
	}
	a.requirements = []table.Requirement{
		table.AssertTableUUID(meta.TableUUID()),
		table.AssertRefSnapshotID(table.MainBranch, a.parent),
		table.AssertCurrentSchemaID(schema), // rows coerced for another schema may lack what the records have
		table.AssertDefaultSpecID(meta.DefaultPartitionSpec()),
	}
	if spec := a.addSpec(files); spec != nil {
		a.updates = spec
		if last := meta.LastPartitionSpecID(); last != nil {
			a.requirements = append(a.requirements, table.AssertLastAssignedPartitionID(*last))
		}
	}
	if len(properties) > 0 {
		a.updates = append(a.updates, table.NewSetPropertiesUpdate(properties))
	}
	a.updates = append(a.updates, table.NewAddSnapshotUpdate(snapshot), a.moveMain(meta))
	return a, nil
}

// Note has the attempt set a property of the table that says nothing of its rows, or remove one whose text is empty.
func (a *Attempt) Note(property, text string) {
	if text == "" {
		a.updates = append(a.updates, table.NewRemovePropertiesUpdate([]string{property}))
		return
	}
	a.updates = append(a.updates, table.NewSetPropertiesUpdate(iceberg.Properties{property: text}))
}

// addSpec adds the spec without partitions that equality deletes are written by, to a table that has none.
func (a *Attempt) addSpec(files *stage.Files) []table.Update {
	spec := global(a.table.Metadata())
	if a.table.Metadata().PartitionSpecByID(spec.ID()) != nil {
		return nil
	}
	if !slices.ContainsFunc(files.Deletes, func(f iceberg.DataFile) bool { return int(f.SpecID()) == spec.ID() }) {
		return nil
	}
	return []table.Update{table.NewAddPartitionSpecUpdate(&spec, false)}
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
