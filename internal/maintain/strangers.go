package maintain

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/apache/iceberg-go/table"
	"github.com/frazil/frazil/internal/tablefile"
	"github.com/frazil/frazil/internal/warehouse"
	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"
)

// strangers is an error if another table's metadata are among those that lie in the table's folders, by name. A table may lie in
// the folder of another one's data. And two tables come to one location when a table is renamed and another one gets its name, or
// when one is dropped and made again.
func (k *keeper) strangers(ctx context.Context, meta table.Metadata, metadata map[string]int64) error {
	ours := regexp.MustCompile(`"table-uuid"\s*:\s*"` + meta.TableUUID().String() + `"`)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(tablefile.Requests)
	for path, size := range metadata {
		g.Go(func() error {
			id, ok, err := k.tableOf(ctx, path, size, ours)
			switch name, direct := strings.CutPrefix(path, k.location()+"metadata/"); {
			case err != nil && !warehouse.Gone(err):
				return fmt.Errorf("read %s: %w", path, err)
			case ok && id != meta.TableUUID(), !direct, strings.Contains(name, "/"):
				return fmt.Errorf("the metadata of another table are there: give each table a location of its own, or remove %s if that table is no more", path)
			}
			return nil
		})
	}
	return g.Wait()
}

// tableOf is the UUID of the table that a metadata file is of. Something else under such a name is none's. One that begins as ours is
// not read further.
func (k *keeper) tableOf(ctx context.Context, path string, size int64, ours *regexp.Regexp) (id uuid.UUID, ok bool, err error) {
	const head = 4 << 10
	if size > head {
		if first, err := k.store.ReadRange(ctx, path, 0, head); err != nil || ours.Match(first) {
			return id, false, err
		}
	}
	text, err := k.store.Read(ctx, path)
	if err != nil {
		return id, false, err
	}
	if z, err := gzip.NewReader(bytes.NewReader(text)); err == nil {
		if text, err = io.ReadAll(z); err != nil {
			return id, false, nil
		}
	}
	var meta struct {
		Format int       `json:"format-version"`
		UUID   uuid.UUID `json:"table-uuid"` // the first version of the format may lack it
	}
	bad := json.Unmarshal(text, &meta)
	return meta.UUID, bad == nil && meta.Format > 0, nil
}

// isMetadata reports whether a file has the name of a table's metadata, also of compressed ones.
func isMetadata(path string) bool {
	return strings.HasSuffix(strings.TrimSuffix(path, ".gz"), ".metadata.json")
}

// unlogged are the metadata files in the table's folders which its log does not name, with their sizes.
func (k *keeper) unlogged(ctx context.Context, t *table.Table) (map[string]int64, error) {
	out := map[string]int64{}
	for _, folder := range k.folders() {
		for o, err := range k.store.List(ctx, folder) {
			if err != nil {
				return nil, err
			}
			if isMetadata(o.Path) {
				out[o.Path] = o.Size
			}
		}
	}
	delete(out, warehouse.Plain(t.MetadataLocation()))
	for old := range t.Metadata().PreviousFiles() {
		delete(out, warehouse.Plain(old.MetadataFile))
	}
	return out, nil
}
