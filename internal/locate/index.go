package locate

import (
	"math/bits"
	"math/rand/v2"
	"sync"

	"github.com/frazil/frazil/internal/rows"
	"github.com/frazil/frazil/internal/tablefile"
)

// index says where in a data file the rows of a key are. It has no pointers per row: the IDs of the rows' keys, in their order,
// and a hash table of positions, which has a part of the ID's hash beside each. The table is made when the index is asked first,
// for a process that looks once has no use for it.
type index struct {
	words  int // of an ID: 1 where the second is always zero
	ids    []uint64
	nulls  *tablefile.Positions // rows without a key; nil: none
	rowIDs []int64              // as the file has them; nil: every row inherits its own

	table  sync.Once
	filter *filter  // of the keys: most are looked for in files that do not have them
	slots  []uint32 // tag<<posBits | position+1; 0: free
	bits   int      // of a position
	// Positions of further rows with the key of the row at the position. One at most is alive, unless another writer
	// left several.
	more map[uint32][]uint32
}

// maxIndexed is the number of rows of a file from which on its keys are not indexed.
const maxIndexed = 1 << 28

// indexBytes is about what the index of a file takes.
func indexBytes(f File, ids *rows.IDs) int64 {
	perRow := int64(8+4*7/5) + bitsPerRow/8*2
	if ids.Wide() {
		perRow += 8
	}
	if f.FirstRowID() != nil {
		perRow += 8 // at most
	}
	return f.Count()*perRow + 64
}

func newIndex(count int64, ids *rows.IDs) *index {
	x := &index{words: 1}
	if ids.Wide() {
		x.words = 2
	}
	x.ids = make([]uint64, 0, count*int64(x.words))
	return x
}

// add takes in the next rows of the file.
func (x *index) add(keys tablefile.Keys) {
	if x.words == 1 {
		for _, id := range keys.IDs {
			x.ids = append(x.ids, id[0])
		}
	} else {
		for _, id := range keys.IDs {
			x.ids = append(x.ids, id[0], id[1])
		}
	}
	for i, null := range keys.Nulls {
		if null {
			if x.nulls == nil {
				x.nulls = tablefile.NewPositions()
			}
			x.nulls.Set(uint64(keys.First) + uint64(i))
		}
	}
	x.addRowIDs(keys)
}

func (x *index) addRowIDs(keys tablefile.Keys) {
	if keys.RowIDs == nil && x.rowIDs == nil {
		return
	}
	for int64(len(x.rowIDs)) < keys.First {
		x.rowIDs = append(x.rowIDs, tablefile.NoRowID)
	}
	if x.rowIDs = append(x.rowIDs, keys.RowIDs...); keys.RowIDs == nil {
		for range keys.IDs {
			x.rowIDs = append(x.rowIDs, tablefile.NoRowID)
		}
	}
}

const bitsPerRow = 8 // at least, of the filter

// build makes the table of positions, and the filter.
func (x *index) build() {
	count := len(x.ids) / x.words
	x.filter = newFilter(count, bitsPerRow)
	x.slots, x.bits = make([]uint32, count*7/5+8), bits.Len(uint(count))
	for pos := range uint32(count) {
		if x.nulls == nil || !x.nulls.Contains(uint64(pos)) { // a null equals no key
			x.put(x.id(pos), pos)
		}
	}
}

func (x *index) put(id rows.ID, pos uint32) {
	h := hash(id)
	x.filter.add(h)
	tag := uint32(h) << x.bits
	i := x.slot(h)
	for x.slots[i] != 0 {
		if s := x.slots[i]; s>>x.bits<<x.bits == tag {
			if first := s - tag - 1; x.id(first) == id {
				if x.more == nil {
					x.more = map[uint32][]uint32{}
				}
				x.more[first] = append(x.more[first], pos)
				return
			}
		}
		if i++; i == len(x.slots) {
			i = 0
		}
	}
	x.slots[i] = tag | (pos + 1)
}

// find returns the first row with the key of an ID, whose hash is h, and those that share it. It is -1 where there is none. The table
// has to be made already.
func (x *index) find(id rows.ID, h uint64) (first int64, more []uint32) {
	tag := uint32(h) << x.bits
	for i := x.slot(h); x.slots[i] != 0; {
		if s := x.slots[i]; s>>x.bits<<x.bits == tag {
			if pos := s - tag - 1; x.id(pos) == id {
				return int64(pos), x.more[pos]
			}
		}
		if i++; i == len(x.slots) {
			i = 0
		}
	}
	return -1, nil
}

// slot is where the search for a hash begins. Keys in the order of their hashes go through the table once.
func (x *index) slot(h uint64) int {
	return share(h, len(x.slots))
}

func (x *index) id(pos uint32) rows.ID {
	if x.words == 1 {
		return rows.ID{x.ids[pos]}
	}
	return rows.ID(x.ids[2*pos:])
}

// rowID is what the file has as the id of a row.
func (x *index) rowID(pos int64) int64 {
	if x.rowIDs == nil {
		return tablefile.NoRowID
	}
	return x.rowIDs[pos]
}

var secret = rand.Uint64() // no stranger can choose keys that meet in one slot

func hash(id rows.ID) uint64 {
	return rows.Mix(id[0] ^ secret + bits.RotateLeft64(rows.Mix(id[1]), 32))
}

// share is where a hash stands among n places, in the order of hashes.
func share(hash uint64, n int) int {
	i, _ := bits.Mul64(hash, uint64(n))
	return int(i)
}
