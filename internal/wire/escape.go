package wire

import (
	"unicode/utf16"
	"unicode/utf8"
)

// escape checks the escape at pos and passes over it.
func (p *parser) escape() error {
	at := p.src[p.pos:]
	if _, n := Escape(at); n > 0 {
		p.pos += n
		return nil
	}
	if len(at) < 2 {
		p.pos = len(p.src)
		return p.unexpected("an escape")
	}
	if _, half := hexEscape(at); half {
		return p.fail(p.pos, "an escape of half a surrogate pair")
	}
	return p.fail(p.pos, "an unknown escape")
}

// Escape reads the JSON escape that b begins with, a surrogate pair as one. n is its length, 0 if it is none.
func Escape(b []byte) (r rune, n int) {
	if len(b) < 2 || b[0] != '\\' {
		return 0, 0
	}
	if c := simpleEscape(b[1]); c != 0 {
		return rune(c), 2
	}
	r, ok := hexEscape(b)
	switch {
	case !ok:
		return 0, 0
	case !utf16.IsSurrogate(r):
		return r, 6
	}
	low, _ := hexEscape(b[6:])
	if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
		return 0, 0
	}
	return r, 12
}

// simpleEscape returns what a backslash and c stand for, 0 if nothing.
func simpleEscape(c byte) byte {
	switch c {
	case '"', '\\', '/':
		return c
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return 0
}

// hexEscape reads a `\u` with its four hex digits at the start of b.
func hexEscape(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range b[2:6] {
		switch {
		case c-'0' < 10:
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = (c | 0x20) - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// AppendUnescaped appends the text that s, checked before, stands for. It may be appended to s[:0].
func AppendUnescaped(dst, s []byte) []byte {
	for len(s) > 0 {
		if s[0] != '\\' {
			dst, s = append(dst, s[0]), s[1:]
			continue
		}
		r, n := Escape(s)
		dst, s = utf8.AppendRune(dst, r), s[n:]
	}
	return dst
}
