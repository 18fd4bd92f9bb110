package wire_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/frazil/frazil/internal/wire"
)

// alike are documents whose second is like the first for a while.
var alike = [][2]string{
	{`{"a":1,"b":{"c":2},"d":3}`, `{"a":1,"b":{"c":2},"b":3}`},
	{`{"a":1,"b":{"c":2},"d":3}`, `{"a":1,"b":{"c":2,"c":3},"d":3}`},
	{`{"a":1,"b":2}`, `{"a":1,"b":2,"a":3}`},
	{`{"a":1,"b":2,"c":3}`, `{"a":1,"c":2,"b":3}`},
	{`{"a":1,"b":2,"c":3}`, `{"b":1,"b":3}`},
	{`{"a":1,"a":2}`, `{"a":1,"a":2}`},
	{`{"a":1,"a":2`, `{"a":1,"a":2}`},
	{`{"a":{"b":1,"b":2`, `{"a":{"b":1,"b":2}}`},
	{`[{"a":1,"b":2},{"a":1,"c":2},{"a":1,"a":2}]`, `[{"a":1,"b":2},{"a":1,"a":2}]`},
	{`[[{"a":1}],{"a":{"a":1}}]`, `[[{"a":1}],{"a":{"a":1,"a":2}}]`},
	{`{"a":1,"\u0062":2}`, `{"a":1,"b":2,"\u0062":3}`},
	{`{"a":1,"\u0062":2,"c":3}`, `{"a":1,"\u0062":2,"c":3}`},
	{`{"a":1,"b":2}`, `{ "a" : 1 , "b" : 2 }`},
	{`{"a":1,"b":2}`, `{"a":1,"b":2`},
	{`{"a":1,"b":2}`, `{"a":1,"b"`},
	{`{"a":{},"b":[]}`, `{"a":[{"b":1}],"b":{"a":2}}`},
	{"{ \"a\" : 1 ,\n\t\"b\":{ \"c\": 2}}", "{ \"a\" : 1 ,\n\t\"b\":{ \"c\": 2 , \"c\" : 3 }}"},
	{"{ \"a\" : 1 ,\n\t\"b\":2}", `{ "a" : 1 , "b" : 2, "a": 3}`},
	{`{"a":1,"b":2,"c":3}`, `{"a":"text","b":null,"c":true}`},
	{`{"a":1,"b":2,"c":3}`, `{"a":"te\u0078t\n","b":"täxt","c":false}`},
	{`{"a":1,"b":2,"c":3}`, `{"a":-12,"b":0,"c":1234567890123456789012}`},
	{`{"a":1,"b":2,"c":3}`, `{"a":1.5,"b":15e3,"c":15 }`},
	{`{"a":1,"b":2,"c":3}`, `{"a":[],"b":{},"c":""}`},
	{`{"a":1,"b":2}`, `{"a":01,"b":2}`},
	{`{"a":1,"b":2}`, `{"a":1x,"b":2}`},
	{`{"a":1,"b":2}`, `{"a":1]`},
	{`{"a":1,"b":2}`, `{"a":nul,"b":2}`},
	{`{"a":1,"b":2}`, `{"a":nulls,"b":2}`},
	{`{"a":1,"b":2}`, `{"a":true false,"b":2}`},
	{`{"a":1,"b":2}`, `{"a":1,"b":`},
	{`{"a":1,"b":2}`, `{"a":1,"b":2`},
	{`{"a":1,"b":2}`, "{\"a\":\"1\n\",\"b\":2}"},
	{`{"a":1,"b":2}`, "{\"a\":\"\xff\",\"b\":2}"},
	{`{"a":1,"b":2}`, `{"a":1,"b":"text`},
	{`{"a":1,"b":2}`, `{"a":1,"b":}`},
}

// A Doc that has read documents before reads the next one as a new Doc does.
func TestDocumentsBeforeMakeNoDifference(t *testing.T) {
	t.Parallel()
	for _, pair := range alike {
		var d, fresh wire.Doc
		for _, text := range []string{pair[0], pair[1], pair[0], pair[1]} {
			checkSame(t, &d, &fresh, text)
			fresh = wire.Doc{}
		}
	}
}

func checkSame(t *testing.T, d, fresh *wire.Doc, text string) {
	t.Helper()
	got, err := d.JSON([]byte(text))
	want, wantErr := fresh.JSON([]byte(text))
	if fmt.Sprint(err) != fmt.Sprint(wantErr) || tree(got) != tree(want) {
		t.Errorf("%.80s: got %.80s, %v, want %.80s, %v", text, tree(got), err, tree(want), wantErr)
	}
}

// tree writes what a value is made of.
func tree(v wire.Value) string {
	var s strings.Builder
	s.WriteString(v.Kind().String())
	for name, m := range v.Members() {
		fmt.Fprintf(&s, " %q (%s)", name, tree(m))
	}
	for e := range v.Elems() {
		fmt.Fprintf(&s, " (%s)", tree(e))
	}
	return s.String() + string(v.Text())
}

// Names beyond what a Doc remembers are compared all the same, and objects that are all different do not fill it.
func TestManyNames(t *testing.T) {
	t.Parallel()
	var d, fresh wire.Doc
	var wide strings.Builder
	for i := range 30_000 {
		fmt.Fprintf(&wide, `"member %d":{"a":%d},`, i, i)
	}
	for _, last := range []string{`"z":1`, `"z":1`, `"member 29999":1`, `"z":{"a":1,"a":2}`, `"member 0":1`} {
		checkSame(t, &d, &fresh, "{"+wide.String()+last+"}")
	}
	for i := range 30_000 {
		checkSame(t, &d, &fresh, fmt.Sprintf(`{"a":{"member %d":1,"member %d":2}}`, i, i+i%2))
	}
}
