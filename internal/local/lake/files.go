package lake

import (
	"bytes"
	"context"
	"io/fs"
	"path"
	"time"

	iceio "github.com/apache/iceberg-go/io"
	"github.com/frazil/frazil/internal/warehouse"
)

// files lets iceberg-go read and write through a warehouse's store. Objects are small here, and held whole.
type files struct {
	ctx   context.Context // of the command; iceberg-go's file IO has none
	store *warehouse.Store
}

var _ iceio.WriteFileIO = files{}

func (f files) Open(name string) (iceio.File, error) {
	data, err := f.store.Read(f.ctx, name)
	if err != nil {
		return nil, err
	}
	return &file{bytes.NewReader(data), path.Base(name)}, nil
}

func (f files) Remove(name string) error { return f.store.Delete(f.ctx, name) }

func (f files) WriteFile(name string, data []byte) error { return f.store.Write(f.ctx, name, data) }

func (f files) Create(name string) (iceio.FileWriter, error) {
	return &writer{files: f, name: name}, nil
}

type file struct {
	*bytes.Reader
	name string
}

func (f *file) Close() error               { return nil }
func (f *file) Stat() (fs.FileInfo, error) { return info{f.name, f.Size()}, nil }

type info struct {
	name string
	size int64
}

func (i info) Name() string     { return i.name }
func (i info) Size() int64      { return i.size }
func (info) Mode() fs.FileMode  { return 0o444 }
func (info) ModTime() time.Time { return time.Time{} }
func (info) IsDir() bool        { return false }
func (info) Sys() any           { return nil }

type writer struct {
	bytes.Buffer
	files files
	name  string
}

func (w *writer) Close() error { return w.files.WriteFile(w.name, w.Bytes()) }
