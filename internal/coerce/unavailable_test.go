package coerce_test

import (
	"testing"

	"github.com/frazil/frazil/internal/config"
)

// The forms were seen in real events of Debezium: by the type of the column in the source.
var placeholders = map[string]string{
	"text":         `"__debezium_unavailable_value"`,
	"bytes":        `"X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ=="`,
	"bytes in hex": `"5f5f646562657a69756d5f756e617661696c61626c655f76616c7565"`,
	"text[]":       `["__debezium_unavailable_value"]`,
	"bytea[]":      `["X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ=="]`,
	"int[]":        `[95,95,100,101,98,101,122,105,117,109,95,117,110,97,118,97,105,108,97,98,108,101,95,118,97,108,117,101]`,
	"uuid[]":       `["b68a35a7-17ad-35b3-af2a-ae46edb4545a"]`,
	"hstore":       `{"__debezium_unavailable_value":"__debezium_unavailable_value"}`,
	"hstore text":  `"{\"__debezium_unavailable_value\":\"__debezium_unavailable_value\"}"`,
}

func TestAPlaceholderIsNeverData(t *testing.T) {
	t.Parallel()
	for name, value := range placeholders {
		b, err := put(t, table(t, prim.String), plain(), value, "")
		if err == nil {
			t.Errorf("%s: became %q", name, cell(t, b))
			continue
		}
		refused(t, err, "v", "unavailable: keep needs the row that is there")
		untouched(t, b)

		null := plain()
		null.Unavailable = config.Null
		if b, err = put(t, table(t, prim.String), null, value, ""); err != nil || b.Columns()[1].NullN() != 1 {
			t.Errorf("%s under unavailable: null: %v %v", name, b.Columns()[1], err)
		}
	}
}

func TestWhatOnlyLooksLikeAPlaceholderIsData(t *testing.T) {
	t.Parallel()
	own := plain()
	own.Placeholder = "not sent"
	for _, value := range []string{placeholders["text"], placeholders["int[]"], `[110]`, `"not"`, `[1]`, `{"not sent":"x"}`, `[]`, `{}`} {
		if _, err := put(t, table(t, prim.String), own, value, ""); err != nil {
			t.Errorf("%s: %v", value, err)
		}
	}
	for _, value := range []string{`["not sent"]`, `["not sent","not sent"]`, `{"x":"not sent"}`, `[1,{"x":["y","not sent"]}]`} {
		if _, err := put(t, table(t, prim.String), own, value, ""); err == nil {
			t.Errorf("%s: the route's own placeholder was taken for data", value)
		}
	}
}
