package shop

import (
	"bytes"
	"iter"
	"math/rand/v2"
	"strconv"
)

// Distribution is which orders change.
type Distribution string

// The distributions.
const (
	Uniform    Distribution = "uniform"
	Sequential Distribution = "sequential" // of consecutive numbers
	Skewed     Distribution = "80-20"      // 80 % are of the newest 20 %
)

// Form is how changes are written: a line for each but in Records.
type Form string

// The forms. Records are two lines each, key and value; an empty value is null.
const (
	Flat     Form = "flat"     // records of rows
	Debezium Form = "debezium" // records of Debezium's envelope; of what was before a delete has the key, an update nothing
	Images   Form = "images"   // the same, and of what was before an update has the key: some readers need it
	JSONL    Form = "jsonl"    // {"key": {…}, "op": "u"|"i"|"d", "row": {…}|null}
)

// Changes makes change sets, one after the other: 70 % updates, 20 % inserts, 10 % deletes, in a mixed order; a key is
// once in a set. An update or delete may meet an order that is deleted already: MERGE then inserts it, or does nothing.
type Changes struct {
	key          Key
	distribution Distribution
	rows         int64 // of the base
	next         int64 // the number of the next insert
	sets         int64
	rand         *rand.Rand
}

// NewChanges makes changes of a base.
func NewChanges(base *Base, d Distribution) *Changes {
	rows := int64(base.Rows)
	return &Changes{key: base.Key, distribution: d, rows: rows, next: rows, rand: rand.New(rand.NewPCG(1, 2))}
}

// Set is a change set, as it is written in each form.
type Set struct {
	key     Key
	version int64
	changes []change
}

type change struct {
	id int64
	op byte // u, i, d
}

// Next makes the next set, of so many keys.
func (c *Changes) Next(keys int) *Set {
	c.sets++
	s := &Set{key: c.key, version: c.sets}
	inserts, deletes := keys/5, keys/10
	for _, id := range c.old(keys - inserts) {
		op := byte('u')
		if len(s.changes) < deletes {
			op = 'd'
		}
		s.changes = append(s.changes, change{id, op})
	}
	for range inserts {
		s.changes = append(s.changes, change{c.next, 'i'})
		c.next++
	}
	c.rand.Shuffle(len(s.changes), func(i, j int) { s.changes[i], s.changes[j] = s.changes[j], s.changes[i] })
	return s
}

// Inserts makes a set of new orders alone, as a snapshot of the source has them.
func (c *Changes) Inserts(n int) *Set {
	c.sets++
	s := &Set{key: c.key, version: c.sets}
	for range n {
		s.changes = append(s.changes, change{c.next, 'i'})
		c.next++
	}
	return s
}

// old draws n orders of the base, in a random order.
func (c *Changes) old(n int) (ids []int64) {
	start := c.rand.Int64N(c.rows - int64(n) + 1)
	seen := map[int64]bool{}
	for int64(len(ids)) < int64(n) {
		id := c.rand.Int64N(c.rows)
		switch {
		case c.distribution == Sequential:
			id = start + int64(len(ids))
		case c.distribution == Skewed && c.rand.IntN(10) < 8:
			id = c.rows - 1 - c.rand.Int64N(c.rows/5)
		}
		if !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
	}
	c.rand.Shuffle(n, func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	return ids
}

// Text is the set in a form.
func (s *Set) Text(form Form) (b []byte) {
	var o order
	for _, c := range s.changes {
		o.draw(c.id, s.version)
		switch form {
		case Flat:
			b = append(o.appendKey(b, s.key), '\n')
			if c.op != 'd' {
				b = o.appendRow(b, s.key)
			}
		case Debezium, Images:
			b = append(o.appendKey(b, s.key), '\n')
			b = s.debezium(b, &o, c.op, form == Images)
		case JSONL:
			b = s.jsonl(b, &o, c.op)
		}
		b = append(b, '\n')
	}
	return b
}

// Records are the set's records in a form that has them: keys and values.
func (s *Set) Records(form Form) iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) {
		var key, value []byte
		for text := s.Text(form); len(text) > 0; {
			key, text, _ = bytes.Cut(text, []byte("\n"))
			value, text, _ = bytes.Cut(text, []byte("\n"))
			if !yield(key, value) {
				return
			}
		}
	}
}

func (s *Set) jsonl(b []byte, o *order, op byte) []byte {
	b = append(b, `{"key":`...)
	b = o.appendKey(b, s.key)
	b = append(b, `,"op":"`...)
	b = append(b, op)
	b = append(b, `","row":`...)
	if op == 'd' {
		return append(b, `null}`...)
	}
	return append(o.appendRow(b, s.key), '}')
}

func (s *Set) debezium(b []byte, o *order, op byte, images bool) []byte {
	b = append(b, `{"before":`...)
	if op == 'd' || op == 'u' && images {
		b = o.appendKey(b, s.key)
	} else {
		b = append(b, "null"...)
	}
	b = append(b, `,"after":`...)
	if op == 'd' {
		b = append(b, "null"...)
	} else {
		b = o.appendRow(b, s.key)
	}
	b = append(b, `,"source":{"version":"3.2.0.Final","connector":"postgresql","name":"shop","ts_ms":1767225600000,"db":"shop","schema":"public",`+
		`"table":"orders","txId":512,"lsn":`...)
	b = strconv.AppendInt(b, 28_183_080+o.id, 10)
	b = append(b, `},"op":"`...)
	b = append(b, map[byte]byte{'u': 'u', 'i': 'c', 'd': 'd'}[op])
	return append(b, `","ts_ms":1767225600100}`...)
}
