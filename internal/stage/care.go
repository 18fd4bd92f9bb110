package stage

import (
	"cmp"
	"maps"
	"slices"

	"github.com/apache/iceberg-go"
	"github.com/frazil/frazil/internal/locate"
)

// care is what a commit does for the table's files besides its own: it writes small ones and half-dead ones again with
// its rows, and removes dead ones. So the table stays fast without anybody's compaction, whose commits would meet ours.
type care struct {
	halfDead, deadFiles bool
	levels              Levels // none: small files are left
	small               int64  // bytes from which on levels leave a file alone
	budget              int64  // bytes that a commit writes again of its own accord
}

// By default, what a commit writes again is a quarter of a million rows at most: half a second.
const (
	defaultSmall  = 4 << 20
	defaultBudget = 16 << 20
	defaultMany   = 8
	// Of a half-dead file: its rows, and its bytes before.
	mostLive, mostHalfDead = 250_000, 32 << 20
	// rowWeight is the bytes of a narrow row: to write it again costs no less.
	rowWeight = 64
)

func (r *reader) care(target int64) care {
	c := care{
		halfDead: r.on("frazil.care.half-dead"), deadFiles: r.on("frazil.care.dead-files"),
		budget: r.atLeast(0, "frazil.care.budget-bytes", defaultBudget),
		small:  min(r.positive("frazil.care.small-bytes", defaultSmall), max(1, target/2)), // what is near the target is large
	}
	many := int(r.atLeast(2, "frazil.care.level-files", defaultMany))
	if r.on("frazil.care.levels") {
		c.levels = Levels{levelsUpTo(c.small), many}
	}
	return c
}

// levelsUpTo are the bounds of the levels of small files.
func levelsUpTo(small int64) []int64 { return []int64{small / 64, small / 8, small} }

// within is the care of a process that has not more for it: of the largest small files, too, more than a few have to fit.
func (c care) within(budget int64) care {
	c.budget = min(c.budget, budget)
	if small := budget / (least + 1); small < c.small {
		c.small = small
		if c.levels.Many > 0 {
			c.levels.Bounds = levelsUpTo(small)
		}
	}
	return c
}

// Tally counts what became of data files that a commit found.
type Tally struct {
	ByPosition int // lost rows by position
	Rewritten  int // lost rows, and were written again
	Merged     int // lost none, and were written again with what the commit writes
	Dead       int // had no live row left
	// Neglected says why a file that care picked was left as it is; nil: none was.
	Neglected error
}

// weight is what the live rows of a file cost to write again, in bytes.
func (s *state) weight() int64 {
	if s.Count() == 0 {
		return 0
	}
	return int64(float64(max(s.FileSizeBytes(), s.Count()*rowWeight)) * (float64(s.rest()) / float64(s.Count())))
}

// rest is the rows that stay.
func (s *state) rest() int64 { return s.Count() - s.dead }

func (s *state) halfDead() bool { return 2*s.dead >= s.Count() && s.rest() <= mostLive }

// cheap reports whether a file that loses rows is sooner written again than read with its deletes ever after.
func (s *state) cheap() bool {
	const rows, bytes = 50_000, 4 << 20
	return s.rest() <= rows && s.FileSizeBytes() <= bytes || s.halfDead()
}

// chooser says what becomes of each file.
type chooser struct {
	*writer
	care
	encoding Encoding
	files    []*state // those that lose rows first
}

// choose decides by what manifests and the search say, without reading anything.
func (c *chooser) choose(p *pile) error {
	for _, f := range c.files {
		switch {
		case f.rest() == 0 && c.deadFiles && f.dead > 0:
			f.fate = removed
		case f.kills != nil && c.encoding == Rewrite:
			f.fate, f.must = carried, true
		}
	}
	c.carryHalfDead()
	return c.carryLevels(p)
}

// carryHalfDead picks the files that are cheaper to write again for what they lost, the cheapest first.
func (c *chooser) carryHalfDead() {
	var picked []*state
	for _, f := range c.files {
		ours := c.halfDead && f.dead > 0 && f.halfDead() && f.FileSizeBytes() <= mostHalfDead
		if f.fate == kept && c.readable(f) && (ours || c.encoding == Auto && f.kills != nil && f.cheap()) {
			picked = append(picked, f)
		}
	}
	slices.SortStableFunc(picked, func(a, b *state) int { return cmp.Compare(a.weight(), b.weight()) })
	for _, f := range picked {
		if f.weight() > c.budget {
			return
		}
		f.fate = carried
		c.budget -= f.weight()
	}
}

// readable reports whether the file can be written again, as far as is known.
func (w *writer) readable(f *state) bool {
	return !w.avoid[f.FilePath()] && f.FileFormat() == iceberg.ParquetFile
}

// carryLevels picks the small files of the partitions that the commit writes rows to.
func (c *chooser) carryLevels(p *pile) error {
	if c.levels.Many == 0 || len(p.picks) == 0 {
		return nil
	}
	groups, err := c.groups(p)
	if err != nil {
		return err
	}
	inside := c.byPartition()
	for _, g := range groups {
		var small []*state
		var sizes []int64
		var added, bytes, rows int64
		for _, f := range inside[locate.PartitionKey(int32(c.target.Spec.ID()), g.partition)] {
			if f.fate == carried {
				added += f.weight()
			} else {
				small, sizes = append(small, f), append(sizes, f.weight())
			}
			bytes, rows = bytes+f.FileSizeBytes(), rows+f.Count()
		}
		// The commit's own rows are not encoded yet: they are taken to be as long as those that are there.
		added += int64(len(g.picks)) * max(rowWeight, bytes/max(1, rows))
		for _, i := range c.levels.Full(added, sizes, c.budget) {
			small[i].fate = carried
			c.budget -= sizes[i]
		}
	}
	return nil
}

// byPartition are the small files of the target's spec that stay or are carried.
func (c *chooser) byPartition() map[string][]*state {
	out := map[string][]*state{}
	whole := locate.PartitionKey(int32(c.target.Spec.ID()), nil)
	for _, f := range c.files {
		if f.fate == removed || !c.readable(f) || int(f.SpecID()) != c.target.Spec.ID() || f.weight() >= c.small {
			continue
		}
		key := whole
		if !c.target.Spec.IsUnpartitioned() {
			key = f.PartitionKey()
		}
		out[key] = append(out[key], f)
	}
	return out
}

// states are the live files with what is known of their dead rows, those that lose rows first, ordered by path.
func (w *writer) states() (out []*state) {
	touched := map[string]bool{}
	for _, h := range w.outcome.Found.Hits {
		if !touched[h.File] {
			touched[h.File] = true
			out = append(out, w.touched(h.File))
		}
		last := out[len(out)-1]
		last.kills.Set(uint64(h.Pos))
		last.positions.Set(uint64(h.Pos))
	}
	for _, s := range out {
		s.count(s.positions, w.outcome.Found.Deleted[s.FilePath()].Equal)
	}
	vectors := map[string]int64{}
	for _, d := range w.live.Deletes {
		if of := d.ReferencedDataFile(); d.IsVector() && of != nil {
			vectors[*of] = d.Count()
		}
	}
	for _, f := range w.live.Data {
		if !touched[f.FilePath()] {
			out = append(out, &state{File: f, dead: min(vectors[f.FilePath()], f.Count())})
		}
	}
	return out
}

// goneDeletes takes delete files out of the table that speak only of data files that are gone.
func (w *writer) goneDeletes() {
	if len(w.gone) == 0 {
		return
	}
	left := map[string]int64{} // the sequence numbers of the data files that stay
	for _, f := range w.live.Data {
		if !w.gone[f.FilePath()] {
			left[f.FilePath()] = f.Sequence
		}
	}
	paths := slices.Sorted(maps.Keys(left))
	for _, d := range w.live.Deletes {
		if !speaks(d, left, paths) {
			w.Removed = append(w.Removed, d)
			w.gone[d.FilePath()] = true
		}
	}
}

// speaks reports whether a delete file may speak of one of the data files, given by their sequence numbers and by their
// paths in order.
func speaks(d locate.File, files map[string]int64, paths []string) bool {
	if of := d.ReferencedDataFile(); of != nil {
		_, there := files[*of]
		return there
	}
	lower, below := d.LowerBoundValues()[locate.FieldFilePath]
	upper, above := d.UpperBoundValues()[locate.FieldFilePath]
	from := 0
	if below {
		from, _ = slices.BinarySearch(paths, string(lower))
	}
	for _, path := range paths[from:] {
		if above && path > string(upper) {
			return false
		}
		if files[path] <= d.Sequence {
			return true
		}
	}
	return false
}
