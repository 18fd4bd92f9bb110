package locate

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"

	"github.com/apache/iceberg-go"
	"github.com/frazil/frazil/internal/rows"
	"github.com/frazil/frazil/internal/tablefile"
)

// mayHold reports whether the file's bounds leave room for one of the keys.
func (l *lookup) mayHold(f File) (bool, error) {
	lower, upper := make([][]byte, len(l.fields)), make([][]byte, len(l.fields))
	for i, fd := range l.fields {
		if _, id := fd.Type.(iceberg.UUIDType); id && len(f.SplitOffsets()) != 1 {
			continue // writers on the JVM join the bounds of row groups in an order of their own (apache/iceberg#14216)
		}
		var err error
		if lower[i], err = bound(fd, f.LowerBoundValues()); err == nil {
			upper[i], err = bound(fd, f.UpperBoundValues())
		}
		if err != nil {
			return false, fmt.Errorf("%s: %w", f.FilePath(), err)
		}
	}
	return l.ranges.meets(lower, upper), nil
}

// bound is the field's bound in the form of a key's part, nil when the file has none.
func bound(f tablefile.Field, bounds map[int][]byte) ([]byte, error) {
	b, ok := bounds[f.ID]
	if !ok {
		return nil, nil
	}
	return rows.BoundPart(f.Type, b)
}

// ranges tells which bounds leave room for one of some keys. It is asked for each file of a table: most files of a large one are
// told from the keys by their least and greatest parts, or have room for one of the first few keys. For the others the keys are put in
// order, once.
type ranges struct {
	keys            *rows.Keys
	least, greatest [][]byte // by field of the key
	sort            sync.Once
	sorted          []ranged
}

// ranged is a key in the order of its first part.
type ranged struct {
	begin uint64 // of the part, as a number of the same order
	key   rows.Key
}

// tried is how many keys are looked at before all are put in order.
const tried = 64

func newRanges(keys *rows.Keys, fields int) *ranges {
	r := &ranges{keys: keys, least: make([][]byte, fields), greatest: make([][]byte, fields)}
	for i := range fields {
		r.least[i], r.greatest[i] = keys.Part(0, i), keys.Part(0, i)
		for k := range rows.Key(keys.Len()) {
			switch part := keys.Part(k, i); {
			case bytes.Compare(part, r.least[i]) < 0:
				r.least[i] = part
			case bytes.Compare(part, r.greatest[i]) > 0:
				r.greatest[i] = part
			}
		}
	}
	return r
}

// meets reports whether a key lies between bounds, by field. A bound that is nil leaves all room.
func (r *ranges) meets(lower, upper [][]byte) bool {
	for i := range lower {
		if lower[i] != nil && bytes.Compare(lower[i], r.greatest[i]) > 0 || upper[i] != nil && bytes.Compare(r.least[i], upper[i]) > 0 {
			return false
		}
	}
	for k := range rows.Key(min(tried, r.keys.Len())) {
		if r.inside(k, lower, upper) {
			return true
		}
	}
	if r.keys.Len() <= tried {
		return false
	}
	r.sort.Do(r.inOrder)
	first := 0
	if lower[0] != nil {
		first, _ = slices.BinarySearchFunc(r.sorted, lower[0], func(e ranged, bound []byte) int {
			return bytes.Compare(r.keys.Part(e.key, 0), bound)
		})
	}
	for _, e := range r.sorted[first:] {
		if upper[0] != nil && bytes.Compare(r.keys.Part(e.key, 0), upper[0]) > 0 {
			return false
		}
		if r.inside(e.key, lower, upper) {
			return true
		}
	}
	return false
}

func (r *ranges) inside(k rows.Key, lower, upper [][]byte) bool {
	for i := range lower {
		part := r.keys.Part(k, i)
		if lower[i] != nil && bytes.Compare(lower[i], part) > 0 || upper[i] != nil && bytes.Compare(part, upper[i]) > 0 {
			return false
		}
	}
	return true
}

func (r *ranges) inOrder() {
	r.sorted = make([]ranged, r.keys.Len())
	for k := range r.sorted {
		var begin [8]byte
		copy(begin[:], r.keys.Part(rows.Key(k), 0))
		r.sorted[k] = ranged{binary.BigEndian.Uint64(begin[:]), rows.Key(k)}
	}
	slices.SortFunc(r.sorted, func(a, b ranged) int {
		if a.begin != b.begin {
			return cmp.Compare(a.begin, b.begin)
		}
		return bytes.Compare(r.keys.Part(a.key, 0), r.keys.Part(b.key, 0))
	})
}
