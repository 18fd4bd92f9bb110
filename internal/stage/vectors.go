package stage

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/puffin"
	"github.com/apache/iceberg-go/table/dv"
)

// addVectors writes one Puffin file with a deletion vector for each file that loses rows. A data file has one vector at
// most: it holds what was deleted before, also by position-delete files from before format version 3, and replaces the
// one that was there.
func (w *writer) addVectors() error {
	var buf bytes.Buffer
	out, err := puffin.NewWriter(&buf)
	if err != nil {
		return fmt.Errorf("write deletion vectors: %w", err)
	}
	path := w.name("", "-deletes.puffin")
	type vector struct {
		touched
		blob puffin.BlobMetadata
		rows int64
	}
	var vectors []vector
	for _, t := range w.touched() {
		positions := w.deleted(t)
		n := positions.Cardinality()
		text, err := dv.SerializeDV(positions)
		if err != nil {
			return fmt.Errorf("write deletion vector of %s: %w", t.FilePath(), err)
		}
		blob, err := out.AddBlob(puffin.BlobMetadataInput{
			Type: puffin.BlobTypeDeletionVector, SnapshotID: -1, SequenceNumber: -1, Fields: []int32{},
			Properties: map[string]string{"referenced-data-file": t.FilePath(), "cardinality": strconv.FormatInt(n, 10)},
		}, text)
		if err != nil {
			return fmt.Errorf("write deletion vector of %s: %w", t.FilePath(), err)
		}
		vectors = append(vectors, vector{t, blob, n})
		w.Removed = append(w.Removed, w.outcome.Found.Deleted[t.FilePath()].Own...)
	}
	if err := out.Finish(); err != nil {
		return fmt.Errorf("write deletion vectors: %w", err)
	}
	for _, v := range vectors {
		spec, err := w.target.spec(v.SpecID())
		if err != nil {
			return err
		}
		b, err := iceberg.NewDataFileBuilder(spec, iceberg.EntryContentPosDeletes, path, iceberg.PuffinFile,
			v.Partition(), nil, nil, v.rows, int64(buf.Len()))
		if err != nil {
			return fmt.Errorf("write deletion vectors: %w", err)
		}
		w.Deletes = append(w.Deletes, b.ReferencedDataFile(v.FilePath()).ContentOffset(v.blob.Offset).ContentSizeInBytes(v.blob.Length).Build())
	}
	w.Objects = append(w.Objects, Object{path, buf.Bytes()})
	return nil
}
