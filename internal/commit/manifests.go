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
	gone map[place]bool
	kept map[string]int64 // the sequence numbers of added files that keep one
	list []iceberg.ManifestFile
}

// manifestList writes the manifests of the added files, those of the base without the removed ones, and the list that
// names them all. From format version 3 on it also gives rows their ids: next is the first that is free afterwards.
func (a *Attempt) manifestList(base Base, files *stage.Files, sequence int64) (path string, next *int64, err error) {
	how, err := stage.NewMerging(base.Table.Metadata().Properties())
	if err != nil {
		return "", nil, err
	}
	m := &manifests{Attempt: a, base: base, id: uuid.NewString(), gone: map[place]bool{}, kept: files.Sequences}
	for _, f := range files.Removed {
		m.gone[placeOf(f)] = true
	}
	for _, h := range heaps(base.Live, files) {
		if files.Gather {
			err = m.gather(h, how)
		} else {
			err = m.add(h, how)
		}
		if err != nil {
			return "", nil, err
		}
	}
	text, next, err := m.encode(sequence)
	if err != nil {
		return "", nil, fmt.Errorf("write manifest list: %w", err)
	}
	path = base.path("metadata", fmt.Sprintf("snap-%d-1-%s.avro", a.Snapshot, m.id))
	a.Objects = append(a.Objects, stage.Object{Path: path, Data: text})
	return path, next, nil
}

// add lists what of one kind the snapshot has.
func (m *manifests) add(h *heap, how stage.Merging) error {
	together, alone, stay := h.merge(how)
	if len(h.added)+len(together) > 0 {
		if err := m.write(h.kind, h.added, together...); err != nil {
			return err
		}
	}
	for _, old := range alone {
		if err := m.write(h.kind, nil, old); err != nil {
			return err
		}
	}
	for _, old := range stay {
		m.list = append(m.list, old.ManifestFile)
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

// fill writes the entries of a manifest: added files, and what others list, their removed files marked as deleted by this
// snapshot. Added files come first: rows without an id get theirs in this order, whatever a reader thinks of the others.
func (m *manifests) fill(w *iceberg.ManifestWriter, added []iceberg.DataFile, olds []locate.Manifest) error {
	for _, f := range added { // without a sequence number, unless it keeps one: the catalog's commit gives it
		var sequence *int64
		if s, ok := m.kept[f.FilePath()]; ok {
			sequence = &s
		}
		if err := w.Add(iceberg.NewManifestEntry(iceberg.EntryStatusADDED, &m.Snapshot, sequence, nil, f)); err != nil {
			return err
		}
	}
	for _, old := range olds {
		for _, e := range old.Entries {
			put := w.Existing
			if m.gone[placeOf(e.DataFile())] {
				put = w.Delete
			}
			if err := put(known(e)); err != nil {
				return err
			}
		}
	}
	return nil
}

// known is an entry with its sequence numbers and snapshot spelt out: it cannot inherit them from another manifest.
func known(e iceberg.ManifestEntry) iceberg.ManifestEntry {
	snapshot, sequence := e.SnapshotID(), e.SequenceNum()
	return iceberg.NewManifestEntry(e.Status(), &snapshot, &sequence, e.FileSequenceNum(), e.DataFile())
}

// write writes one manifest, of added files and of others' entries.
func (m *manifests) write(k kind, added []iceberg.DataFile, olds ...locate.Manifest) error {
	file, err := m.written(k, added, olds)
	if err != nil {
		return fmt.Errorf("write manifest: %w", err)
	}
	m.list = append(m.list, file)
	return nil
}

func (m *manifests) written(k kind, added []iceberg.DataFile, olds []locate.Manifest) (iceberg.ManifestFile, error) {
	spec, err := m.spec(k.spec)
	if err != nil {
		return nil, err
	}
	var buf bytes.Buffer
	version := m.table.Metadata().Version()
	w, err := iceberg.NewManifestWriter(version, &buf, avroSpec(spec), m.schemaOf(spec), m.Snapshot, iceberg.WithManifestWriterContent(k.content))
	if err != nil {
		return nil, err
	}
	if err := m.fill(w, added, olds); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	path := m.base.path("metadata", fmt.Sprintf("%s-m%d.avro", m.id, len(m.list)))
	m.Objects = append(m.Objects, stage.Object{Path: path, Data: buf.Bytes()})
	file, err := w.ToManifestFile(path, int64(buf.Len()), iceberg.WithManifestFileContent(k.content))
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
