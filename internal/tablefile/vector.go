package tablefile

import (
	"context"
	"fmt"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table/dv"
)

// Positions is a set of rows of a data file, by their number from 0.
type Positions = dv.RoaringPositionBitmap

// NewPositions is an empty set.
func NewPositions() *Positions { return dv.NewRoaringPositionBitmap() }

// IsVector reports whether a delete file is a deletion vector.
func (f File) IsVector() bool { return f.FileFormat() == iceberg.PuffinFile }

// Vectors reads deletion vectors of one Puffin file: with one request, unless there is much between them that is not asked for.
func Vectors(ctx context.Context, store Store, files []File) ([]*Positions, error) {
	var need []extent
	for _, f := range files {
		off, size := f.ContentOffset(), f.ContentSizeInBytes()
		if off == nil || size == nil {
			return nil, fmt.Errorf("read %s: its manifest does not say where the vector lies in it", f.FilePath())
		}
		need = append(need, extent{*off, *off + *size})
	}
	w := &window{path: files[0].FilePath(), size: files[0].FileSizeBytes()}
	out := make([]*Positions, len(files))
	err := w.fetchAll(ctx, store, need)
	for i, f := range files {
		if err == nil {
			out[i], err = dv.DeserializeDV(w.find(*f.ContentOffset(), *f.ContentSizeInBytes()), f.Count())
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", w.path, err)
	}
	return out, nil
}
