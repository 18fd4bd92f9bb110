package coerce

import (
	"crypto/md5"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"strconv"

	"github.com/frazil/frazil/internal/wire"
	"github.com/google/uuid"
)

// unavailable knows the forms in which Debezium sends its placeholder for a value that the source did not send
// again: by the column's type in the source it is the text, an encoding of its bytes, an array
// with one element of these, an array of its byte codes, or a map of it to itself.
type unavailable struct {
	placeholder string
	texts       []string
	lengths     uint64 // of the texts, modulo 64: most values have none of them
}

func newUnavailable(placeholder string) unavailable {
	b := []byte(placeholder)
	hstore, err := json.Marshal(map[string]string{placeholder: placeholder})
	if err != nil {
		panic(err) // a map of texts always marshals
	}
	name := md5.Sum(b) // of uuid[]: the name-based UUID (RFC 9562, version 3) without a namespace
	name[6], name[8] = name[6]&0x0f|0x30, name[8]&0x3f|0x80
	u := unavailable{placeholder: placeholder, texts: []string{
		placeholder, base64.StdEncoding.EncodeToString(b), base64.URLEncoding.EncodeToString(b), hex.EncodeToString(b),
		string(hstore), uuid.UUID(name).String(),
	}}
	for _, text := range u.texts {
		u.lengths |= 1 << (len(text) % 64)
	}
	return u
}

// is reports whether a value stands for one that was not sent.
func (u *unavailable) is(v wire.Value) bool {
	switch v.Kind() {
	case wire.Text:
		return u.text(v)
	case wire.Array:
		return u.array(v)
	case wire.Object:
		return v.Len() == 1 && string(v.Field(u.placeholder).Text()) == u.placeholder
	}
	return false
}

func (u *unavailable) text(v wire.Value) bool {
	s := v.Text()
	if u.lengths>>(len(s)%64)&1 == 0 {
		return false
	}
	for _, form := range u.texts {
		if string(s) == form {
			return true
		}
	}
	return false
}

func (u *unavailable) array(v wire.Value) bool {
	n, i := v.Len(), 0
	for e := range v.Elems() {
		if n == 1 && e.Kind() == wire.Text {
			return u.text(e)
		}
		if n != len(u.placeholder) || e.Kind() != wire.Number || string(e.Text()) != strconv.Itoa(int(u.placeholder[i])) {
			return false
		}
		i++
	}
	return n > 0
}

// within reports whether a text somewhere inside an object or array is the placeholder.
func (u *unavailable) within(v wire.Value) bool {
	switch v.Kind() {
	case wire.Object:
		for _, m := range v.Members() {
			if u.is(m) || u.within(m) {
				return true
			}
		}
	case wire.Array:
		for e := range v.Elems() {
			if e.Kind() == wire.Text && u.text(e) || u.within(e) {
				return true
			}
		}
	}
	return false
}
