package tablefile

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/iceberg-go"
)

const (
	whole = 1 << 20 // a file up to this size is read in one request
	tail  = 64 << 10
)

// openParquet reads the footer, and the whole file when it is small.
func openParquet(ctx context.Context, store Store, f File) (_ *window, _ *metadata.FileMetaData, err error) {
	defer recovered(&err)
	if f.FileFormat() != iceberg.ParquetFile {
		return nil, nil, fmt.Errorf("its format %s is not supported", f.FileFormat())
	}
	size := f.FileSizeBytes()
	n := min(size, tail)
	if size <= whole {
		n = size
	}
	w := &window{path: f.FilePath(), size: size}
	end, err := w.fetch(ctx, store, size-n, n)
	if err != nil {
		return nil, nil, err
	}
	if len(end) < 12 || string(end[len(end)-4:]) != "PAR1" {
		return nil, nil, errors.New("it is no Parquet file")
	}
	footer := int64(binary.LittleEndian.Uint32(end[len(end)-8:])) + 8
	if footer > size {
		return nil, nil, errors.New("its footer is longer than the file")
	}
	if footer > n {
		if end, err = w.fetch(ctx, store, size-footer, footer); err != nil {
			return nil, nil, err
		}
	}
	meta, err := metadata.NewFileMetaData(end[int64(len(end))-footer:len(end)-8], nil)
	if err != nil {
		return nil, nil, err
	}
	if meta.NumRows != f.Count() {
		return nil, nil, fmt.Errorf("it has %d rows, but %d in its manifest", meta.NumRows, f.Count())
	}
	forgetArrow(meta)
	w.keep = len(w.spans)
	return w, meta, nil
}

// forgetArrow drops what a file says of the Arrow types that it was made of: its columns are read as Parquet has them, whoever wrote them.
func forgetArrow(meta *metadata.FileMetaData) { meta.FileMetaData.KeyValueMetadata = nil }

// recovered makes an error of a panic: arrow-go does not look whether all that it reads is what it should be.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("it cannot be decoded: %v", p)
	}
}

// none is the leaf of a column that the file does not have, as slices.Index says it.
const none = -1

// findLeaves maps the fields to the file's columns by field id.
func findLeaves(meta *metadata.FileMetaData, names Names, fields []Field) ([]int, error) {
	ids, _, err := columnIDs(meta, names)
	if err != nil {
		return nil, err
	}
	leaves := make([]int, len(fields))
	for i, f := range fields {
		leaves[i] = slices.Index(ids, f.ID)
	}
	return leaves, nil
}
