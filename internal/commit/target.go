package commit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"
	"github.com/frazil/frazil/internal/ledger"
	"github.com/frazil/frazil/internal/locate"
	"github.com/frazil/frazil/internal/stage"
	"github.com/frazil/frazil/internal/tablefile"
)

// Base is what an attempt builds on: a table as it was loaded, and the live files of its current snapshot.
type Base struct {
	Table *table.Table
	Live  *locate.Snapshot
}

// path is below the table's own location, whatever its properties say: they may lead to a stranger's bucket (P10).
func (b Base) path(folder, name string) string {
	return strings.TrimRight(b.Table.Location(), "/") + "/" + folder + "/" + name
}

// Source is what package locate has to know of a table to read its current snapshot.
func Source(t *table.Table, defaults tablefile.Defaults) (locate.Table, error) {
	m := t.Metadata()
	names, err := tablefile.ReadNames(m.Properties())
	out := locate.Table{Schemas: []*iceberg.Schema{m.CurrentSchema()}, Specs: m.PartitionSpecs(), Defaults: defaults, Names: names}
	if s := m.CurrentSnapshot(); s != nil {
		out.ManifestList = s.ManifestList
	}
	past := slices.Clone(m.Schemas())
	slices.SortFunc(past, func(a, b *iceberg.Schema) int { return cmp.Compare(b.ID, a.ID) })
	out.Schemas = append(out.Schemas, past...)
	return out, err
}

// Ledger is what holds of the table's ledger on its main branch (P1).
func Ledger(t *table.Table) (*ledger.Ledger, error) {
	written, err := ledger.Read(t.Properties())
	if err != nil {
		return nil, err
	}
	return written.On(History(t))
}

// History is the table's main branch, as far as its catalog lists it.
func History(t *table.Table) ledger.History {
	main := ledger.History{Complete: true}
	if head := t.CurrentSnapshot(); head != nil {
		var ancestors []table.Snapshot
		ancestors, main.Complete = table.AncestorsOfChecked(head.SnapshotID, t.Metadata().SnapshotByID)
		for _, s := range ancestors {
			one := ledger.Snapshot{ID: s.SnapshotID, Sequence: s.SequenceNumber}
			if s.Summary != nil {
				one.Summary, one.Replaces = s.Summary.Properties, s.Summary.Operation == table.OpReplace
			}
			main.Snapshots = append(main.Snapshots, one)
		}
	}
	return main
}

// Target is what package stage has to know of the table to write files for it. Key are the field ids of the columns that
// rows are found by.
func (b Base) Target(key []int) (stage.Target, error) {
	m := b.Table.Metadata()
	t := stage.Target{
		Version: m.Version(), Schema: m.CurrentSchema(), Spec: m.PartitionSpec(), Specs: m.PartitionSpecs(),
		Global: global(m), Path: func(name string) string { return b.path("data", name) },
	}
	order := m.SortOrder()
	t.Sort.ID = order.OrderID()
	for _, f := range order.Fields() {
		t.Sort.Fields = append(t.Sort.Fields, stage.OrderField{
			SourceID: f.SourceID(), Transform: f.Transform, Descending: f.Direction == table.SortDESC, NullsLast: f.NullOrder == table.NullsLast,
		})
	}
	var err error
	t.Layout, err = stage.NewLayout(m.Properties(), t.Schema, key)
	return t, err
}

// Writable refuses tables that frazil would write wrongly.
func Writable(m table.Metadata) error {
	if v := m.Version(); v != 2 && v != 3 {
		return fmt.Errorf("its format version is %d; only 2 and 3 are written (its owner can upgrade it)", v)
	}
	return nil
}

// global is the table's spec without partitions, or one that it could have.
func global(m table.Metadata) iceberg.PartitionSpec {
	next := 0
	for _, s := range m.PartitionSpecs() {
		if s.IsUnpartitioned() {
			return s
		}
		next = max(next, s.ID()+1)
	}
	return iceberg.NewPartitionSpecID(next)
}

// spec finds a partition spec of the table, or one that an attempt adds.
func (a *Attempt) spec(id int32) (iceberg.PartitionSpec, error) {
	m := a.table.Metadata()
	if s := m.PartitionSpecByID(int(id)); s != nil {
		return *s, nil
	}
	if s := global(m); s.ID() == int(id) {
		return s, nil
	}
	return iceberg.PartitionSpec{}, fmt.Errorf("the table has no partition spec %d", id)
}

// schemaOf is a schema that has the columns that a spec was made of. They may be gone since; without their types the
// partitions of files of the past could not be written down again.
func (a *Attempt) schemaOf(spec iceberg.PartitionSpec) *iceberg.Schema {
	m := a.table.Metadata()
	fields := m.CurrentSchema().Fields()
	for _, f := range spec.Fields() {
		if _, ok := m.CurrentSchema().FindFieldByID(f.SourceID()); ok {
			continue
		}
		for _, past := range m.Schemas() {
			if dropped, ok := past.FindFieldByID(f.SourceID()); ok {
				dropped.Name = fmt.Sprintf("dropped_%d", dropped.ID) // its name may be another column's by now
				dropped.Required = false
				fields = append(fields, dropped)
				break
			}
		}
	}
	if len(fields) == len(m.CurrentSchema().Fields()) {
		return m.CurrentSchema()
	}
	return iceberg.NewSchema(m.CurrentSchema().ID, fields...)
}
