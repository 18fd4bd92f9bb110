package kafkaevent

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// escapeLen returns the length of the escape that b begins with, 0 if it is none.
func escapeLen(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	if bytes.IndexByte([]byte(`"\/bfnrt`), b[1]) >= 0 {
		return 2
	}
	if b[1] != 'u' || len(b) < 6 {
		return 0
	}
	for _, c := range b[2:6] {
		if _, ok := hexDigit(c); !ok {
			return 0
		}
	}
	return 6
}

func hexDigit(c byte) (rune, bool) {
	switch l := c | 0x20; {
	case c-'0' < 10:
		return rune(c - '0'), true
	case l >= 'a' && l <= 'f':
		return rune(l-'a') + 10, true
	}
	return 0, false
}

// unescape replaces the escapes of s, checked before, in place: none is shorter than what it stands for. Half a
// surrogate pair becomes a byte that is no UTF-8.
func unescape(s []byte) []byte {
	out := s[:0]
	for len(s) > 0 {
		if s[0] != '\\' {
			out, s = append(out, s[0]), s[1:]
			continue
		}
		if s[1] != 'u' {
			out, s = append(out, simple(s[1])), s[2:]
			continue
		}
		r := hexRune(s)
		s = s[6:]
		if !utf16.IsSurrogate(r) {
			out = utf8.AppendRune(out, r)
			continue
		}
		if escapeLen(s) != 6 || utf16.DecodeRune(r, hexRune(s)) == utf8.RuneError {
			out = append(out, 0xFF)
			continue
		}
		out = utf8.AppendRune(out, utf16.DecodeRune(r, hexRune(s)))
		s = s[6:]
	}
	return out
}

func simple(c byte) byte {
	switch c {
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
	return c
}

// hexRune reads the digits of `\uXXXX`.
func hexRune(s []byte) (r rune) {
	for _, c := range s[2:6] {
		d, _ := hexDigit(c)
		r = r<<4 | d
	}
	return r
}
