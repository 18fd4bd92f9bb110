package rows

import (
	"encoding/binary"
	"strings"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/iceberg-go"
)

// Key stands for one typed key within a batch: keys are equal if and only if their values are (rule 2:
// 10.0 equals 10.00, instants compare as instants). Keys count up from 0.
type Key int32

// Keys interns the typed keys of a batch.
//
// A key is the concatenation of its columns' parts. A part's byte order is its value's order, so that parts
// can be compared with a file's bounds; TestPartsOrderAsValues holds that.
type Keys struct {
	columns int
	ids     map[string]Key
	names   strings.Builder // what the keys of ids are cut from
	text    []byte
	ends    []uint32 // end of each part in text; columns of them per key
}

// NewKeys is an empty set of keys of so many columns.
func NewKeys(columns int) *Keys { return &Keys{columns: columns, ids: map[string]Key{}} }

// reserve makes room for so many keys, if there is none yet.
func (k *Keys) reserve(n int) {
	if len(k.ids) == 0 {
		k.ids = make(map[string]Key, n)
		k.ends = make([]uint32, 0, n*k.columns)
	}
}

// Len is the number of different keys.
func (k *Keys) Len() int { return len(k.ids) }

// Intern returns the key made of parts, adding it when it is new.
func (k *Keys) Intern(p *Parts) Key {
	if id, ok := k.ids[string(p.key)]; ok {
		return id
	}
	id := Key(len(k.ids))
	k.ids[k.name(p.key)] = id
	for i := range k.columns {
		k.text = append(k.text, p.At(i)...)
		k.ends = append(k.ends, uint32(len(k.text)))
	}
	return id
}

// name is a key's text, which lies with those of others: what a Builder has handed out stays when it grows or is reset.
func (k *Keys) name(key []byte) string {
	const chunk = 16 << 10
	if k.names.Cap()-k.names.Len() < len(key) {
		k.names.Reset()
		k.names.Grow(max(chunk, len(key)))
	}
	n := k.names.Len()
	k.names.Write(key)
	return k.names.String()[n:]
}

// Find looks a key up without adding it.
func (k *Keys) Find(p *Parts) (Key, bool) {
	id, ok := k.ids[string(p.key)]
	return id, ok
}

// Part is the key's value in the given column of the key.
func (k *Keys) Part(id Key, column int) []byte {
	i := int(id)*k.columns + column
	from := uint32(0)
	if i > 0 {
		from = k.ends[i-1]
	}
	return k.text[from:k.ends[i]]
}

// Parts builds one key, column by column, in a buffer that is used again.
type Parts struct {
	key  []byte // each part behind its length: no two keys of different parts are alike
	ends []int
}

// Reset begins a new key.
func (p *Parts) Reset() { p.key, p.ends = p.key[:0], p.ends[:0] }

// At is the part of one column.
func (p *Parts) At(i int) []byte {
	from := 4
	if i > 0 {
		from += p.ends[i-1]
	}
	return p.key[from:p.ends[i]]
}

// Equal reports whether both hold the same key.
func (p *Parts) Equal(o *Parts) bool { return string(p.key) == string(o.key) }

func (p *Parts) part(appendTo func([]byte) []byte) {
	start := len(p.key)
	p.key = append(p.key, 0, 0, 0, 0)
	p.key = appendTo(p.key)
	binary.BigEndian.PutUint32(p.key[start:], uint32(len(p.key)-start-4))
	p.ends = append(p.ends, len(p.key))
}

// Int appends a boolean, int, long, date, time or timestamp.
func (p *Parts) Int(v int64) { p.part(func(b []byte) []byte { return AppendInt(b, v) }) }

// Decimal appends an unscaled decimal at its column's scale.
func (p *Parts) Decimal(v decimal128.Num) {
	p.part(func(b []byte) []byte { return AppendDecimal(b, v) })
}

// Bytes appends a string, binary, fixed or uuid, or a part that is made already.
func (p *Parts) Bytes(v []byte) { p.part(func(b []byte) []byte { return append(b, v...) }) }

// Cell appends a value of a column of type t.
func (p *Parts) Cell(t iceberg.Type, c *Cell) {
	p.part(func(b []byte) []byte { return AppendCell(b, t, c) })
}

// KeyNames lists the key's columns, for messages.
func (s *Schema) KeyNames() string {
	var names []string
	for _, i := range s.Key {
		names = append(names, s.Columns[i].Name)
	}
	return strings.Join(names, ", ")
}
