// Package objectio lets iceberg-go read and write objects: those of an embedded S3 server without HTTP, or those of any
// store of whole objects.
//
// FS implements iceberg-go's file IO for s3:// addresses. Names are "s3://bucket/key" (s3a and s3n too); everything
// else is fs.ErrInvalid. A file becomes visible, whole, when its writer is closed. There are no directories.
package objectio

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/apache/iceberg-go/catalog/rest"
	iceio "github.com/apache/iceberg-go/io"
	"github.com/apache/iceberg-go/table"
	"github.com/frazil/frazil/internal/local/objects"
)

// Store keeps whole objects under their s3:// addresses. An object that is not there is fs.ErrNotExist where the store
// can tell.
type Store interface {
	Read(name string) ([]byte, error)
	Write(name string, data []byte) error
	Delete(name string) error
}

// FS is a file IO over one store. It is as safe for concurrent use as the store.
type FS struct{ store Store }

var (
	_ iceio.ReadFileIO  = (*FS)(nil)
	_ iceio.WriteFileIO = (*FS)(nil)
)

// New returns a file IO over an embedded server.
func New(server *objects.Server) *FS { return Over(embedded{server}) }

// Over returns a file IO over a store.
func Over(store Store) *FS { return &FS{store} }

// Table loads a table through cat and rebuilds it on fsys, so that its files are read and written in this process.
func Table(ctx context.Context, cat *rest.Catalog, ident table.Identifier, fsys *FS) (*table.Table, error) {
	loaded, err := cat.LoadTable(ctx, ident)
	if err != nil {
		return nil, fmt.Errorf("load table %s: %w", strings.Join(ident, "."), err)
	}
	open := func(context.Context) (iceio.IO, error) { return fsys, nil }
	return table.New(ident, loaded.Metadata(), loaded.MetadataLocation(), open, cat), nil
}

// split returns the bucket and key of an s3:// address.
func split(name string) (bucket, key string, err error) {
	scheme, rest, _ := strings.Cut(name, "://")
	bucket, key, ok := strings.Cut(rest, "/")
	if !ok || bucket == "" || key == "" || (scheme != "s3" && scheme != "s3a" && scheme != "s3n") {
		return "", "", fmt.Errorf("address %q: %w", name, fs.ErrInvalid)
	}
	return bucket, key, nil
}

// Open opens an object for reading.
func (f *FS) Open(name string) (iceio.File, error) {
	data, err := f.store.Read(name)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return &file{Reader: bytes.NewReader(data), name: name}, nil
}

// ReadFile returns a copy of an object's bytes.
func (f *FS) ReadFile(name string) ([]byte, error) {
	data, err := f.store.Read(name)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return bytes.Clone(data), nil
}

// Create returns a writer whose bytes become the object when it is closed.
func (f *FS) Create(name string) (iceio.FileWriter, error) {
	if _, _, err := split(name); err != nil {
		return nil, &fs.PathError{Op: "create", Path: name, Err: err}
	}
	return &writer{store: f.store, name: name}, nil
}

// WriteFile stores a copy of p.
func (f *FS) WriteFile(name string, p []byte) error {
	if err := f.store.Write(name, bytes.Clone(p)); err != nil {
		return &fs.PathError{Op: "write", Path: name, Err: err}
	}
	return nil
}

// Remove deletes an object.
func (f *FS) Remove(name string) error {
	if err := f.store.Delete(name); err != nil {
		return &fs.PathError{Op: "remove", Path: name, Err: err}
	}
	return nil
}

// embedded is an embedded server as a Store. It keeps what it is given and gives what it keeps, without copies.
type embedded struct{ server *objects.Server }

func (e embedded) Read(name string) ([]byte, error) {
	bucket, key, err := split(name)
	if err != nil {
		return nil, err
	}
	data, ok := e.server.Read(bucket, key)
	if !ok {
		return nil, fs.ErrNotExist
	}
	return data, nil
}

func (e embedded) Write(name string, data []byte) error {
	bucket, key, err := split(name)
	if err == nil {
		e.server.Write(bucket, key, data)
	}
	return err
}

func (e embedded) Delete(name string) error {
	bucket, key, err := split(name)
	if err == nil && !e.server.Delete(bucket, key) {
		err = fs.ErrNotExist
	}
	return err
}

type file struct {
	*bytes.Reader
	name string
}

func (f *file) Close() error               { return nil }
func (f *file) Stat() (fs.FileInfo, error) { return info{path.Base(f.name), f.Size()}, nil }

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
	store  Store
	name   string
	closed bool
}

func (w *writer) Write(p []byte) (int, error) {
	if w.closed {
		return 0, fs.ErrClosed
	}
	return w.Buffer.Write(p)
}

func (w *writer) ReadFrom(r io.Reader) (int64, error) {
	if w.closed {
		return 0, fs.ErrClosed
	}
	return w.Buffer.ReadFrom(r)
}

func (w *writer) Close() error {
	if w.closed {
		return fs.ErrClosed
	}
	w.closed = true
	return w.store.Write(w.name, w.Bytes())
}
