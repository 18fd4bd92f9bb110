package kafkaevent

import (
	"bytes"
	"encoding/base64"
)

// base64 reads a text of base64, in place, or null.
func (t *text) base64() ([]byte, error) {
	switch t.peek() {
	case 'n':
		return nil, t.literal("null")
	case '"':
	default:
		return nil, t.unexpected("a text or null")
	}
	start := t.pos + 1
	end := bytes.IndexByte(t.b[start:], '"')
	if end < 0 {
		t.pos = len(t.b)
		return nil, t.unexpected("a closing quote")
	}
	s := t.b[start : start+end]
	if bytes.IndexByte(s, '\\') < 0 {
		t.pos = start + end + 1
	} else {
		var err error
		if s, err = t.quoted(); err != nil {
			return nil, err
		}
	}
	n, err := base64.StdEncoding.Decode(s, s)            // the bytes written never overtake those read
	if err != nil || len(s)%4 != 0 || n < len(s)/4*3-2 { // the decoder passes over line breaks, which have no place here
		return nil, t.failAt(start, "bad base64")
	}
	return s[:n:n], nil
}
