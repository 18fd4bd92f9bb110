package tablefile_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/frazil/frazil/internal/tablefile"
	"github.com/google/go-cmp/cmp"
)

// Each row group has two rows.
func TestCellsAreThoseOfSomeRowsAndFields(t *testing.T) {
	t.Parallel()
	today := arrowOf(t, schema(t, now))
	land := tablefile.Defaults{14: {Bytes: []byte("GB")}}
	p, f := written(t, arrowOf(t, schema(t, then)), before...)
	unmarkedFile, unnamed := written(t, bare(arrowOf(t, schema(t, then))), before...)
	mapping, err := json.Marshal(schema(t, then).NameMapping())
	if err != nil {
		t.Fatal(err)
	}
	if unnamed.Names, err = tablefile.ReadNames(map[string]string{"schema.name-mapping.default": string(mapping)}); err != nil {
		t.Fatal(err)
	}
	for _, positions := range [][]int64{{0}, {1}, {2}, {0, 2}, {1, 2}, {0, 1, 2}} {
		var want []string
		for _, pos := range positions {
			want = append(want, after[pos])
		}
		for name, got := range map[string][]string{
			"ids": cells(t, p, f, today, positions, land), "names": cells(t, unmarkedFile, unnamed, today, positions, land),
		} {
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("by %s, rows %v: %s", name, positions, diff)
			}
		}
	}
	some := arrow.NewSchema([]arrow.Field{today.Field(2), today.Field(0)}, nil)
	if diff := cmp.Diff([]string{`{"kind":null,"tags":[]}`}, cells(t, p, f, some, []int64{2}, nil)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{`{"kind":null}`}, cells(t, p, f, arrow.NewSchema([]arrow.Field{today.Field(0)}, nil), []int64{1}, nil)); diff != "" {
		t.Errorf("a field that the file does not have: %s", diff)
	}
	if _, err := tablefile.Cells(t.Context(), p, f, today.Fields(), []int64{3}, nil, tablefile.NoLimit); err == nil || !strings.Contains(err.Error(), "it has no row 3") {
		t.Errorf("a row that the file does not have: %v", err)
	}
}

func cells(t *testing.T, p page, f tablefile.File, s *arrow.Schema, positions []int64, defaults tablefile.Defaults) (out []string) {
	t.Helper()
	columns, err := tablefile.Cells(t.Context(), p, f, s.Fields(), positions, defaults, tablefile.NoLimit)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(array.NewRecordBatch(s, columns, int64(len(positions))))
	if err != nil {
		t.Fatal(err)
	}
	var lines []json.RawMessage
	if err := json.Unmarshal(text, &lines); err != nil {
		t.Fatal(err)
	}
	for _, line := range lines {
		out = append(out, string(line))
	}
	return out
}

// counting is a store that counts the bytes it gives.
type counting struct {
	page
	bytes *int64
}

func (c counting) ReadRange(ctx context.Context, path string, off, n int64) ([]byte, error) {
	*c.bytes += n
	return c.page.ReadRange(ctx, path, off, n)
}

func TestCellsReadOnlyTheColumnsAndRowGroupsThatTheyAreIn(t *testing.T) {
	t.Parallel()
	s := arrowOf(t, schema(t, `[{"id": 1, "name": "id", "type": "int", "required": true}, {"id": 2, "name": "small", "type": "int", "required": false},
		{"id": 3, "name": "large", "type": "string", "required": false}]`))
	var rows []string
	for i := range 8 {
		var large strings.Builder // nothing that compresses
		for n := range 60_000 {
			fmt.Fprintf(&large, "%x", (n+1)*(i+7)*2654435761)
		}
		rows = append(rows, fmt.Sprintf(`{"id":%d,"small":%d,"large":%q}`, i, 100+i, large.String()))
	}
	p, f := written(t, s, rows...)
	for field, most := range map[int]int64{1: 200_000, 2: int64(len(p)) / 2} {
		var n int64
		if _, err := tablefile.Cells(t.Context(), counting{p, &n}, f, []arrow.Field{s.Field(field)}, []int64{3}, nil, tablefile.NoLimit); err != nil {
			t.Fatal(err)
		}
		if n > most {
			t.Errorf("column %d of one row: %d bytes of %d are read, want at most %d", field, n, len(p), most)
		}
	}
}
