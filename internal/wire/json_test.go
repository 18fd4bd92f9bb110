package wire_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/frazil/frazil/internal/wire"
	"github.com/google/go-cmp/cmp"
)

func parse(t *testing.T, doc string) wire.Value {
	t.Helper()
	v, err := new(wire.Doc).JSON([]byte(doc))
	if err != nil {
		t.Fatalf("%s: %v", doc, err)
	}
	return v
}

func TestJSONKeepsEveryValueAsSent(t *testing.T) {
	t.Parallel()
	v := parse(t, ` { "i" : 9223372036854775807 , "d":-0.10e+02,"s":"a\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00ü" , "t":true,"f":false,"n":null,"o":{ "x" : [ 1 ] },"a":[ ],"":"" } `)
	tests := []struct {
		name, raw, text string
		kind            wire.Kind
	}{
		{"i", `9223372036854775807`, `9223372036854775807`, wire.Number},
		{"d", `-0.10e+02`, `-0.10e+02`, wire.Number},
		{"s", `"a\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00ü"`, "a\"\\/\b\f\n\r\té😀ü", wire.Text},
		{"t", `true`, ``, wire.Bool},
		{"f", `false`, ``, wire.Bool},
		{"n", `null`, ``, wire.Null},
		{"o", `{ "x" : [ 1 ] }`, ``, wire.Object},
		{"a", `[ ]`, ``, wire.Array},
		{"", `""`, ``, wire.Text},
		{"none", ``, ``, wire.Absent},
	}
	for _, tt := range tests {
		f := v.Field(tt.name)
		if f.Kind() != tt.kind || string(f.Raw()) != tt.raw || string(f.Text()) != tt.text {
			t.Errorf("%q: got %v, raw %s, text %q", tt.name, f.Kind(), f.Raw(), f.Text())
		}
		if f.Bool() != (tt.name == "t") {
			t.Errorf("%q: got %v", tt.name, f.Bool())
		}
	}
}

func TestMembersAndElemsComeInOrder(t *testing.T) {
	t.Parallel()
	v := parse(t, `{"b":{"x":{}},"\u0061":[1,[2,3],{}],"c":3}`)
	var got []string
	for name, m := range v.Members() {
		got = append(got, fmt.Sprintf("%s=%s %d", name, m.Raw(), m.Len()))
	}
	for e := range v.Field("a").Elems() {
		got = append(got, string(e.Raw()))
	}
	want := []string{`b={"x":{}} 1`, `a=[1,[2,3],{}] 3`, `c=3 0`, `1`, `[2,3]`, `{}`}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Error(diff)
	}
	for range parse(t, `[1]`).Members() {
		t.Error("an array has members")
	}
	for range v.Elems() {
		t.Error("an object has elements")
	}
}

func TestZeroValueIsAbsent(t *testing.T) {
	t.Parallel()
	var v wire.Value
	if v.Kind() != wire.Absent || v.Field("a").Kind() != wire.Absent || v.Len() != 0 || v.Text() != nil || v.Raw() != nil || v.Type() != nil || v.Bool() {
		t.Error("the zero Value holds something")
	}
}

func TestTextsOfOneDocumentStay(t *testing.T) {
	t.Parallel()
	v := parse(t, `["a\n","b\n"]`)
	var texts [][]byte
	for range 100 {
		for e := range v.Elems() {
			texts = append(texts, e.Text())
		}
	}
	for i, got := range texts {
		if want := []string{"a\n", "b\n"}[i%2]; string(got) != want {
			t.Fatalf("text %d: got %q, want %q", i, got, want)
		}
	}
}

func TestJSONRefusesRepeatedNames(t *testing.T) {
	t.Parallel()
	many := func(n int, last string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `"c%d":0,`, i)
		}
		return `{` + b.String() + `"` + last + `":0}`
	}
	for _, doc := range []string{
		`{"a":1,"a":1}`, `[{"x":[{"a":1,"b":{},"a":2}]}]`, `{"a":1,"\u0061":1}`, `{"\u0061":1,"a":1}`, `{"ü":1,"\u00fc":1}`, `{"":1,"":1}`,
		many(5, "c3"), many(500, "c250"), many(500, `\u0063250`), `{"a_long_name":1,"a_long_name":1}`,
	} {
		if _, err := new(wire.Doc).JSON([]byte(doc)); err == nil || !strings.Contains(err.Error(), "two members of one name") {
			t.Errorf("%.60s: got %v", doc, err)
		}
	}
	for _, doc := range []string{
		`{"a":1,"A":1}`, `[{"a":1},{"a":1}]`, `{"a":{"a":{"a":1}}}`, many(5, "c5"), many(500, "c500"), `{"x":1,"x\u0000":1,"\u0000x":1}`,
		`{"1_longer_name":1,"2_longer_name":1}`,
	} {
		parse(t, doc)
	}
}

func TestJSONRefusesWhatIsNotJSON(t *testing.T) {
	t.Parallel()
	tests := []struct {
		doc string
		pos int
	}{
		{``, 0}, {` `, 1}, {`x`, 0}, {`nul`, 0}, {`nulls`, 4}, {`truE`, 0}, {`{}x`, 2}, {`{} {}`, 3}, {"\ufeff{}", 0}, {"{}\x00", 2},
		{`{`, 1}, {`[`, 1}, {`[1`, 2}, {`[1,`, 3}, {`[1,]`, 3}, {`[,1]`, 1}, {`[1 2]`, 3}, {`{"a":1,}`, 7}, {`{a:1}`, 1}, {`{"a" 1}`, 5}, {`{"a":}`, 5}, {`{"a":1]`, 6}, {`[}`, 1},
		{`-`, 1}, {`+1`, 0}, {`01`, 0}, {`-01`, 1}, {`1.`, 2}, {`.5`, 0}, {`1e`, 2}, {`1e+`, 3}, {`1.e5`, 2}, {`0x1`, 1}, {`NaN`, 0}, {`1_0`, 1},
		{`"`, 1}, {`"abcdefghijklmnop`, 17}, {"\"abcdefgh\n\"", 9}, {"\"a\x00\"", 2}, {"\"abc\x1fdefghijkl\"", 4}, {"\"\x7f abc\x80defghijkl\"", 1}, {`"\x"`, 1}, {`"\u12"`, 1}, {`"\u12g4"`, 1}, {`"\`, 2},
		{`"\ud800"`, 1}, {`"\udc00"`, 1}, {`"\ud800\ud800"`, 1}, {`"\ud800x"`, 1}, {`"\udc00\ud800"`, 1},
		{"\"\xff\"", 1}, {"\"\xc0\x80\"", 1}, {"\"\xed\xa0\x80\"", 1}, {"\"abcdefghi\xe2\x82\"", 1},
		{strings.Repeat("[", 513) + strings.Repeat("]", 513), 512},
	}
	for _, tt := range tests {
		_, err := new(wire.Doc).JSON([]byte(tt.doc))
		var syntax *wire.SyntaxError
		if !errors.As(err, &syntax) {
			t.Errorf("%.40q: got %v", tt.doc, err)
		} else if syntax.Pos != tt.pos {
			t.Errorf("%.40q: got position %d (%v), want %d", tt.doc, syntax.Pos, err, tt.pos)
		}
	}
	parse(t, strings.Repeat("[", 512)+strings.Repeat("]", 512))
}

func TestErrorsShowNoContent(t *testing.T) {
	t.Parallel()
	for _, doc := range []string{`{"secret":1,"secret":2}`, `{"secret" 1}`, `"secret`, `secret`, `["secret" "secret"]`} {
		if _, err := new(wire.Doc).JSON([]byte(doc)); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: got %v", doc, err)
		}
	}
}

func TestDocIsReusableWithoutAllocation(t *testing.T) {
	docs := [][]byte{[]byte(debeziumValue), []byte(`{"\u0061":"\n"}`)}
	var d wire.Doc
	n := testing.AllocsPerRun(100, func() {
		for _, doc := range docs {
			v, err := d.JSON(doc)
			if err != nil {
				t.Fatal(err)
			}
			v.Field("a").Text()
		}
	})
	if n != 0 {
		t.Errorf("got %v allocations", n)
	}
}

func TestBareIsTheBytesAsTheyAre(t *testing.T) {
	t.Parallel()
	v, err := new(wire.Doc).Bare([]byte(`a"\n`))
	if err != nil || v.Kind() != wire.Text || string(v.Text()) != `a"\n` || string(v.Raw()) != `a"\n` {
		t.Errorf("got %v, %v, %q", err, v.Kind(), v.Text())
	}
}
