package rows

import (
	"encoding/binary"
	"hash/maphash"
	"math/bits"

	"github.com/apache/iceberg-go"
)

// ID stands for a typed key in 16 bytes: keys of the same columns are equal if and only if their IDs are. A key of types of
// fixed size that has 16 bytes at most is its own ID. That of another is a hash, 128 bits under a secret that each process
// draws by lot: that two of a hundred million keys share one has a chance below 2^-74.
type ID [2]uint64

// IDs makes the IDs of keys. It is safe for concurrent use.
type IDs struct {
	word []int // by column, where a key is its own ID: the word in which its part begins
	wide bool
}

var secret = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

// NewIDs takes the types of a key's columns.
func NewIDs(types ...iceberg.Type) *IDs {
	s, next := &IDs{}, 0
	for _, t := range types {
		n := words(t)
		if n == 0 || next+n > len(ID{}) {
			return &IDs{wide: true}
		}
		s.word = append(s.word, next)
		next += n
	}
	s.wide = next > 1
	return s
}

// words is how many words hold any part of a type; 0: parts differ in size, or are longer than an ID.
func words(t iceberg.Type) int {
	switch t := t.(type) {
	case iceberg.StringType, iceberg.BinaryType:
		return 0
	case iceberg.FixedType:
		if t.Len() > 16 {
			return 0
		}
		return (t.Len() + 7) / 8
	case iceberg.UUIDType, iceberg.DecimalType:
		return 2
	}
	return 1
}

// Wide reports whether the second word of an ID may be other than zero.
func (s *IDs) Wide() bool { return s.wide }

// Add adds a column's part to an ID, which begins as the zero ID. Columns are added in their order.
func (s *IDs) Add(id *ID, column int, part []byte) {
	if s.word == nil {
		for i, seed := range secret {
			id[i] = Mix(bits.RotateLeft64(id[i], 23)*0x9e3779b97f4a7c15 + maphash.Bytes(seed, part))
		}
		return
	}
	first := s.word[column]
	if len(part) == 8 {
		id[first] = binary.BigEndian.Uint64(part)
		return
	}
	var whole [16]byte
	copy(whole[:], part)
	id[first] = binary.BigEndian.Uint64(whole[:])
	if len(part) > 8 {
		id[first+1] = binary.BigEndian.Uint64(whole[8:])
	}
}

// AddInt is Add of the part that AppendInt makes of v.
func (s *IDs) AddInt(id *ID, column int, v int64) {
	if s.word != nil {
		id[s.word[column]] = uint64(v) ^ 1<<63
		return
	}
	var part [8]byte
	s.Add(id, column, AppendInt(part[:0], v))
}

// Of is the ID of a batch's key.
func (s *IDs) Of(k *Keys, key Key) (id ID) {
	for i := range k.columns {
		s.Add(&id, i, k.Part(key, i))
	}
	return id
}

// Mix makes a number of which every bit depends on every bit of v; of different numbers different ones.
func Mix(v uint64) uint64 {
	v = (v ^ v>>30) * 0xbf58476d1ce4e5b9
	v = (v ^ v>>27) * 0x94d049bb133111eb
	return v ^ v>>31
}
