package wire_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/frazil/frazil/internal/wire"
)

// FuzzJSON compares with encoding/json, which accepts the same documents but for the problems that JSON's doc comment
// lists, and reads the same tree from them. What the Doc has read before makes no difference.
func FuzzJSON(f *testing.F) {
	for _, seed := range []string{
		debeziumValue, `{"a":[1,-2.5e3,{"b":null}],"\u00e9\ud83d\ude00":"\"\\\/\b\f\n\r\t"}`, `"ü\ud800"`, `[[],{},"",0,-0,true,false,null]`,
		`{"a":1,"\u0061":2}`, ` [ 1 , 2 ] `, `01`, `"12345678\n"`, `{"schema":null,"payload":1}`,
	} {
		f.Add([]byte(seed), []byte(seed))
	}
	for _, pair := range alike {
		f.Add([]byte(pair[0]), []byte(pair[1]))
	}
	f.Fuzz(func(t *testing.T, before, doc []byte) {
		var d wire.Doc
		_, _ = d.JSON(before)
		v, err := d.JSON(doc)
		if valid := json.Valid(doc); (err == nil) != valid {
			if err == nil {
				t.Fatal("accepted, though it is no JSON")
			}
			if !stricter(err) {
				t.Fatalf("refused, though it is JSON: %v", err)
			}
		}
		if err != nil {
			return
		}
		var want, got bytes.Buffer
		if err := json.Compact(&want, doc); err != nil {
			t.Fatal(err)
		}
		write(t, &got, v)
		if !bytes.Equal(got.Bytes(), want.Bytes()) {
			t.Fatalf("got %s, want %s", got.Bytes(), want.Bytes())
		}
	})
}

func stricter(err error) bool {
	for _, problem := range []string{"two members of one name", "valid UTF-8", "surrogate", "in one another"} {
		if strings.Contains(err.Error(), problem) {
			return true
		}
	}
	return false
}

// write writes a value from its parts. Names are unescaped, so they are escaped anew by looking at the raw object.
func write(t *testing.T, w *bytes.Buffer, v wire.Value) {
	switch v.Kind() {
	case wire.Object:
		writeObject(t, w, v)
	case wire.Array:
		sep := "["
		for e := range v.Elems() {
			w.WriteString(sep)
			write(t, w, e)
			sep = ","
		}
		if v.Len() == 0 {
			w.WriteString(sep)
		}
		w.WriteByte(']')
	default:
		checkText(t, v)
		w.Write(v.Raw())
	}
}

func writeObject(t *testing.T, w *bytes.Buffer, v wire.Value) {
	dec := json.NewDecoder(bytes.NewReader(v.Raw()))
	if _, err := dec.Token(); err != nil {
		t.Fatal(err)
	}
	w.WriteByte('{')
	n := 0
	for name, m := range v.Members() {
		if n++; n > 1 {
			w.WriteByte(',')
		}
		before := dec.InputOffset()
		want, err := dec.Token()
		if err != nil || want != string(name) {
			t.Fatalf("got the name %q, want %q, %v", name, want, err)
		}
		w.Write(bytes.TrimLeft(v.Raw()[before:dec.InputOffset()], ", \n\r\t"))
		w.WriteByte(':')
		write(t, w, m)
		var skip json.RawMessage
		if err := dec.Decode(&skip); err != nil {
			t.Fatal(err)
		}
	}
	w.WriteByte('}')
}

func checkText(t *testing.T, v wire.Value) {
	if v.Kind() != wire.Text {
		return
	}
	var want string
	if err := json.Unmarshal(v.Raw(), &want); err != nil || want != string(v.Text()) {
		t.Fatalf("got the text %q, want %q, %v", v.Text(), want, err)
	}
}
