package tablefile

import (
	"context"
	"errors"
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

// Vector reads a deletion vector: its blob alone, not the Puffin file around it.
func Vector(ctx context.Context, store Store, f File) (*Positions, error) {
	p, err := vector(ctx, store, f)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", f.FilePath(), err)
	}
	return p, nil
}

func vector(ctx context.Context, store Store, f File) (*Positions, error) {
	off, size := f.ContentOffset(), f.ContentSizeInBytes()
	if off == nil || size == nil {
		return nil, errors.New("its manifest does not say where the vector lies in it")
	}
	blob, err := store.ReadRange(ctx, f.FilePath(), *off, *size)
	if err != nil {
		return nil, err
	}
	return dv.DeserializeDV(blob, f.Count())
}
