package ingest

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"

	"github.com/frazil/frazil/internal/tablefile"
)

// remembering is a catalog with its store that keeps the objects which the process writes in memory: the next delivery reads
// them again, and then no request is needed.
type remembering struct {
	Catalog
	memory *tablefile.Memory
}

// largestKept is the size of an object from which on it is not kept whole. The next commit reads the keys of a data file.
const largestKept = 8 << 20

func written(path string) tablefile.Memo { return tablefile.Memo{What: "object", Path: path} }

func (r remembering) Write(ctx context.Context, path string, data []byte) error {
	if err := r.Catalog.Write(ctx, path, data); err != nil {
		return err
	}
	if len(data) <= largestKept {
		r.memory.Keep(written(path), data, int64(len(data)))
	}
	return nil
}

func (r remembering) Delete(ctx context.Context, path string) error {
	r.memory.Forget(path)
	return r.Catalog.Delete(ctx, path)
}

func (r remembering) Read(ctx context.Context, path string) ([]byte, error) {
	if data, ok := tablefile.Recall[[]byte](r.memory, written(path)); ok {
		return data, nil
	}
	return r.Catalog.Read(ctx, path)
}

func (r remembering) ReadRange(ctx context.Context, path string, off, n int64) ([]byte, error) {
	data, ok := tablefile.Recall[[]byte](r.memory, written(path))
	switch {
	case !ok:
		return r.Catalog.ReadRange(ctx, path, off, n)
	case off < 0 || n < 0 || off+n > int64(len(data)):
		return nil, fmt.Errorf("%d bytes from %d on: the object has %d", n, off, len(data))
	}
	return data[off : off+n], nil
}

// LimitMemory tells the garbage collector that the process has so many bytes; 0: nobody knows. It rests more than it would, and
// works harder before a function is ended that has none left. GOGC and GOMEMLIMIT, where they are set, stay.
func LimitMemory(process int64) {
	if process == 0 || os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	debug.SetGCPercent(200)
	debug.SetMemoryLimit(process / 100 * 85)
}
