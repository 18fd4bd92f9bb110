package locate

import (
	"math/bits"
	"math/rand/v2"

	"github.com/frazil/frazil/internal/rows"
	"github.com/frazil/frazil/internal/tablefile"
)

// index says where in a data file the rows of a key are. It has no pointers per row, and is built in one pass: a hash
// table of positions, which has a part of the key's hash beside each, and the IDs of all rows in their order.
type index struct {
	slots []uint32 // tag<<posBits | position+1; 0: free
	bits  int      // of a position
	words int      // of an ID: 1 where the second is always zero
	ids   []uint64
	// Positions of further rows with the key of the row at the position. One at most is alive, unless another writer
	// left several.
	more   map[uint32][]uint32
	rowIDs []int64 // as the file has them; nil: every row inherits its own
}

// maxIndexed is the number of rows of a file from which on its keys are not indexed.
const maxIndexed = 1 << 28

// indexBytes is about what the index of a file takes.
func indexBytes(f File, ids *rows.IDs) int64 {
	perRow := int64(8 + 4*7/5)
	if ids.Wide() {
		perRow += 8
	}
	if f.FirstRowID() != nil {
		perRow += 8 // at most
	}
	return f.Count()*perRow + 64
}

func newIndex(count int64, ids *rows.IDs) *index {
	x := &index{slots: make([]uint32, count*7/5+8), bits: bits.Len64(uint64(count)), words: 1}
	if ids.Wide() {
		x.words = 2
	}
	x.ids = make([]uint64, 0, count*int64(x.words))
	return x
}

// add takes in the next rows of the file.
func (x *index) add(keys tablefile.Keys) {
	for i, id := range keys.IDs {
		x.ids = append(x.ids, id[:x.words]...)
		if keys.Nulls == nil || !keys.Nulls[i] { // a null equals no key
			x.put(id, uint32(keys.First)+uint32(i))
		}
	}
	if keys.RowIDs != nil && x.rowIDs == nil {
		for range keys.First {
			x.rowIDs = append(x.rowIDs, tablefile.NoRowID)
		}
	}
	switch {
	case keys.RowIDs != nil:
		x.rowIDs = append(x.rowIDs, keys.RowIDs...)
	case x.rowIDs != nil:
		for range keys.IDs {
			x.rowIDs = append(x.rowIDs, tablefile.NoRowID)
		}
	}
}

func (x *index) put(id rows.ID, pos uint32) {
	h := hash(id)
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

// find calls f for every row with the key of an ID, whose hash is h.
func (x *index) find(id rows.ID, h uint64, f func(pos int64)) {
	tag := uint32(h) << x.bits
	for i := x.slot(h); x.slots[i] != 0; {
		if s := x.slots[i]; s>>x.bits<<x.bits == tag {
			if first := s - tag - 1; x.id(first) == id {
				f(int64(first))
				for _, pos := range x.more[first] {
					f(int64(pos))
				}
				return
			}
		}
		if i++; i == len(x.slots) {
			i = 0
		}
	}
}

// slot is where the search for a hash begins. Keys in the order of their hashes go through the table once.
func (x *index) slot(h uint64) int {
	i, _ := bits.Mul64(h, uint64(len(x.slots)))
	return int(i)
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
