package coerce

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/frazil/frazil/internal/rows"
	"github.com/frazil/frazil/internal/wire"
)

// blob parses into binary, and into fixed of a size. Bytes of Connect are base64; other texts are in the route's
// binary_encoding.
type blob struct {
	name    string
	size    int // negative: any
	options options
}

func (t blob) parse(v wire.Value, c *rows.Cell) error {
	if v.Kind() != wire.Text {
		return wrongKind(v, t.name)
	}
	b, err := t.decode(v)
	if err != nil {
		return err
	}
	if t.size >= 0 && len(b) != t.size {
		return fmt.Errorf("is not of the length of %s", t.name)
	}
	c.Bytes = b
	return nil
}

func (t blob) decode(v wire.Value) ([]byte, error) {
	text, encoding := v.Text(), t.options.binary
	if typ := v.Type(); typ != nil && typ.Kind == "bytes" {
		if typ.Name == wire.Decimal {
			return nil, errors.New("a decimal does not fit " + t.name)
		}
		if encoding != "pg_hex" || !bytes.HasPrefix(text, pgHex) { // CockroachDB's bytes, which no base64 begins like
			encoding = "base64"
		}
	}
	b, ok := t.decodeAs(encoding, text)
	if !ok {
		return nil, fmt.Errorf("is no %s (binary_encoding says how bytes are sent)", encoding)
	}
	return b, nil
}

var pgHex = []byte(`\x`)

func (t blob) decodeAs(encoding string, text []byte) ([]byte, bool) {
	s := t.options.scratch
	switch encoding {
	case "base64url":
		return decodeBase64(base64.URLEncoding, s, text)
	case "pg_hex":
		if !bytes.HasPrefix(text, pgHex) {
			return nil, false
		}
		return decodeHex(s, text[len(pgHex):])
	case "hex":
		return decodeHex(s, text)
	case "utf8":
		return text, true
	case "latin1":
		return decodeLatin1(s, text)
	}
	return decodeBase64(base64.StdEncoding, s, text)
}

// decodeBase64 takes what an encoder gives, with its padding, and nothing else: no line breaks, no bits beyond the end.
// The bytes are in s, or, without it, on their own.
func decodeBase64(e *base64.Encoding, s *scratch, text []byte) ([]byte, bool) {
	b := s.bytes(e.DecodedLen(len(text)))
	n, err := e.Strict().Decode(b, text)
	if err != nil || e.EncodedLen(n) != len(text) {
		return nil, false
	}
	return b[:n], true
}

func decodeHex(s *scratch, text []byte) ([]byte, bool) {
	b := s.bytes(hex.DecodedLen(len(text)))
	_, err := hex.Decode(b, text)
	return b, err == nil
}

// decodeLatin1 takes a text of characters up to U+00FF, each a byte.
func decodeLatin1(s *scratch, text []byte) ([]byte, bool) {
	b := s.bytes(utf8.RuneCount(text))[:0]
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		if r > 0xff {
			return nil, false
		}
		b, text = append(b, byte(r)), text[size:]
	}
	return b, true
}

// id parses into uuid: texts with hyphens or without, in either case; of bytes the 16 themselves.
type id struct{ scratch *scratch }

func (t id) parse(v wire.Value, c *rows.Cell) error {
	if v.Kind() != wire.Text {
		return wrongKind(v, "uuid")
	}
	text := v.Text()
	if typ := v.Type(); typ != nil && typ.Kind == "bytes" {
		b, ok := decodeBase64(base64.StdEncoding, t.scratch, text)
		if !ok || len(b) != 16 || typ.Name == wire.Decimal {
			return errors.New("bytes that are not 16 do not fit uuid")
		}
		c.Bytes = b
		return nil
	}
	var digits [32]byte
	if !hexDigits(&digits, text) {
		return errors.New("is no uuid")
	}
	c.Bytes = t.scratch.bytes(16)
	if _, err := hex.Decode(c.Bytes, digits[:]); err != nil {
		return errors.New("is no uuid")
	}
	return nil
}

// hexDigits takes the hyphens out of a uuid's text.
func hexDigits(digits *[32]byte, text []byte) bool {
	if len(text) == 32 {
		copy(digits[:], text)
		return true
	}
	if len(text) != 36 || text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-' {
		return false
	}
	n := copy(digits[:], text[:8])
	for _, from := range []int{9, 14, 19} {
		n += copy(digits[n:], text[from:from+4])
	}
	copy(digits[n:], text[24:])
	return true
}
