package wire_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/frazil/frazil/internal/wire"
	"github.com/google/go-cmp/cmp"
)

const orderSchema = `{"type":"struct","fields":[{"type":"int64","optional":false,"default":0,"field":"id"},` +
	`{"type":"bytes","optional":true,"name":"org.apache.kafka.connect.data.Decimal","version":1,"parameters":{"scale":"2","connect.decimal.precision":"10"},"field":"amt"},` +
	`{"type":"array","items":{"type":"string","optional":true},"optional":true,"default":null,"field":"tags"},` +
	`{"type":"map","keys":{"type":"string"},"values":{"type":"int32"},"optional":true,"field":"attrs"}],"optional":true,"name":"shop.Value"}`

func TestConnectGivesPayloadItsType(t *testing.T) {
	t.Parallel()
	var d wire.Doc
	for _, doc := range []string{
		`{"schema":` + orderSchema + `,"payload":{"id":7,"amt":"BBo=","tags":["x"],"attrs":{"a":1}}}`,
		`{"schema":` + orderSchema + `,"payload":{"id":7,"amt":"BBo=","tags":["x"],"attrs":{"a":1}}} `, // known by now
		`{"payload":{"amt":"BBo=","id":7,"attrs":{"a":1},"tags":["x"]},"schema":` + orderSchema + `}`,
	} {
		v, err := d.Connect([]byte(doc), wire.Auto)
		if err != nil {
			t.Fatal(err)
		}
		want := &wire.Type{Kind: "bytes", Name: "org.apache.kafka.connect.data.Decimal", Scale: 2, Optional: true}
		if diff := cmp.Diff(v.Field("amt").Type(), want); diff != "" {
			t.Errorf("amt: %s", diff)
		}
		if diff := cmp.Diff(v.Field("id").Type(), &wire.Type{Kind: "int64", HasDefault: true}); diff != "" {
			t.Errorf("id: %s", diff)
		}
		if v.Field("tags").Type().HasDefault {
			t.Error("a default of null counts as one")
		}
		for e := range v.Field("tags").Elems() {
			if diff := cmp.Diff(e.Type(), &wire.Type{Kind: "string", Optional: true}); diff != "" {
				t.Errorf("tags: %s", diff)
			}
		}
		if diff := cmp.Diff(v.Field("attrs").Field("a").Type(), &wire.Type{Kind: "int32"}); diff != "" {
			t.Errorf("attrs: %s", diff)
		}
		if got, want := v.Type().Name, "shop.Value"; got != want {
			t.Errorf("name: got %q, want %q", got, want)
		}
	}
}

func TestConnectUnwrapsOnlyWrappers(t *testing.T) {
	t.Parallel()
	tests := []struct{ doc, auto, none, forced string }{
		{`{"schema":{"type":"string"},"payload":"x"}`, `"x"`, `same`, `"x"`},
		{`{"payload":"x","schema":{"type":"string"}}`, `"x"`, `same`, `"x"`},
		{`{"schema":null,"payload":{"a":1}}`, `{"a":1}`, `same`, `{"a":1}`},
		{`{"schema":null,"payload":null}`, `null`, `same`, `null`},
		{`{"schema":"s","payload":"p"}`, `same`, `same`, `error`},
		{`{"schema":{},"payload":"p"}`, `same`, `same`, `error`},
		{`{"schema":{"type":1},"payload":"p"}`, `same`, `same`, `error`},
		{`{"schema":null}`, `same`, `same`, `error`},
		{`{"schema":null,"payload":1,"more":2}`, `same`, `same`, `error`},
		{`{"a":1}`, `same`, `same`, `error`},
		{`null`, `same`, `same`, `same`},
		{`[1]`, `same`, `same`, `error`},
	}
	for _, tt := range tests {
		for w, want := range map[wire.Wrapper]string{wire.Auto: tt.auto, wire.None: tt.none, wire.SchemaPayload: tt.forced} {
			var d wire.Doc
			v, err := d.Connect([]byte(tt.doc), w)
			got := string(v.Raw())
			if err != nil {
				got = "error"
			}
			if got != strings.ReplaceAll(want, "same", tt.doc) {
				t.Errorf("%s, wrapper %d: got %s, want %s", tt.doc, w, got, want)
			}
		}
	}
}

func TestConnectTakesNilForNullAndNothingForAnError(t *testing.T) {
	t.Parallel()
	var d wire.Doc
	for _, w := range []wire.Wrapper{wire.Auto, wire.None, wire.SchemaPayload} {
		if v, err := d.Connect(nil, w); err != nil || v.Kind() != wire.Null {
			t.Errorf("nil: got %v, %v", v.Kind(), err)
		}
		if _, err := d.Connect([]byte{}, w); err == nil {
			t.Error("zero bytes were read")
		}
	}
}

func TestConnectRefusesBrokenSchemas(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		`{"type":"struct"}`,
		`{"type":"struct","fields":[{"type":"int32"}]}`,
		`{"type":"struct","fields":[{"field":"a"}]}`,
		`{"type":"array"}`,
		`{"type":"map","keys":{"type":"string"}}`,
		`{"type":"bytes","name":"org.apache.kafka.connect.data.Decimal","parameters":{"scale":"two"}}`,
		`{"type":"bytes","name":"org.apache.kafka.connect.data.Decimal"}`,
	} {
		var d wire.Doc
		if _, err := d.Connect([]byte(`{"schema":`+s+`,"payload":null}`), wire.Auto); err == nil {
			t.Errorf("%s was read", s)
		}
	}
}

func TestConnectKnownSchemaChangesNoAnswer(t *testing.T) {
	t.Parallel()
	prefix := `{"schema":{"type":"string"},"payload":`
	deep := strings.Repeat("[", 511) + strings.Repeat("]", 511)
	for _, rest := range []string{
		`"x"}`, ` "x" } `, `"x"`, `"x"}}`, `"x"]`, `"x","more":1}`, `"x","payload":"y"}`, ``, `}`, `{"a":1,"a":2}}`, `{"a":1}}`,
		deep + `}`, `[` + deep + `]}`,
	} {
		var cold, warm wire.Doc
		if _, err := warm.Connect([]byte(prefix+`1}`), wire.Auto); err != nil {
			t.Fatal(err)
		}
		want, wantErr := cold.Connect([]byte(prefix+rest), wire.Auto)
		got, err := warm.Connect([]byte(prefix+rest), wire.Auto)
		if (err == nil) != (wantErr == nil) || string(got.Raw()) != string(want.Raw()) {
			t.Errorf("%.40s: got %.40s, %v, want %.40s, %v", rest, got.Raw(), err, want.Raw(), wantErr)
		}
	}
}

func TestConnectForgetsOldSchemasOnly(t *testing.T) {
	t.Parallel()
	var d wire.Doc
	for n := range 100 {
		name := fmt.Sprint("n", n%40)
		v, err := d.Connect([]byte(`{"schema":{"type":"string","name":"`+name+`"},"payload":"x"}`), wire.Auto)
		if err != nil || v.Type().Name != name {
			t.Fatalf("round %d: got %v, %v", n, v.Type(), err)
		}
	}
}

// A map whose key is no string is sent as an array of pairs.
func TestConnectPairsCarryTheTypesOfAMap(t *testing.T) {
	t.Parallel()
	var d wire.Doc
	v, err := d.Connect([]byte(`{"schema":{"type":"map","keys":{"type":"int32"},"values":{"type":"array","items":{"type":"bytes"}}},"payload":[[1,["AQ=="]],[2,null]]}`), wire.Auto)
	if err != nil {
		t.Fatal(err)
	}
	for pair := range v.Elems() {
		var kinds []string
		for e := range pair.Elems() {
			kinds = append(kinds, e.Type().Kind)
			for inner := range e.Elems() {
				kinds = append(kinds, inner.Type().Kind)
			}
		}
		if got := strings.Join(kinds, " "); got != "int32 array bytes" && got != "int32 array" {
			t.Errorf("a pair's types are %s", got)
		}
	}
}
