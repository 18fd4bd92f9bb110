package coerce_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"math"
	"strconv"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/iceberg-go"
	"github.com/frazil/frazil/internal/change"
	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/rows"
	"github.com/frazil/frazil/internal/wire"
	"github.com/google/uuid"
)

// taken coerces a JSON text into column v, nil if it is no JSON, refused or NULL.
func taken(t *testing.T, typ iceberg.Type, route config.Route, text []byte) arrow.Array {
	t.Helper()
	var doc wire.Doc
	row, err := doc.JSON(append(append([]byte(`{"id":1,"v":`), text...), '}'))
	if err != nil || row.Len() != 2 {
		return nil
	}
	b := rows.NewBatch(table(t, typ))
	if err := compiled(t, b.Schema, route).Add(b, change.Upsert(row)); err != nil {
		untouched(t, b)
		return nil
	}
	if b.Columns()[1].IsNull(0) {
		return nil
	}
	return b.Columns()[1]
}

// again fails if text, the canonical form of a value that was taken, is not the same value.
func again(t *testing.T, typ iceberg.Type, a arrow.Array, text []byte) {
	t.Helper()
	b := taken(t, typ, plain(), text)
	if b == nil || !array.Equal(a, b) {
		t.Fatalf("%s: %v, written %s, became %v", typ, a, text, b)
	}
}

func quoted(text string) []byte { return []byte(strconv.Quote(text)) }

// FuzzCoerceTemporal: what is taken is the same value when it is written in the one form that it has, and what Go reads
// as a timestamp too is the same moment.
func FuzzCoerceTemporal(f *testing.F) {
	types := []iceberg.Type{prim.Date, prim.Time, prim.Timestamp, prim.TimestampTz, prim.TimestampNs, prim.TimestampTzNs}
	layouts := []string{"2006-01-02", "15:04:05.000000", "2006-01-02T15:04:05.000000", "2006-01-02T15:04:05.000000Z", "2006-01-02T15:04:05.000000000", "2006-01-02T15:04:05.000000000Z"}
	for i, list := range [][]form{dates, timesOfDay, timestamps, timestamptzs, nanoseconds, nanosecondsInZone} {
		for _, form := range list {
			f.Add([]byte(form.value), byte(i))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, which byte) {
		i := int(which) % len(types)
		route := plain()
		route.TimestampUnit = fuzzUnits[int(which/8)%len(fuzzUnits)]
		a := taken(t, types[i], route, text)
		if a == nil {
			return
		}
		at := moment(a)
		again(t, types[i], a, quoted(at.Format(layouts[i])))
		var sent string
		if json.Unmarshal(text, &sent) != nil || i < 2 {
			return
		}
		if want, err := time.Parse(time.RFC3339Nano, sent); err == nil && !want.Equal(at) {
			t.Fatalf("%s became %s", sent, at)
		}
	})
}

func moment(a arrow.Array) time.Time {
	switch a := a.(type) {
	case *array.Date32:
		return time.Unix(int64(a.Value(0))*86400, 0).UTC()
	case *array.Time64:
		return time.UnixMicro(int64(a.Value(0))).UTC()
	case *array.Timestamp:
		if a.DataType().(*arrow.TimestampType).Unit == arrow.Nanosecond {
			return time.Unix(0, int64(a.Value(0))).UTC()
		}
		return time.UnixMicro(int64(a.Value(0))).UTC()
	}
	panic(a.DataType().String())
}

// FuzzCoerceBytes: what is taken is what an encoder of its encoding writes; hex in either case.
func FuzzCoerceBytes(f *testing.F) {
	encodings := map[string]func([]byte) string{
		"base64": base64.StdEncoding.EncodeToString, "base64url": base64.URLEncoding.EncodeToString, "hex": hex.EncodeToString,
		"pg_hex": func(b []byte) string { return `\x` + hex.EncodeToString(b) }, "utf8": func(b []byte) string { return string(b) },
		"latin1": func(b []byte) string {
			var runes []rune
			for _, c := range b {
				runes = append(runes, rune(c))
			}
			return string(runes)
		},
	}
	names := []string{"base64", "base64url", "hex", "pg_hex", "utf8", "latin1"}
	for i := range names {
		for _, text := range []string{"", "AP8=", "-_8=", "00fF", `\x00ff`, "é"} {
			f.Add(text, byte(i))
		}
	}
	f.Fuzz(func(t *testing.T, sent string, which byte) {
		text, err := json.Marshal(sent)
		if err != nil {
			return
		}
		if json.Unmarshal(text, &sent) != nil { // what is no UTF-8 was replaced
			return
		}
		name := names[int(which)%len(names)]
		route := plain()
		route.BinaryEncoding = name
		a := taken(t, prim.Binary, route, text)
		if a == nil {
			return
		}
		got := encodings[name](a.(*array.Binary).Value(0))
		if name == "hex" || name == "pg_hex" {
			got, sent = string(bytes.ToLower([]byte(got))), string(bytes.ToLower([]byte(sent)))
		}
		if got != sent {
			t.Fatalf("%s: %q was taken, and is written %q", name, sent, got)
		}
	})
}

// FuzzCoerceUUID: what is taken is what another reader of UUIDs reads.
func FuzzCoerceUUID(f *testing.F) {
	for _, form := range uuids {
		f.Add([]byte(form.value))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		a := taken(t, prim.UUID, plain(), text)
		if a == nil {
			return
		}
		var sent string
		if err := json.Unmarshal(text, &sent); err != nil {
			t.Fatal(err)
		}
		want, err := uuid.Parse(sent)
		if got := a.(*extensions.UUIDArray).Value(0); err != nil || got != want {
			t.Fatalf("%s became %s (%v)", sent, got, err)
		}
		again(t, prim.UUID, a, quoted(want.String()))
	})
}

// FuzzCoerceFloat: what is taken is the nearest float, is no other number when it is written out in full, and no float is
// refused in the text that Go has for it.
func FuzzCoerceFloat(f *testing.F) {
	for _, form := range floats {
		f.Add([]byte(form.value))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		a := taken(t, prim.Float32, plain(), text)
		if a == nil {
			return
		}
		v := a.(*array.Float32).Value(0)
		if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
			return
		}
		nearest, err := strconv.ParseFloat(string(bytes.TrimSpace(text)), 32)
		if err != nil || float32(nearest) != v {
			t.Fatalf("%s became %v (%v)", text, v, err)
		}
		again(t, prim.Float32, a, strconv.AppendFloat(nil, float64(v), 'g', -1, 32))
		again(t, prim.Float32, a, strconv.AppendFloat(nil, float64(v), 'g', -1, 64))
	})
}

// FuzzCoerceNested: what is taken is the same value when it is written again.
func FuzzCoerceNested(f *testing.F) {
	inner := &iceberg.StructType{FieldList: []iceberg.NestedField{field(10, "a", prim.Int64), field(11, "b", listOf(prim.String, false)), required(field(12, "c", prim.Bool))}}
	typ := &iceberg.ListType{ElementID: 20, Element: inner}
	for _, text := range []string{`[]`, `[null,{"a":1,"b":["x",null],"c":true}]`, `[{"c":1,"a":"7"}]`, `[{"c":null}]`, `[{"c":true,"b":[[1]]}]`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if a := taken(t, typ, plain(), text); a != nil {
			again(t, typ, a, []byte(a.ValueStr(0)))
		}
	})
}

// FuzzCoerceMap: what is taken has as many pairs as were sent, with keys that are all different.
func FuzzCoerceMap(f *testing.F) {
	types := []iceberg.Type{mapOf(prim.String, prim.String), mapOf(prim.Int32, prim.String), mapOf(prim.Float64, prim.String), mapOf(prim.Date, prim.String)}
	for i := range types {
		for _, text := range []string{`{"1":"x","02":null}`, `[[1,"x"],["1",null]]`, `{"0.5":"x","5e-1":"y"}`, `{"2024-03-05":"x"}`, `[]`, `[[]]`} {
			f.Add([]byte(text), byte(i))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, which byte) {
		a := taken(t, types[int(which)%len(types)], plain(), text)
		if a == nil {
			return
		}
		m := a.(*array.Map)
		var doc wire.Doc
		v, err := doc.JSON(text)
		if err != nil || v.Len() != m.Keys().Len() {
			t.Fatalf("%s became %v", text, m)
		}
		seen := map[string]bool{}
		for i := range m.Keys().Len() {
			if key := m.Keys().ValueStr(i); seen[key] {
				t.Fatalf("%s has the key %s twice", text, key)
			} else {
				seen[key] = true
			}
		}
	})
}
