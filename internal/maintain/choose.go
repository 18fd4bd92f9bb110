package maintain

import (
	"cmp"
	"slices"

	"github.com/apache/iceberg-go"
	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/locate"
)

// bin is data files that are written again together.
type bin struct {
	files []*file
	bytes int64 // that have to be read
	worn  bool  // has one whose deletes alone are reason enough
}

// chooser chooses files by what manifests say, without reading anything.
type chooser struct {
	policy config.Compact
	spec   int   // today's
	target int64 // bytes of a file
	pile   int64 // bytes of rows that may be in memory
	width  int64 // of a row in memory, about

	tooLarge int64 // bytes of files that should be written again, but do not fit the memory
}

const (
	// nearTarget is the part of the target, in percent, from which on a file is large enough.
	nearTarget = 75
	// mostDeletes is how many delete files a data file bears.
	mostDeletes = 10
	// unpacked is how many times the bytes of a file its rows take in memory, at least.
	unpacked = 4
)

// worn reports whether a file's deletes cost its readers more than to write it again.
func (c *chooser) worn(f *file) bool {
	return f.dead > 0 && 100*f.dead >= c.policy.Dead*f.Count() || f.deletes >= mostDeletes
}

func (c *chooser) small(bytes int64) bool { return bytes*100 < c.target*nearTarget }

// inMemory is about what the rows of a file take.
func (c *chooser) inMemory(f *file) int64 {
	return max(unpacked*f.FileSizeBytes(), c.width*f.Count())
}

// choose packs the files that should be written again, those bins first that are worth most for each byte. Of a partition of
// a past spec, whose rows go to others, the files of all partitions are packed together.
func (c *chooser) choose(all []*file) (bins []bin) {
	candidates := map[string][]*file{}
	for _, f := range all {
		switch {
		case f.FileFormat() != iceberg.ParquetFile || !c.worn(f) && !c.small(f.weight()):
		case c.inMemory(f) > c.pile:
			c.tooLarge += f.FileSizeBytes()
		default:
			key := locate.PartitionKey(f.SpecID(), nil)
			if int(f.SpecID()) == c.spec {
				key = f.PartitionKey()
			}
			candidates[key] = append(candidates[key], f)
		}
	}
	for _, files := range candidates {
		slices.SortFunc(files, func(a, b *file) int {
			return cmp.Or(cmp.Compare(a.weight(), b.weight()), cmp.Compare(a.FilePath(), b.FilePath()))
		})
		for _, b := range c.pack(files) {
			if b = c.worth(b); len(b.files) > 0 {
				bins = append(bins, b)
			}
		}
	}
	slices.SortFunc(bins, func(a, b bin) int {
		return cmp.Or(cmp.Compare(b.gain(), a.gain()), cmp.Compare(a.files[0].FilePath(), b.files[0].FilePath()))
	})
	return bins
}

// pack fills bins one after the other, the smallest files first.
func (c *chooser) pack(files []*file) (bins []bin) {
	var b bin
	weight, memory := int64(0), int64(0)
	for _, f := range files {
		if len(b.files) > 0 && (weight+f.weight() > c.target || memory+c.inMemory(f) > c.pile) {
			bins = append(bins, b)
			b, weight, memory = bin{}, 0, 0
		}
		b.files = append(b.files, f)
		b.worn = b.worn || c.worn(f)
		weight, memory = weight+f.weight(), memory+c.inMemory(f)
	}
	return append(bins, b)
}

// worth is what of a bin is written again. Small files that do not come to a large one wait until they are many, and one that is
// larger than all of the others waits longer: so a row is written again seldom, however often small files come.
func (c *chooser) worth(b bin) bin {
	weight, rows := int64(0), int64(0)
	for _, f := range b.files {
		b.bytes += f.FileSizeBytes()
		weight += f.weight()
		rows += f.Count()
	}
	if b.worn || !c.small(weight) && len(b.files) > 1 {
		return b
	}
	// By rows: the bytes of a file of a few are those of its footer.
	for n := len(b.files) - 1; n > 0 && 2*b.files[n].Count() > rows; n-- {
		rows -= b.files[n].Count()
		b.bytes -= b.files[n].FileSizeBytes()
		b.files = b.files[:n]
	}
	if len(b.files) < c.policy.Files {
		return bin{}
	}
	return b
}

// gain is what readers save by each byte that is written again: files to open, and dead rows.
func (b bin) gain() float64 {
	saved := int64(len(b.files)-1) * openCost
	for _, f := range b.files {
		saved += int64(f.deletes)*openCost + f.FileSizeBytes() - f.weight()
	}
	return float64(saved) / float64(max(b.bytes, 1))
}
