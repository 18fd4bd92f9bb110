package audit

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"
)

// manifest is what is in one.
type manifest struct{ live []iceberg.DataFile }

// counts are what a snapshot has.
type counts struct{ dataFiles, records, deleteFiles, positionDeletes, equalityDeletes, size int64 }

// place is where a file's content is: vectors share a file.
type place struct {
	path   string
	offset int64
}

func (p place) String() string { return fmt.Sprintf("%s at %d", p.path, p.offset) }

func placeOf(f iceberg.DataFile) place {
	at := place{path: f.FilePath()}
	if f.ContentOffset() != nil {
		at.offset = *f.ContentOffset()
	}
	return at
}

// snapshot checks the files of one snapshot: each is there as it is described, and once.
func (a *Auditor) snapshot(meta table.Metadata, s *table.Snapshot, r *Report) error {
	if _, err := a.read(s.ManifestList); err != nil {
		return err
	}
	manifests, err := s.Manifests(a.fs)
	if err != nil {
		return err
	}
	var has counts
	placed := map[place]bool{} // manifests, files, and the files that have a vector
	once := func(at place) {
		if placed[at] {
			r.add("snapshot %d has %s twice", s.SnapshotID, at)
		}
		placed[at] = true
	}
	for _, m := range manifests {
		once(place{path: m.FilePath()})
		content, err := a.manifest(m)
		if err != nil {
			return err
		}
		for _, f := range content.live {
			once(placeOf(f))
			if data := f.ReferencedDataFile(); f.FileFormat() == iceberg.PuffinFile && data != nil {
				once(place{path: "a vector of " + *data})
			}
			if err := a.file(f); err != nil {
				return err
			}
			has.add(f)
		}
	}
	if byFrazil(s) {
		a.summary(s, has, r)
	}
	if s.AddedRows != nil && s.FirstRowID != nil && *s.FirstRowID+*s.AddedRows > meta.NextRowID() {
		r.add("snapshot %d gives row ids that the table will give again", s.SnapshotID)
	}
	return nil
}

// manifest reads a manifest once; it never changes.
func (a *Auditor) manifest(m iceberg.ManifestFile) (*manifest, error) {
	data, err := a.read(m.FilePath())
	if err != nil {
		return nil, err
	}
	if int64(len(data)) != m.Length() {
		return nil, fmt.Errorf("manifest %s has %d bytes, the list says %d", m.FilePath(), len(data), m.Length())
	}
	if known := a.manifests[m.FilePath()]; known != nil {
		return known, nil
	}
	out := &manifest{}
	var added, existing, deleted int32
	for e, err := range m.Entries(a.fs, false) {
		if err != nil {
			return nil, fmt.Errorf("manifest %s: %w", m.FilePath(), err)
		}
		a.seen[e.DataFile().FilePath()] = true
		switch e.Status() {
		case iceberg.EntryStatusADDED:
			added++
		case iceberg.EntryStatusEXISTING:
			existing++
		default:
			deleted++
			continue
		}
		out.live = append(out.live, e.DataFile())
	}
	if added != m.AddedDataFiles() || existing != m.ExistingDataFiles() || deleted != m.DeletedDataFiles() {
		return nil, fmt.Errorf("manifest %s has %d, %d and %d files added, existing and deleted, the list says %d, %d and %d", m.FilePath(),
			added, existing, deleted, m.AddedDataFiles(), m.ExistingDataFiles(), m.DeletedDataFiles())
	}
	a.manifests[m.FilePath()] = out
	return out, nil
}

// file checks that a live file is what its entry says.
func (a *Auditor) file(f iceberg.DataFile) error {
	data, err := a.read(f.FilePath())
	if err != nil {
		return err
	}
	if int64(len(data)) != f.FileSizeBytes() {
		return fmt.Errorf("%s has %d bytes, its entry says %d", f.FilePath(), len(data), f.FileSizeBytes())
	}
	if f.FileFormat() != iceberg.ParquetFile {
		return nil
	}
	rows, known := a.rows[f.FilePath()]
	if !known {
		reader, err := file.NewParquetReader(bytes.NewReader(data))
		if err != nil {
			return fmt.Errorf("%s: %w", f.FilePath(), err)
		}
		rows = reader.NumRows()
		a.rows[f.FilePath()] = rows
	}
	if rows != f.Count() {
		return fmt.Errorf("%s has %d rows, its entry says %d", f.FilePath(), rows, f.Count())
	}
	return nil
}

func (c *counts) add(f iceberg.DataFile) {
	switch f.ContentType() {
	case iceberg.EntryContentData:
		c.dataFiles++
		c.records += f.Count()
	case iceberg.EntryContentPosDeletes:
		c.deleteFiles++
		c.positionDeletes += f.Count()
	case iceberg.EntryContentEqDeletes:
		c.deleteFiles++
		c.equalityDeletes += f.Count()
	}
	size := f.FileSizeBytes()
	if n := f.ContentSizeInBytes(); n != nil {
		size = *n
	}
	c.size += size
}

// summary checks the totals that a snapshot claims.
func (a *Auditor) summary(s *table.Snapshot, has counts, r *Report) {
	for name, want := range map[string]int64{
		"total-data-files": has.dataFiles, "total-records": has.records, "total-delete-files": has.deleteFiles,
		"total-position-deletes": has.positionDeletes, "total-equality-deletes": has.equalityDeletes, "total-files-size": has.size,
	} {
		if got := s.Summary.Properties[name]; got != strconv.FormatInt(want, 10) {
			r.add("snapshot %d: %s is %q, it has %d", s.SnapshotID, name, got, want)
		}
	}
}
