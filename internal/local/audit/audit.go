package audit

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/apache/iceberg-go/table"
	"github.com/frazil/frazil/internal/local/lake"
	"github.com/frazil/frazil/internal/local/objectio"
	"github.com/frazil/frazil/internal/local/objects"
)

// Auditor looks at one table.
type Auditor struct {
	RolledBack bool // the table was rolled back: snapshots may be none of main's

	lake  *lake.Lake
	store *objects.Server
	fs    *objectio.FS
	table string

	seen      map[string]bool      // addresses of the files that were ever part of the table
	manifests map[string]*manifest // by address
	rows      map[string]int64     // of each data file, by address
}

// New is an auditor of a table whose files are in a store.
func New(l *lake.Lake, store *objects.Server, table string) *Auditor {
	return &Auditor{
		lake: l, store: store, fs: objectio.New(store), table: table,
		seen: map[string]bool{}, manifests: map[string]*manifest{}, rows: map[string]int64{},
	}
}

// Report is what an audit found.
type Report struct {
	Faults    []string         // what is wrong
	Orphans   []string         // addresses of files below the table's location that never were part of it
	Ledger    map[string]int64 // the next offset of each topic-partition, as orders-0
	Snapshots int              // on main
	ByFrazil  int              // of them
}

func (r *Report) add(format string, args ...any) {
	r.Faults = append(r.Faults, fmt.Sprintf(format, args...))
}

// Audit looks at all snapshots that the table has.
func (a *Auditor) Audit(ctx context.Context) (*Report, error) {
	t, err := a.lake.Load(ctx, a.table)
	if err != nil {
		return nil, err
	}
	meta, r := t.Metadata(), &Report{}
	a.chain(meta, r)
	for _, s := range meta.Snapshots() {
		if err := a.snapshot(meta, &s, r); err != nil {
			r.add("snapshot %d: %v", s.SnapshotID, err)
		}
	}
	if r.Ledger, err = a.ledger(meta, r); err != nil {
		r.add("%v", err)
	}
	a.orphans(t, r)
	return r, nil
}

// main are the snapshots of the main branch as far as the table has them, the oldest first.
func main(meta table.Metadata) (line []table.Snapshot) {
	for s := meta.CurrentSnapshot(); s != nil; {
		line = append(line, *s)
		if s.ParentSnapshotID == nil {
			break
		}
		s = meta.SnapshotByID(*s.ParentSnapshotID)
	}
	slices.Reverse(line)
	return line
}

// chain checks that the snapshots are one line that ends with main.
func (a *Auditor) chain(meta table.Metadata, r *Report) {
	line := main(meta)
	r.Snapshots = len(line)
	if all := len(meta.Snapshots()); all != len(line) && !a.RolledBack {
		r.add("of %d snapshots %d are on main", all, len(line))
	}
	for i, s := range line {
		if byFrazil(&s) {
			r.ByFrazil++
		}
		switch {
		case i == 0:
		case s.SequenceNumber <= line[i-1].SequenceNumber:
			r.add("snapshot %d has the sequence number %d, its parent %d", s.SnapshotID, s.SequenceNumber, line[i-1].SequenceNumber)
		case s.TimestampMs < line[i-1].TimestampMs:
			r.add("snapshot %d is older than its parent", s.SnapshotID)
		}
	}
}

func byFrazil(s *table.Snapshot) bool {
	return s.Summary != nil && slices.ContainsFunc(slices.Collect(maps.Keys(s.Summary.Properties)), func(k string) bool { return strings.HasPrefix(k, "frazil.") })
}

// orphans are what lies about below the table's location. The catalog's own files are not looked at.
func (a *Auditor) orphans(t *table.Table, r *Report) {
	bucket, prefix, _ := strings.Cut(strings.TrimPrefix(t.Location(), "s3://"), "/")
	for _, key := range a.store.Keys(bucket, prefix+"/") {
		if address := "s3://" + bucket + "/" + key; !a.seen[address] && !strings.HasSuffix(key, ".metadata.json") {
			r.Orphans = append(r.Orphans, address)
		}
	}
}

// read is an object, which is part of the table from now on.
func (a *Auditor) read(address string) ([]byte, error) {
	a.seen[address] = true
	bucket, key, _ := strings.Cut(strings.TrimPrefix(address, "s3://"), "/")
	data, ok := a.store.Read(bucket, key)
	if !ok {
		return nil, fmt.Errorf("%s is referenced and not there", address)
	}
	return data, nil
}
