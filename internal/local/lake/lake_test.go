package lake_test

import (
	"strings"
	"testing"

	"github.com/frazil/frazil/internal/local/lake"
	"github.com/frazil/frazil/internal/local/stack"
	"github.com/google/go-cmp/cmp"
)

func open(t *testing.T) *lake.Lake {
	t.Helper()
	parts, err := stack.StartLake()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(parts.Close)
	l, err := lake.Open(t.Context(), parts.CatalogConfig())
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// values are literals of each type, and their canonical forms where these differ.
var values = []struct {
	typ       string
	version   int // the first that has the type
	literals  []string
	canonical []string
}{
	{"boolean", 1, []string{"true", "false"}, nil},
	{"int", 1, []string{"-2147483648", "2147483647"}, nil},
	{"long", 1, []string{"-9223372036854775808", "9007199254740993"}, nil},
	{"float", 1, []string{"0.1", "3.4028235e+38", "-0", "NaN", "Infinity", "-Infinity", "1.50"}, []string{"0.1", "3.4028235e+38", "-0", "NaN", "Infinity", "-Infinity", "1.5"}},
	{"double", 1, []string{"0.1", "1.7976931348623157e+308", "NaN", "-Infinity", "1E3"}, []string{"0.1", "1.7976931348623157e+308", "NaN", "-Infinity", "1000"}},
	{"decimal(38, 10)", 1, []string{"1234567890123456789012345678.0123456789", "-1.5"}, []string{"1234567890123456789012345678.0123456789", "-1.5000000000"}},
	{"decimal(4, 2)", 1, []string{"99.99", "-99.99", "0.01"}, nil},
	{"date", 1, []string{"0001-01-01", "1969-12-31", "9999-12-31"}, nil},
	{"time", 1, []string{"00:00:00", "23:59:59.999999"}, []string{"00:00:00.000000", "23:59:59.999999"}},
	{"timestamp", 1, []string{"1969-12-31T23:59:59.999999", "2024-03-05 06:07:08", "9999-12-31T23:59:59.999999"}, []string{"1969-12-31T23:59:59.999999", "2024-03-05T06:07:08.000000", "9999-12-31T23:59:59.999999"}},
	{"timestamptz", 1, []string{"2024-03-05T06:07:08+02:00", "0001-01-01T00:00:00Z"}, []string{"2024-03-05T04:07:08.000000+00:00", "0001-01-01T00:00:00.000000+00:00"}},
	{"timestamp_ns", 3, []string{"1969-12-31T23:59:59.999999999", "2024-03-05T06:07:08"}, []string{"1969-12-31T23:59:59.999999999", "2024-03-05T06:07:08.000000000"}},
	{"timestamptz_ns", 3, []string{"2024-03-05T06:07:08.123456789+02:00"}, []string{"2024-03-05T04:07:08.123456789+00:00"}},
	{"string", 1, []string{"", "ä\x00\"<&", "(null)", "null", strings.Repeat("x", 70000)}, nil},
	{"uuid", 1, []string{"F79C3E09-677C-4BBD-A479-3F349CB785E7"}, []string{"f79c3e09-677c-4bbd-a479-3f349cb785e7"}},
	{"fixed[3]", 1, []string{"00ff10", "ABCDEF"}, []string{"00ff10", "abcdef"}},
	{"binary", 1, []string{"", "00FF"}, []string{"", "00ff"}},
	{"list<long>", 1, []string{"[]", "[1, null, 9007199254740993]"}, []string{"[]", "[1,null,9007199254740993]"}},
	{"list<list<string>>", 1, []string{`[["a", "(null)"], [], null, [null]]`}, []string{`[["a","(null)"],[],null,[null]]`}},
	{"map<string, int>", 1, []string{`{"b": 2, "a": null}`, `[["b", "2"], ["a", null]]`, "{}"}, []string{`[["a",null],["b",2]]`, `[["a",null],["b",2]]`, "[]"}},
	{"map<long, double>", 1, []string{`{"10": "NaN", "9": 1.50}`}, []string{`[[9,1.5],[10,"NaN"]]`}},
	{"struct<a: int, b: struct<c: date, d: decimal(4, 2)>>", 1, []string{`{"b": {"d": 1.5, "c": "2024-03-05"}}`, "{}"}, []string{`{"a":null,"b":{"c":"2024-03-05","d":"1.50"}}`, `{"a":null,"b":null}`}},
	{"list<struct<u: uuid, t: time, f: fixed[2], bits: binary, ok: boolean>>", 1,
		[]string{`[{"u": "f79c3e09-677c-4bbd-a479-3f349cb785e7", "t": "01:02:03", "f": "0aff", "bits": "", "ok": true}]`},
		[]string{`[{"u":"f79c3e09-677c-4bbd-a479-3f349cb785e7","t":"01:02:03.000000","f":"0aff","bits":"","ok":true}]`}},
	{"map<struct<k: int>, list<map<string, timestamptz>>>", 1,
		[]string{`[[{"k": 2}, [{"x": "2024-03-05T00:00:00Z"}]], [{"k": 1}, null]]`}, []string{`[[{"k":1},null],[{"k":2},[[["x","2024-03-05T00:00:00.000000+00:00"]]]]]`}},
}

func TestRowsAreThoseThatWereAppended(t *testing.T) {
	t.Parallel()
	l := open(t)
	for _, version := range []int{1, 2, 3} {
		for i, v := range values {
			if v.version > version {
				continue
			}
			name := "types.v" + string(rune('0'+version)) + "_" + string(rune('a'+i))
			spec := lake.Spec{Name: name, Version: version, Columns: []lake.Column{{Name: "id", Type: "int", Required: true}, {Name: "v", Type: v.typ}}}
			if err := l.Create(t.Context(), spec); err != nil {
				t.Fatalf("%s: %v", v.typ, err)
			}
			want := []lake.Row{{"id": "0"}}
			rows := []lake.Row{{"id": "0"}}
			for j, literal := range v.literals {
				rows = append(rows, lake.Row{"id": "1", "v": literal})
				if v.canonical != nil {
					literal = v.canonical[j]
				}
				want = append(want, lake.Row{"id": "1", "v": literal})
			}
			if err := l.Append(t.Context(), name, rows); err != nil {
				t.Errorf("%s: append: %v", v.typ, err)
				continue
			}
			columns, got, err := l.Rows(t.Context(), name)
			if err != nil {
				t.Errorf("%s: rows: %v", v.typ, err)
				continue
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("format version %d, %s (-want +got):\n%s", version, v.typ, diff)
			}
			if columns[1].Type != v.typ {
				t.Errorf("type of the column = %s, want %s", columns[1].Type, v.typ)
			}
		}
	}
}

func TestCanonicalIsWhatRowsGive(t *testing.T) {
	t.Parallel()
	for _, v := range values {
		for i, literal := range v.literals {
			want := literal
			if v.canonical != nil {
				want = v.canonical[i]
			}
			for _, literal := range []string{literal, want} {
				if got, err := lake.Canonical(v.typ, literal); err != nil || got != want {
					t.Errorf("Canonical(%s, %s) = %s, %v, want %s", v.typ, literal, got, err, want)
				}
			}
		}
	}
}

func TestCanonicalRefusesWhatDoesNotFit(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		{"boolean", "yes"}, {"int", "2147483648"}, {"int", "(null)"}, {"long", "1.0"}, {"double", "1,5"}, {"decimal(4, 2)", "100"}, {"decimal(4, 2)", "0.001"}, {"decimal(4, 2)", "x"},
		{"date", "2024-02-30"}, {"time", "24:00:00"}, {"time", "00:00:00.0000001"}, {"timestamp", "2024-03-05T00:00:00Z"}, {"timestamp", "2024-03-05T00:00:00.1234567"},
		{"timestamp", "tomorrow"}, {"timestamp_ns", "2300-01-01T00:00:00"}, {"uuid", "1234"}, {"fixed[3]", "00ff"}, {"binary", "0"}, {"unknown", "1"},
		{"list<int>", "1"}, {"list<int>", "[1"}, {"list<int>", "[1] 2"}, {"list<int>", "[[1]]"}, {"map<string, int>", `[["a"]]`}, {"map<string, int>", `[[null, 1]]`}, {"map<string, int>", "1"},
		{"struct<a: int>", `{"b": 1}`}, {"struct<a: int>", "[1]"}, {"struct<a: int>", `{"a": "x"}`},
		{"integer", "1"}, {"list<int", "[]"}, {"list<>", "[]"}, {"map<int>", "{}"}, {"struct<a>", "{}"}, {"array<int>", "[]"},
	} {
		if got, err := lake.Canonical(c[0], c[1]); err == nil {
			t.Errorf("Canonical(%s, %s) = %s, want an error", c[0], c[1], got)
		}
	}
}

func TestColumnOfTypeUnknownHoldsNulls(t *testing.T) {
	t.Parallel()
	l := open(t)
	spec := lake.Spec{Name: "types.unknown", Version: 3, Columns: []lake.Column{{Name: "id", Type: "int"}, {Name: "v", Type: "unknown"}}}
	if err := l.Create(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	want := []lake.Row{{"id": "1"}, {}}
	if err := l.Append(t.Context(), spec.Name, want); err != nil {
		t.Fatal(err)
	}
	_, got, err := l.Rows(t.Context(), spec.Name)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("rows (-want +got):\n%s%v", diff, err)
	}
}
