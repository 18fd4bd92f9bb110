package conformance

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/apache/iceberg-go"
	icecatalog "github.com/apache/iceberg-go/catalog"
	"github.com/apache/iceberg-go/catalog/rest"
	"github.com/apache/iceberg-go/table"
	"github.com/frazil/frazil/internal/local/lake"
	"github.com/google/uuid"
)

// requests are the checks of single requests, as package commit sends them.
var requests = []check{
	{"a table that is not there is said not to be", func(b *bench) error {
		if _, err := b.table(2); err != nil { // the namespace is there
			return err
		}
		if _, err := b.load("conformance.nothing"); !errors.Is(err, icecatalog.ErrNoSuchTable) {
			return answered("it", err)
		}
		return nil
	}},
	{"a table of version 2 is made as one", func(b *bench) error { return b.keepsVersion(2) }},
	{"a table of version 3 is made as one", func(b *bench) error { return b.keepsVersion(3) }},
	{"namespaces have levels", func(b *bench) error {
		name := fmt.Sprintf("conformance.inner.t%d", serial.Add(1))
		if err := b.lake.Create(b.ctx, lake.Spec{Name: "conformance.outer", Columns: columns}); err != nil && !errors.Is(err, icecatalog.ErrTableAlreadyExists) {
			return err
		}
		if err := b.lake.Create(b.ctx, lake.Spec{Name: name, Columns: columns}); err != nil {
			return err
		}
		_, err := b.load(name)
		return err
	}},
	{"one request moves main and sets properties, version 2", func(b *bench) error { return b.movesBoth(2) }},
	{"one request moves main and sets properties, version 3", func(b *bench) error { return b.movesBoth(3) }},
	{"a requirement that does not hold is a conflict", (*bench).requirements},
	{"of two commits on one snapshot the second is a conflict", func(b *bench) error {
		name, head, err := b.filled(2)
		if err != nil {
			return err
		}
		first, second := child(head), child(head)
		if err := b.send(head, first); err != nil {
			return err
		}
		if err := b.send(head, second); !errors.Is(err, rest.ErrCommitFailed) {
			return answered("the second", err)
		}
		return b.headIs(name, first.SnapshotID)
	}},
	{"a request that is repeated is refused", func(b *bench) error {
		name, head, s, err := b.grown(2)
		if err != nil {
			return err
		}
		if err := b.send(head, s); !isAny(err, rest.ErrCommitFailed, rest.ErrBadRequest) {
			return answered("the second", err)
		}
		return b.headIs(name, s.SnapshotID)
	}},
	{"a snapshot id is taken once", func(b *bench) error {
		name, _, s, err := b.grown(2)
		if err != nil {
			return err
		}
		head, err := b.load(name)
		if err != nil {
			return err
		}
		again := child(head)
		again.SnapshotID = s.SnapshotID
		if err := b.send(head, again); !isAny(err, rest.ErrCommitFailed, rest.ErrBadRequest) {
			return answered("the second", err)
		}
		return nil
	}},
	{"snapshots stay until they are expired", (*bench).keepsHistory},
	{"a tag and main's retention stay", (*bench).keepsRefs},
	{"deliveries go on behind another writer, version 2", func(b *bench) error { return b.goesOn(2) }},
	{"deliveries go on behind another writer, version 3", func(b *bench) error { return b.goesOn(3) }},
	{"main can be taken back", func(b *bench) error {
		name, head, _, err := b.grown(2)
		if err != nil {
			return err
		}
		if err := b.lake.Rollback(b.ctx, name, 1); err != nil {
			return err
		}
		return b.headIs(name, head.CurrentSnapshot().SnapshotID)
	}},
	{"a schema can be changed", func(b *bench) error {
		name, _, err := b.filled(2)
		if err != nil {
			return err
		}
		if err := b.lake.Alter(b.ctx, name, append(slices.Clone(columns), lake.Column{Name: "note", Type: "string"})); err != nil {
			return err
		}
		head, err := b.load(name)
		if err != nil {
			return err
		}
		return differ("the number of columns", head.Schema().NumFields(), 3)
	}},
}

func (b *bench) keepsVersion(version int) error {
	name, err := b.table(version)
	if err != nil {
		return err
	}
	head, err := b.load(name)
	if err != nil {
		return err
	}
	return differ("the version", head.Metadata().Version(), version)
}

// child is a snapshot on the head that changes nothing.
func child(head *table.Table) *table.Snapshot {
	s := *head.CurrentSnapshot()
	parent := s.SnapshotID
	s.SnapshotID, s.ParentSnapshotID = rand.Int64(), &parent
	s.SequenceNumber = head.Metadata().LastSequenceNumber() + 1
	s.TimestampMs = head.Metadata().LastUpdatedMillis() + 1
	s.Summary = &table.Summary{Operation: table.OpAppend, Properties: iceberg.Properties{}}
	if head.Metadata().Version() >= 3 {
		first, none := head.Metadata().NextRowID(), int64(0)
		s.FirstRowID, s.AddedRows = &first, &none
	}
	return &s
}

// send commits a snapshot on the head as package commit does.
func (b *bench) send(head *table.Table, s *table.Snapshot) error {
	parent := head.CurrentSnapshot().SnapshotID
	_, err := b.client.Commit(b.ctx, head,
		[]table.Requirement{table.AssertTableUUID(head.Metadata().TableUUID()), table.AssertRefSnapshotID(table.MainBranch, &parent)},
		[]table.Update{
			table.NewSetPropertiesUpdate(iceberg.Properties{"frazil.conformance": fmt.Sprint(s.SnapshotID)}),
			table.NewAddSnapshotUpdate(s),
			table.NewSetSnapshotRefUpdate(table.MainBranch, s.SnapshotID, table.BranchRef, 0, 0, 0),
		})
	return err
}

// goesOn has another writer commit between deliveries to one process and to new ones.
func (b *bench) goesOn(version int) error {
	name, err := b.table(version)
	if err != nil {
		return err
	}
	same := b.process(name)
	for id := range int64(4) {
		if id == 1 || id == 3 {
			if err := b.lake.Append(b.ctx, name, []lake.Row{{"id": fmt.Sprint(10 + id)}}); err != nil {
				return err
			}
		}
		p := same
		if id == 2 {
			p = b.process(name)
		}
		if err := give(b.ctx, p, 0, id); err != nil {
			return err
		}
	}
	for _, id := range []int64{11, 13} { // the other writer's
		if err := deliver(b.ctx, same, 1, id, id); err != nil {
			return err
		}
	}
	return b.has(name, 3, 11, 13)
}

// grown makes a table and commits one more snapshot; head is the state before that.
func (b *bench) grown(version int) (name string, head *table.Table, s *table.Snapshot, err error) {
	if name, head, err = b.filled(version); err != nil {
		return "", nil, nil, err
	}
	s = child(head)
	return name, head, s, b.send(head, s)
}

func (b *bench) headIs(name string, id int64) error {
	head, err := b.load(name)
	if err != nil {
		return err
	}
	return differ("the head", head.CurrentSnapshot().SnapshotID, id)
}

func (b *bench) movesBoth(version int) error {
	name, _, s, err := b.grown(version)
	if err != nil {
		return err
	}
	head, err := b.load(name)
	if err != nil {
		return err
	}
	if err := differ("the property", head.Properties()["frazil.conformance"], fmt.Sprint(s.SnapshotID)); err != nil {
		return err
	}
	return b.headIs(name, s.SnapshotID)
}

// requirements has each of those that package commit makes fail alone.
func (b *bench) requirements() error {
	name, head, err := b.filled(2)
	if err != nil {
		return err
	}
	wrong := int64(42)
	for what, r := range map[string]table.Requirement{
		"table uuid":                 table.AssertTableUUID(uuid.New()),
		"snapshot of main":           table.AssertRefSnapshotID(table.MainBranch, &wrong),
		"no snapshot of main":        table.AssertRefSnapshotID(table.MainBranch, nil),
		"current schema":             table.AssertCurrentSchemaID(99),
		"default spec":               table.AssertDefaultSpecID(99),
		"last assigned partition id": table.AssertLastAssignedPartitionID(1),
	} {
		_, err := b.client.Commit(b.ctx, head, []table.Requirement{r}, []table.Update{table.NewSetPropertiesUpdate(iceberg.Properties{"frazil.wrong": what})})
		if !errors.Is(err, rest.ErrCommitFailed) {
			return answered(what, err)
		}
	}
	if head, err = b.load(name); err != nil {
		return err
	}
	return differ("what a refused request set", head.Properties()["frazil.wrong"], "")
}

func (b *bench) keepsHistory() error {
	name, head, err := b.filled(2)
	if err != nil {
		return err
	}
	const more = 3
	for range more {
		if err := b.send(head, child(head)); err != nil {
			return err
		}
		if head, err = b.load(name); err != nil {
			return err
		}
	}
	if err := differ("the number of snapshots", len(head.Metadata().Snapshots()), 1+more); err != nil {
		return err
	}
	if err := b.lake.Expire(b.ctx, name, 1); err != nil {
		return err
	}
	if head, err = b.load(name); err != nil {
		return err
	}
	if err := differ("the number of snapshots after expiry", len(head.Metadata().Snapshots()), 1); err != nil {
		return err
	}
	return differ("the property after expiry", head.Properties()["frazil.conformance"], fmt.Sprint(head.CurrentSnapshot().SnapshotID))
}

func (b *bench) keepsRefs() error {
	name, head, err := b.filled(2)
	if err != nil {
		return err
	}
	first := head.CurrentSnapshot().SnapshotID
	_, err = b.client.Commit(b.ctx, head, nil, []table.Update{
		table.NewSetSnapshotRefUpdate("month-end", first, table.TagRef, 0, 0, 0),
		table.NewSetSnapshotRefUpdate(table.MainBranch, first, table.BranchRef, 9_000_000, 8_000_000, 7),
	})
	if err != nil {
		return err
	}
	if err := give(b.ctx, b.process(name), 2, 2); err != nil {
		return err
	}
	if head, err = b.load(name); err != nil {
		return err
	}
	refs := maps.Collect(head.Metadata().Refs())
	keep, snapshots, ref := 7, int64(8_000_000), int64(9_000_000)
	if main := refs[table.MainBranch]; !main.Equals(table.SnapshotRef{
		SnapshotID: head.CurrentSnapshot().SnapshotID, SnapshotRefType: table.BranchRef, MinSnapshotsToKeep: &keep, MaxSnapshotAgeMs: &snapshots, MaxRefAgeMs: &ref,
	}) {
		return fmt.Errorf("main is now %+v", main)
	}
	if tag := refs["month-end"]; !tag.Equals(table.SnapshotRef{SnapshotID: first, SnapshotRefType: table.TagRef}) {
		return fmt.Errorf("the tag is now %+v", tag)
	}
	return nil
}
