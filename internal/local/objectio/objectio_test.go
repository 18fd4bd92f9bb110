package objectio_test

import (
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"

	"github.com/frazil/frazil/internal/local/objectio"
	"github.com/frazil/frazil/internal/local/objects"
)

func TestFileAppearsWholeWhenItsWriterCloses(t *testing.T) {
	t.Parallel()
	server := objects.New("lake")
	fsys := objectio.New(server)
	w, err := fsys.Create("s3://lake/a/b")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(w, strings.NewReader("hello world")); err != nil {
		t.Fatal(err)
	}
	if _, err := fsys.Open("s3://lake/a/b"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("before close: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte("more")); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("write after close: %v", err)
	}
	f, err := fsys.Open("s3a://lake/a/b")
	if err != nil {
		t.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil || info.Size() != 11 || info.Name() != "b" {
		t.Errorf("%v %v", info, err)
	}
	part := make([]byte, 5)
	if _, err := f.ReadAt(part, 6); err != nil || string(part) != "world" {
		t.Errorf("read at 6: %q %v", part, err)
	}
	if _, err := f.Seek(-5, io.SeekEnd); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(f); err != nil || string(rest) != "world" {
		t.Errorf("after seek: %q %v", rest, err)
	}
}

func TestWrittenAndReadBytesAreCopies(t *testing.T) {
	t.Parallel()
	fsys := objectio.New(objects.New("lake"))
	data := []byte("abc")
	if err := fsys.WriteFile("s3://lake/k", data); err != nil {
		t.Fatal(err)
	}
	data[0] = 'x'
	first, err := fsys.ReadFile("s3://lake/k")
	if err != nil {
		t.Fatal(err)
	}
	first[1] = 'x'
	if got, _ := fsys.ReadFile("s3://lake/k"); string(got) != "abc" {
		t.Errorf("got %q", got)
	}
}

func TestRemoveOfAMissingObjectIsAnError(t *testing.T) {
	t.Parallel()
	fsys := objectio.New(objects.New("lake"))
	if err := fsys.WriteFile("s3://lake/k", nil); err != nil {
		t.Fatal(err)
	}
	if err := fsys.Remove("s3://lake/k"); err != nil {
		t.Error(err)
	}
	if err := fsys.Remove("s3://lake/k"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

func TestOtherAddressesAreInvalid(t *testing.T) {
	t.Parallel()
	fsys := objectio.New(objects.New("lake"))
	for _, name := range []string{"", "k", "/tmp/k", "s3://lake", "s3://lake/", "s3:///k", "file:///k", "gs://lake/k"} {
		if err := fsys.WriteFile(name, nil); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("%q: %v", name, err)
		}
	}
}
