package maintain

import (
	"cmp"
	"slices"

	"github.com/frazil/frazil/internal/locate"
)

// file is a live data file, and what manifests say of its deletes.
type file struct {
	locate.File
	dead    int64 // rows. Of deletes that speak of several files each has its share, as far as anybody knows without reading
	deletes int   // delete files that a reader of it opens
}

// weight is the bytes of the rows that are alive.
func (f *file) weight() int64 {
	if f.Count() == 0 {
		return 0
	}
	return int64(float64(f.FileSizeBytes()) * float64(f.Count()-f.dead) / float64(f.Count()))
}

// measure reads nothing.
func measure(live *locate.Snapshot) []*file {
	var all []*file
	byPath, byPartition := map[string]*file{}, map[string][]*file{}
	for _, f := range live.Data {
		m := &file{File: f}
		all = append(all, m)
		byPath[f.FilePath()] = m
		byPartition[f.PartitionKey()] = append(byPartition[f.PartitionKey()], m)
	}
	for _, d := range live.Deletes {
		if of := d.ReferencedDataFile(); of != nil {
			if f := byPath[*of]; f != nil {
				spread(d.Count(), []*file{f})
			}
			continue
		}
		spread(d.Count(), within(d, byPartition[d.PartitionKey()]))
	}
	whole, parts := map[string]*keys{}, map[string]*keys{}
	for _, e := range live.Equality {
		if live.Global(e) {
			noted(whole, "").add(e)
		} else {
			noted(parts, e.PartitionKey()).add(e)
		}
	}
	noted(whole, "").spread(all)
	for key, k := range parts {
		k.spread(byPartition[key])
	}
	for _, f := range all {
		f.dead = min(f.dead, f.Count())
	}
	return all
}

// within are the files that a position-delete file may speak of.
func within(d locate.File, files []*file) (out []*file) {
	lower, below := d.LowerBoundValues()[locate.FieldFilePath]
	upper, above := d.UpperBoundValues()[locate.FieldFilePath]
	for _, f := range files {
		if path := f.FilePath(); d.Sequence >= f.Sequence && (!below || string(lower) <= path) && (!above || path <= string(upper)) {
			out = append(out, f)
		}
	}
	return out
}

// spread has files bear deletes by the number of their rows.
func spread(deletes int64, files []*file) {
	rows := int64(0)
	for _, f := range files {
		rows += f.Count()
	}
	for _, f := range files {
		f.deletes++
		f.dead += share(deletes, f.Count(), rows)
	}
}

func share(deletes, of, rows int64) int64 {
	return min(of, int64(float64(deletes)*float64(of)/float64(max(rows, 1))))
}

// keys are equality deletes that speak of the same files.
type keys struct{ files []locate.File }

func noted(in map[string]*keys, name string) *keys {
	if in[name] == nil {
		in[name] = &keys{}
	}
	return in[name]
}

func (k *keys) add(e locate.File) { k.files = append(k.files, e) }

// spread has the files bear those that are newer than they.
func (k *keys) spread(files []*file) {
	slices.SortFunc(k.files, func(a, b locate.File) int { return cmp.Compare(a.Sequence, b.Sequence) })
	after := make([]int64, len(k.files)+1) // keys of each delete file and of those behind it
	for i := len(k.files) - 1; i >= 0; i-- {
		after[i] = after[i+1] + k.files[i].Count()
	}
	rows := int64(0)
	for _, f := range files {
		rows += f.Count()
	}
	for _, f := range files {
		n, _ := slices.BinarySearchFunc(k.files, f.Sequence+1, func(e locate.File, s int64) int { return cmp.Compare(e.Sequence, s) })
		f.deletes += len(k.files) - n
		f.dead += share(after[n], f.Count(), rows)
	}
}
