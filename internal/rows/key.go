package rows

import (
	"encoding/binary"
	"hash/maphash"
	"math/bits"
	"strings"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/iceberg-go"
)

// Key stands for one typed key within a batch: keys are equal if and only if their values are (rule 2:
// 10.0 equals 10.00, instants compare as instants). Keys count up from 0.
type Key int32

// Keys interns the typed keys of a batch.
//
// A key is its columns' parts, as Parts has them. A part's byte order is its value's order, so that parts
// can be compared with a file's bounds; TestPartsOrderAsValues holds that.
type Keys struct {
	columns int
	text    []byte   // the keys, one behind the other
	ends    []uint32 // end of each part in text; columns of them per key
	slots   []slot   // a hash table, with open addressing, of a power of two of them
}

// slot is a place for a key in the table. It holds no pointer: a batch has as many as it has keys.
type slot struct {
	hash  uint32
	after Key // 1 + the key; 0: the slot is free
}

// NewKeys is an empty set of keys of so many columns.
func NewKeys(columns int) *Keys { return &Keys{columns: columns, slots: make([]slot, 16)} }

// reserve makes room for so many keys, if there is none yet.
func (k *Keys) reserve(n int) {
	if k.Len() == 0 {
		k.ends = make([]uint32, 0, n*k.columns)
		k.slots = make([]slot, slotsFor(n))
	}
}

// slotsFor is how many slots n keys need for a quarter of them to stay free: searches end at a free one.
func slotsFor(n int) int { return 1 << bits.Len(uint(max(15, n+n/3))) }

// Len is the number of different keys.
func (k *Keys) Len() int { return len(k.ends) / k.columns }

// Intern returns the key made of parts, adding it when it is new.
func (k *Keys) Intern(p *Parts) Key {
	hash := hashKey(p.key)
	at := k.search(p.key, hash)
	if found := k.slots[at].after; found > 0 {
		return found - 1
	}
	id := Key(k.Len())
	k.slots[at] = slot{hash, id + 1}
	if id == 0 { // the others are taken to be as long
		k.text = make([]byte, 0, min(len(p.key)*cap(k.ends)/k.columns, mostReserved))
	}
	from := uint32(len(k.text))
	k.text = append(k.text, p.key...)
	for _, end := range p.ends {
		k.ends = append(k.ends, from+uint32(end))
	}
	if 4*k.Len() > 3*len(k.slots) {
		k.grow()
	}
	return id
}

// hashKey is under a secret of the process: nobody can choose keys that collide.
func hashKey(key []byte) uint32 { return uint32(maphash.Bytes(secret[0], key)) }

// search returns the slot of a key, or the free one where it belongs.
func (k *Keys) search(key []byte, hash uint32) uint32 {
	last := uint32(len(k.slots) - 1)
	at := hash & last
	for ; k.slots[at].after > 0; at = (at + 1) & last {
		if k.slots[at].hash == hash && string(k.whole(k.slots[at].after-1)) == string(key) {
			break
		}
	}
	return at
}

func (k *Keys) grow() {
	old, last := k.slots, uint32(2*len(k.slots)-1)
	k.slots = make([]slot, last+1)
	for _, s := range old {
		if s.after == 0 {
			continue
		}
		at := s.hash & last
		for k.slots[at].after > 0 {
			at = (at + 1) & last
		}
		k.slots[at] = s
	}
}

// whole is a key as Parts has it.
func (k *Keys) whole(id Key) []byte {
	first := int(id) * k.columns
	return k.text[k.begin(first):k.ends[first+k.columns-1]]
}

// Part is the key's value in the given column of the key.
func (k *Keys) Part(id Key, column int) []byte {
	i := int(id)*k.columns + column
	return k.text[k.begin(i)+partLength : k.ends[i]]
}

// begin is where the i-th part of all begins in text.
func (k *Keys) begin(i int) uint32 {
	if i == 0 {
		return 0
	}
	return k.ends[i-1]
}

// Parts builds one key, column by column, in a buffer that is used again.
type Parts struct {
	key  []byte // each part behind its length: no two keys of different parts are alike
	ends []int
}

// partLength is the size of a part's length.
const partLength = 4

// Reset begins a new key.
func (p *Parts) Reset() { p.key, p.ends = p.key[:0], p.ends[:0] }

// At is the part of one column.
func (p *Parts) At(i int) []byte {
	from := partLength
	if i > 0 {
		from += p.ends[i-1]
	}
	return p.key[from:p.ends[i]]
}

// Equal reports whether both hold the same key.
func (p *Parts) Equal(o *Parts) bool { return string(p.key) == string(o.key) }

// begin makes room for the length of a part, which is appended then; end writes it.
func (p *Parts) begin() { p.key = append(p.key, make([]byte, partLength)...) }

func (p *Parts) end() {
	from := 0
	if n := len(p.ends); n > 0 {
		from = p.ends[n-1]
	}
	binary.BigEndian.PutUint32(p.key[from:], uint32(len(p.key)-from-partLength))
	p.ends = append(p.ends, len(p.key))
}

// Int appends a boolean, int, long, date, time or timestamp.
func (p *Parts) Int(v int64) {
	p.begin()
	p.key = AppendInt(p.key, v)
	p.end()
}

// Decimal appends an unscaled decimal at its column's scale.
func (p *Parts) Decimal(v decimal128.Num) {
	p.begin()
	p.key = AppendDecimal(p.key, v)
	p.end()
}

// Bytes appends a string, binary, fixed or uuid, or a part that is made already.
func (p *Parts) Bytes(v []byte) {
	p.begin()
	p.key = append(p.key, v...)
	p.end()
}

// Cell appends a value of a column of type t.
func (p *Parts) Cell(t iceberg.Type, c *Cell) {
	p.begin()
	p.key = AppendCell(p.key, t, c)
	p.end()
}

// KeyNames lists the key's columns, for messages.
func (s *Schema) KeyNames() string {
	var names []string
	for _, i := range s.Key {
		names = append(names, s.Columns[i].Name)
	}
	return strings.Join(names, ", ")
}
