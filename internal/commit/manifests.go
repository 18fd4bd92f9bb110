package commit

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/apache/iceberg-go"
	"github.com/frazil/frazil/internal/locate"
	"github.com/frazil/frazil/internal/stage"
	"github.com/google/uuid"
)

// manifests writes the manifests of an attempt.
type manifests struct {
	*Attempt
	base Base
	id   string // in the names of its files
	list []iceberg.ManifestFile
}

// manifestList writes the manifests of the added files, those of the base without the removed ones, and the list that
// names them all. From format version 3 on it also gives rows their ids: next is the first that is free afterwards.
func (a *Attempt) manifestList(base Base, files *stage.Files, sequence int64) (path string, next *int64, err error) {
	m := &manifests{Attempt: a, base: base, id: uuid.NewString()}
	if err := m.add(iceberg.ManifestContentData, files.Data); err != nil {
		return "", nil, err
	}
	if err := m.add(iceberg.ManifestContentDeletes, files.Deletes); err != nil {
		return "", nil, err
	}
	if err := m.keep(files.Removed); err != nil {
		return "", nil, err
	}
	text, next, err := m.encode(sequence)
	if err != nil {
		return "", nil, fmt.Errorf("write manifest list: %w", err)
	}
	path = base.path("metadata", fmt.Sprintf("snap-%d-1-%s.avro", a.Snapshot, m.id))
	a.Objects = append(a.Objects, stage.Object{Path: path, Data: text})
	return path, next, nil
}

// add writes new files into one manifest for each partition spec.
func (m *manifests) add(content iceberg.ManifestContent, files []iceberg.DataFile) error {
	for len(files) > 0 {
		id := files[0].SpecID()
		var entries, rest []iceberg.DataFile
		for _, f := range files {
			if f.SpecID() == id {
				entries = append(entries, f)
			} else {
				rest = append(rest, f)
			}
		}
		files = rest
		err := m.write(content, id, func(w *iceberg.ManifestWriter) error {
			for _, f := range entries { // without a sequence number: the catalog's commit gives it
				if err := w.Add(iceberg.NewManifestEntry(iceberg.EntryStatusADDED, &m.Snapshot, nil, nil, f)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// keep takes the base's manifests over. One that lists removed files is written again; one that only remembers files
// that are gone has no use any more.
func (m *manifests) keep(removed []locate.File) error {
	gone := map[place]bool{}
	touched := map[int]bool{}
	for _, f := range removed {
		gone[placeOf(f)] = true
		touched[f.Manifest] = true
	}
	for i, old := range m.base.Live.Manifests {
		switch {
		case touched[i]:
			if err := m.rewrite(old, gone); err != nil {
				return err
			}
		case old.HasAddedFiles() || old.HasExistingFiles():
			m.list = append(m.list, old.ManifestFile)
		}
	}
	return nil
}

// place is where a file's content is: deletion vectors share a Puffin file.
type place struct {
	path   string
	offset int64
}

func placeOf(f iceberg.DataFile) place {
	p := place{path: f.FilePath()}
	if o := f.ContentOffset(); o != nil {
		p.offset = *o
	}
	return p
}

// rewrite writes a manifest again, with its removed files marked as deleted by this snapshot.
func (m *manifests) rewrite(old locate.Manifest, gone map[place]bool) error {
	return m.write(old.ManifestContent(), old.PartitionSpecID(), func(w *iceberg.ManifestWriter) error {
		for _, e := range old.Entries {
			add := w.Existing
			if gone[placeOf(e.DataFile())] {
				add = w.Delete
			}
			if err := add(known(e)); err != nil {
				return err
			}
		}
		return nil
	})
}

// known is an entry with its sequence numbers and snapshot spelt out: it cannot inherit them from another manifest.
func known(e iceberg.ManifestEntry) iceberg.ManifestEntry {
	snapshot, sequence := e.SnapshotID(), e.SequenceNum()
	return iceberg.NewManifestEntry(e.Status(), &snapshot, &sequence, e.FileSequenceNum(), e.DataFile())
}

func (m *manifests) write(content iceberg.ManifestContent, spec int32, fill func(*iceberg.ManifestWriter) error) error {
	file, err := m.written(content, spec, fill)
	if err != nil {
		return fmt.Errorf("write manifest: %w", err)
	}
	m.list = append(m.list, file)
	return nil
}

func (m *manifests) written(content iceberg.ManifestContent, specID int32, fill func(*iceberg.ManifestWriter) error) (iceberg.ManifestFile, error) {
	spec, err := m.spec(specID)
	if err != nil {
		return nil, err
	}
	var buf bytes.Buffer
	version := m.table.Metadata().Version()
	w, err := iceberg.NewManifestWriter(version, &buf, avroSpec(spec), m.schemaOf(spec), m.Snapshot, iceberg.WithManifestWriterContent(content))
	if err != nil {
		return nil, err
	}
	if err := fill(w); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	path := m.base.path("metadata", fmt.Sprintf("%s-m%d.avro", m.id, len(m.list)))
	m.Objects = append(m.Objects, stage.Object{Path: path, Data: buf.Bytes()})
	file, err := w.ToManifestFile(path, int64(buf.Len()), iceberg.WithManifestFileContent(content))
	if err != nil {
		return nil, err
	}
	return bounded(file), nil
}

// bounded gives the partitions of a manifest the bounds that iceberg-go leaves out: of the empty text it writes null, and
// engines take a field without a bound for one of nulls alone, and skip the manifest.
func bounded(file iceberg.ManifestFile) iceberg.ManifestFile {
	partitions := file.Partitions()
	for i := range partitions {
		for _, bound := range []*[]byte{partitions[i].LowerBound, partitions[i].UpperBound} {
			if bound != nil && *bound == nil {
				*bound = []byte{}
			}
		}
	}
	return iceberg.NewManifestFile(file.Version(), file.FilePath(), file.Length(), file.PartitionSpecID(), file.SnapshotID()).
		SequenceNum(file.SequenceNum(), file.MinSequenceNum()).Content(file.ManifestContent()).
		AddedFiles(file.AddedDataFiles()).ExistingFiles(file.ExistingDataFiles()).DeletedFiles(file.DeletedDataFiles()).
		AddedRows(file.AddedRows()).ExistingRows(file.ExistingRows()).DeletedRows(file.DeletedRows()).
		Partitions(partitions).Build()
}

// avroSpec is a spec whose names can stand in an Avro schema, which those of nested columns, and of many a source, cannot.
// Readers find partition values by field id.
func avroSpec(spec iceberg.PartitionSpec) iceberg.PartitionSpec {
	var fields []iceberg.PartitionField
	for _, f := range spec.Fields() {
		f.Name = avroName(f.Name)
		fields = append(fields, f)
	}
	return iceberg.NewPartitionSpecID(spec.ID(), fields...)
}

// avroName spells a name with letters, digits and underscores, as Iceberg's Java library does: each other character by its
// code, and an underscore before a leading digit.
func avroName(name string) string {
	var out strings.Builder
	for i, c := range name {
		switch {
		case c == '_', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', i > 0 && c >= '0' && c <= '9':
			out.WriteRune(c)
		case c >= '0' && c <= '9':
			out.WriteString("_" + string(c))
		default:
			fmt.Fprintf(&out, "_x%X", c)
		}
	}
	return out.String()
}

func (m *manifests) encode(sequence int64) ([]byte, *int64, error) {
	var buf bytes.Buffer
	meta := m.table.Metadata()
	var w *iceberg.ManifestListWriter
	var err error
	if meta.Version() < 3 {
		w, err = iceberg.NewManifestListWriterV2(&buf, m.Snapshot, sequence, m.parent)
	} else {
		w, err = iceberg.NewManifestListWriterV3(&buf, m.Snapshot, sequence, meta.NextRowID(), m.parent)
	}
	if err != nil {
		return nil, nil, err
	}
	if err := w.AddManifests(m.list); err != nil {
		return nil, nil, err
	}
	if err := w.Close(); err != nil {
		return nil, nil, err
	}
	return buf.Bytes(), w.NextRowID(), nil
}
