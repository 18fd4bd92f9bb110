package commit

import (
	"cmp"
	"slices"

	"github.com/apache/iceberg-go"
	"github.com/frazil/frazil/internal/locate"
	"github.com/frazil/frazil/internal/stage"
)

// kind tells which entries can be in one manifest.
type kind struct {
	content iceberg.ManifestContent
	spec    int32
}

// heap is what of one kind an attempt adds, and the base's manifests.
type heap struct {
	kind
	added   []iceberg.DataFile
	touched []locate.Manifest // have files that are removed
	others  []locate.Manifest
}

// heaps sorts new files and the base's manifests by kind. A manifest that only remembers files that are gone has no use any
// more.
func heaps(live *locate.Snapshot, files *stage.Files) (out []*heap) {
	at := map[kind]*heap{}
	of := func(content iceberg.ManifestContent, spec int32) *heap {
		k := kind{content, spec}
		if at[k] == nil {
			at[k] = &heap{kind: k}
			out = append(out, at[k])
		}
		return at[k]
	}
	for _, f := range files.Data {
		h := of(iceberg.ManifestContentData, f.SpecID())
		h.added = append(h.added, f)
	}
	for _, f := range files.Deletes {
		h := of(iceberg.ManifestContentDeletes, f.SpecID())
		h.added = append(h.added, f)
	}
	touched := map[int]bool{}
	for _, f := range files.Removed {
		touched[f.Manifest] = true
	}
	for i, m := range live.Manifests {
		switch h := of(m.ManifestContent(), m.PartitionSpecID()); {
		case touched[i]:
			h.touched = append(h.touched, m)
		case m.HasAddedFiles() || m.HasExistingFiles():
			h.others = append(h.others, m)
		}
	}
	return out
}

// merge divides a heap into what goes into one new manifest with the added files, what is written again alone, and what stays.
// Touched manifests have to be written again anyway. Of the others those of full levels go with them, in a commit that writes
// a manifest of the kind.
func (h *heap) merge(how stage.Merging) (together, alone, stay []locate.Manifest) {
	if how.Off || len(h.added)+len(h.touched) == 0 {
		return nil, h.touched, h.others
	}
	entries, size := int64(len(h.added)), int64(0)
	take := func(m locate.Manifest) bool {
		if size+m.Length() > how.Target {
			return false
		}
		together = append(together, m)
		entries, size = entries+int64(len(m.Entries)), size+m.Length()
		return true
	}
	slices.SortStableFunc(h.touched, func(a, b locate.Manifest) int { return cmp.Compare(a.Length(), b.Length()) })
	for _, m := range h.touched {
		if !take(m) {
			alone = append(alone, m)
		}
	}
	sizes := make([]int64, len(h.others))
	for i, m := range h.others {
		sizes[i] = int64(len(m.Entries))
	}
	picked := map[int]bool{}
	for _, i := range how.Levels.Full(entries, sizes, stage.Unbounded) {
		picked[i] = take(h.others[i])
	}
	for i, m := range h.others {
		if !picked[i] {
			stay = append(stay, m)
		}
	}
	return together, alone, stay
}

// Scattered reports whether some kind of manifests is so many small ones that they should be gathered.
func Scattered(live *locate.Snapshot, how stage.Merging) bool {
	if how.Off {
		return false
	}
	for _, h := range heaps(live, &stage.Files{}) {
		small := 0
		for _, m := range h.others {
			if m.Length() < how.Target/2 {
				small++
			}
		}
		if small >= 3*how.Levels.Many {
			return true
		}
	}
	return false
}

// gather writes a heap's small manifests again, as few.
func (m *manifests) gather(h *heap, how stage.Merging) error {
	var together []locate.Manifest
	size := int64(0)
	flush := func() error {
		switch len(together) {
		case 0:
		case 1:
			m.list = append(m.list, together[0].ManifestFile)
		default:
			if err := m.write(h.kind, nil, together...); err != nil {
				return err
			}
		}
		together, size = nil, 0
		return nil
	}
	for _, old := range h.others {
		if old.Length() >= how.Target/2 {
			m.list = append(m.list, old.ManifestFile)
			continue
		}
		if size+old.Length() > how.Target {
			if err := flush(); err != nil {
				return err
			}
		}
		together, size = append(together, old), size+old.Length()
	}
	return flush()
}
