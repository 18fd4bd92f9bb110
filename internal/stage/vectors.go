package stage

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/puffin"
	"github.com/apache/iceberg-go/table/dv"
)

// vector is the deletion vector of a data file.
type vector struct {
	state
	text []byte // as it is stored
	rows int64
	blob puffin.BlobMetadata
}

// addVectors writes one Puffin file with a deletion vector for each file that loses rows. A data file has one vector at
// most: it holds what was deleted before, also by position-delete files from before format version 3, and replaces the
// one that was there.
func (w *writer) addVectors(touched []state) error {
	vectors, err := w.vectors(touched)
	if err != nil {
		return err
	}
	var buf bytes.Buffer
	if err := writePuffin(&buf, vectors); err != nil {
		return fmt.Errorf("write deletion vectors: %w", err)
	}
	path := w.name("", "-deletes.puffin")
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
		w.Removed = append(w.Removed, w.outcome.Found.Deleted[v.FilePath()].Own...)
	}
	w.Objects = append(w.Objects, Object{path, buf.Bytes()})
	return nil
}

// vectors makes the vectors, the shortest first: DuckDB 1.5 reads on from a long one over the shorter ones that
// follow it, and then takes these from the wrong place.
func (w *writer) vectors(touched []state) (out []vector, err error) {
	for _, t := range touched {
		v := vector{state: t, rows: t.positions.Cardinality()}
		if v.text, err = dv.SerializeDV(t.positions); err != nil {
			return nil, fmt.Errorf("write deletion vector of %s: %w", t.FilePath(), err)
		}
		out = append(out, v)
	}
	slices.SortStableFunc(out, func(a, b vector) int { return cmp.Compare(len(a.text), len(b.text)) })
	return out, nil
}

// writePuffin writes a Puffin file with the vectors, and notes where each of them is.
func writePuffin(to io.Writer, vectors []vector) error {
	out, err := puffin.NewWriter(to)
	if err != nil {
		return err
	}
	for i, v := range vectors {
		vectors[i].blob, err = out.AddBlob(puffin.BlobMetadataInput{
			Type: puffin.BlobTypeDeletionVector, SnapshotID: -1, SequenceNumber: -1, Fields: []int32{},
			Properties: map[string]string{"referenced-data-file": v.FilePath(), "cardinality": strconv.FormatInt(v.rows, 10)},
		}, v.text)
		if err != nil {
			return fmt.Errorf("%s: %w", v.FilePath(), err)
		}
	}
	return out.Finish()
}
