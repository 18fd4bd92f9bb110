package wire

import (
	"unicode/utf16"
	"unicode/utf8"
)

// escape checks the escape at pos and passes over it.
func (p *parser) escape() error {
	start := p.pos
	if start+1 >= len(p.src) {
		p.pos = len(p.src)
		return p.unexpected("an escape")
	}
	if simpleEscape(p.src[start+1]) != 0 {
		p.pos += 2
		return nil
	}
	r, ok := hexEscape(p.src[start:])
	if !ok {
		return p.fail(start, "an unknown escape")
	}
	p.pos += 6
	if !utf16.IsSurrogate(r) {
		return nil
	}
	low, ok := hexEscape(p.src[p.pos:])
	if !ok || utf16.DecodeRune(r, low) == utf8.RuneError {
		return p.fail(start, "an escape of half a surrogate pair")
	}
	p.pos += 6
	return nil
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

// hexEscape reads `\uXXXX` at the start of b.
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

// appendUnescaped appends the text that s, checked before, stands for.
func appendUnescaped(dst, s []byte) []byte {
	for i := 0; i < len(s); {
		if s[i] != '\\' {
			dst = append(dst, s[i])
			i++
			continue
		}
		if c := simpleEscape(s[i+1]); c != 0 {
			dst = append(dst, c)
			i += 2
			continue
		}
		r, _ := hexEscape(s[i:])
		i += 6
		if utf16.IsSurrogate(r) {
			low, _ := hexEscape(s[i:])
			r = utf16.DecodeRune(r, low)
			i += 6
		}
		dst = utf8.AppendRune(dst, r)
	}
	return dst
}
