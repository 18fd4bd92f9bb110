package lake

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/apache/arrow-go/v18/arrow/array"
	iceio "github.com/apache/iceberg-go/io"
	"github.com/apache/iceberg-go/table"
)

// readable is the table with the defaults of dates and times as numbers, which iceberg-go wants where Iceberg has texts.
// It takes them for floats: nanoseconds are exact in the first 104 days around 1970 only.
func (l *Lake) readable(t *table.Table) (*table.Table, error) {
	text, err := json.Marshal(t.Metadata())
	if err != nil {
		return nil, err
	}
	doc, err := decode(string(text))
	if err != nil || !numberDefaults(doc) {
		return t, err
	}
	if text, err = json.Marshal(doc); err != nil {
		return nil, err
	}
	meta, err := table.ParseMetadataBytes(text)
	if err != nil {
		return nil, err
	}
	open := func(context.Context) (iceio.IO, error) { return l.files, nil }
	return table.New(t.Identifier(), meta, t.MetadataLocation(), open, l.catalog), nil
}

// numberDefaults turns the defaults of fields that are temporal texts into numbers, in decoded metadata.
func numberDefaults(v any) (changed bool) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			changed = numberDefaults(e) || changed
		}
	case map[string]any:
		for _, key := range []string{"initial-default", "write-default"} {
			if n, ok := temporalNumber(v["type"], v[key]); ok {
				v[key], changed = n, true
			}
		}
		for _, e := range v {
			changed = numberDefaults(e) || changed
		}
	}
	return changed
}

// temporalNumber is the number behind a date or time of a field's default.
func temporalNumber(typ, value any) (n int64, ok bool) {
	name, _ := typ.(string)
	text, ok := value.(string)
	if !ok || !strings.HasPrefix(name, "date") && !strings.HasPrefix(name, "time") {
		return 0, false
	}
	t, err := parsePrimitive(name)
	if err != nil {
		return 0, false
	}
	a, err := arrayOf(t, text)
	if err != nil {
		return 0, false
	}
	switch a := a.(type) {
	case *array.Date32:
		return int64(a.Value(0)), true
	case *array.Time64:
		return int64(a.Value(0)), true
	case *array.Timestamp:
		return int64(a.Value(0)), true
	}
	return 0, false
}
