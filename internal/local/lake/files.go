package lake

import (
	"context"

	"github.com/frazil/frazil/internal/warehouse"
)

// files is a warehouse's store for iceberg-go's file IO, which has no context of its own.
type files struct {
	ctx   context.Context // of the command
	store *warehouse.Store
}

func (f files) Read(name string) ([]byte, error)     { return f.store.Read(f.ctx, name) }
func (f files) Write(name string, data []byte) error { return f.store.Write(f.ctx, name, data) }
func (f files) Delete(name string) error             { return f.store.Delete(f.ctx, name) }
