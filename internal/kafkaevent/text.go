package kafkaevent

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/frazil/frazil/internal/wire"
)

// text is the JSON text of an event and the place in it. Its readers pass over the white space before what they read.
type text struct {
	b   []byte
	pos int
}

func (t *text) fail(problem string) error { return t.failAt(t.pos, problem) }

func (t *text) failAt(pos int, problem string) error {
	return fmt.Errorf("byte %d: %s", pos, problem)
}

func (t *text) unexpected(want string) error {
	if t.pos >= len(t.b) {
		return t.failAt(len(t.b), "the event is cut off, expected "+want)
	}
	return t.fail("expected " + want)
}

func (t *text) space() {
	for t.pos < len(t.b) {
		switch t.b[t.pos] {
		case ' ', '\n', '\r', '\t':
			t.pos++
		default:
			return
		}
	}
}

// peek returns the next byte after white space, 0 at the end.
func (t *text) peek() byte {
	t.space()
	if t.pos == len(t.b) {
		return 0
	}
	return t.b[t.pos]
}

// object reads an object; member reads the value of the member of that name.
func (t *text) object(member func(name []byte) error) error {
	if t.peek() != '{' {
		return t.unexpected("an object")
	}
	t.pos++
	for first := true; ; first = false {
		if more, err := t.more('}', first); err != nil || !more {
			return err
		}
		name, err := t.quoted()
		if err != nil {
			return err
		}
		if t.peek() != ':' {
			return t.unexpected("a colon")
		}
		t.pos++
		if err := member(name); err != nil {
			return err
		}
	}
}

// array reads an array; elem reads one element.
func (t *text) array(elem func() error) error {
	if t.peek() != '[' {
		return t.unexpected("an array")
	}
	t.pos++
	for first := true; ; first = false {
		if more, err := t.more(']', first); err != nil || !more {
			return err
		}
		if err := elem(); err != nil {
			return err
		}
	}
}

// more passes over a comma or the closing bracket, and reports whether another member or element has to follow.
func (t *text) more(end byte, first bool) (bool, error) {
	switch c := t.peek(); {
	case c == end:
		t.pos++
		return false, nil
	case first:
		return true, nil
	case c == ',':
		t.pos++
		return true, nil
	}
	return false, t.unexpected("a comma or a closing bracket")
}

func (t *text) literal(word string) error {
	if !bytes.HasPrefix(t.b[t.pos:], []byte(word)) {
		return t.unexpected("a value")
	}
	t.pos += len(word)
	return nil
}

// integer reads a whole number between lo and hi. With an error it returns -1.
func (t *text) integer(lo, hi int64) (int64, error) {
	negative := t.peek() == '-'
	start := t.pos
	if negative {
		t.pos++
	}
	first := t.pos
	var v uint64
	for ; t.pos < len(t.b) && t.b[t.pos]-'0' < 10; t.pos++ {
		if v > (1<<63)/10 {
			return -1, t.failAt(start, "a number out of range")
		}
		v = v*10 + uint64(t.b[t.pos]-'0')
	}
	if t.pos == first {
		return -1, t.unexpected("an integer")
	}
	if t.b[first] == '0' && t.pos > first+1 {
		return -1, t.failAt(start, "a number with leading zeros")
	}
	if t.pos < len(t.b) && (t.b[t.pos] == '.' || t.b[t.pos]|0x20 == 'e') {
		return -1, t.failAt(start, "expected an integer")
	}
	return t.within(start, v, negative, lo, hi)
}

func (t *text) within(start int, v uint64, negative bool, lo, hi int64) (int64, error) {
	n := int64(v)
	if negative {
		n = -n
	}
	if v > 1<<63 || (v == 1<<63 && !negative) || n < lo || n > hi || (negative && lo == 0) {
		return -1, t.failAt(start, "a number out of range")
	}
	return n, nil
}

// quoted reads a text, unescaped in place.
func (t *text) quoted() ([]byte, error) {
	start, plain, err := t.span()
	if err != nil {
		return nil, err
	}
	s := t.b[start : t.pos-1 : t.pos-1]
	if plain {
		return s, nil
	}
	if s = wire.AppendUnescaped(s[:0], s); !utf8.Valid(s) {
		return nil, t.failAt(start, "a text is not valid Unicode")
	}
	return s, nil
}

// span passes over a text and returns where it begins, and whether it is of ASCII without escapes. It ends before the
// quote that was read last.
func (t *text) span() (start int, plain bool, err error) {
	if t.peek() != '"' {
		return 0, false, t.unexpected("a text")
	}
	t.pos++
	start, plain = t.pos, true
	for t.pos < len(t.b) {
		switch c := t.b[t.pos]; {
		case c == '"':
			t.pos++
			return start, plain, nil
		case c == '\\':
			plain = false
			if err := t.escape(); err != nil {
				return 0, false, err
			}
		case c < ' ':
			return 0, false, t.fail("a control character in a text")
		default:
			plain = plain && c < utf8.RuneSelf
			t.pos++
		}
	}
	return 0, false, t.unexpected("a closing quote")
}

func (t *text) escape() error {
	_, n := wire.Escape(t.b[t.pos:])
	if n == 0 {
		if t.pos+6 > len(t.b) {
			t.pos = len(t.b)
		}
		return t.unexpected("an escape")
	}
	t.pos += n
	return nil
}
