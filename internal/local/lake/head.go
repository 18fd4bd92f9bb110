package lake

import (
	"context"

	"github.com/apache/iceberg-go"
)

// Kind is a kind of delete files.
type Kind string

// The kinds.
const (
	PositionFiles Kind = "position"
	Vectors       Kind = "vectors"
	EqualityFiles Kind = "equality"
)

// Deletes counts the delete files of the head by their kind; a vector counts as a file.
func (l *Lake) Deletes(ctx context.Context, name string) (map[Kind]int, error) {
	kinds := map[Kind]int{}
	err := l.entries(ctx, name, func(e iceberg.ManifestEntry) error {
		switch f := e.DataFile(); {
		case f.ContentType() == iceberg.EntryContentEqDeletes:
			kinds[EqualityFiles]++
		case f.ContentType() == iceberg.EntryContentPosDeletes && f.FileFormat() == iceberg.PuffinFile:
			kinds[Vectors]++
		case f.ContentType() == iceberg.EntryContentPosDeletes:
			kinds[PositionFiles]++
		}
		return nil
	})
	return kinds, err
}

// Files counts the data and delete files of the head; a vector counts as a file.
func (l *Lake) Files(ctx context.Context, name string) (data, deletes int, err error) {
	err = l.entries(ctx, name, func(e iceberg.ManifestEntry) error {
		if e.DataFile().ContentType() == iceberg.EntryContentData {
			data++
		} else {
			deletes++
		}
		return nil
	})
	return data, deletes, err
}

// entries visits the live files of the head.
func (l *Lake) entries(ctx context.Context, name string, visit func(iceberg.ManifestEntry) error) error {
	t, err := l.Load(ctx, name)
	if err != nil || t.CurrentSnapshot() == nil {
		return err
	}
	manifests, err := t.CurrentSnapshot().Manifests(l.files)
	if err != nil {
		return err
	}
	for _, m := range manifests {
		for e, err := range m.Entries(l.files, true) {
			if err != nil {
				return err
			}
			if err := visit(e); err != nil {
				return err
			}
		}
	}
	return nil
}
