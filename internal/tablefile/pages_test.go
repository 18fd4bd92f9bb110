package tablefile_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/compute"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/apache/iceberg-go"
	"github.com/frazil/frazil/internal/tablefile"
)

// Columns with and without dictionaries, nulls and nested values; two row groups of many pages.
func TestCellsByPageAreThoseOfTheWholeFile(t *testing.T) {
	t.Parallel()
	s := arrowOf(t, schema(t, `[{"id": 1, "name": "id", "type": "long", "required": true}, {"id": 2, "name": "few", "type": "string", "required": false},
		{"id": 3, "name": "many", "type": "string", "required": false}, {"id": 4, "name": "price", "type": "decimal(20,2)", "required": false},
		{"id": 5, "name": "tags", "required": false, "type": {"type": "list", "element-id": 6, "element": "int", "element-required": false}},
		{"id": 7, "name": "at", "required": false, "type": {"type": "struct", "fields": [
			{"id": 8, "name": "x", "type": "int", "required": false}, {"id": 9, "name": "y", "type": "string", "required": false}]}}]`))
	const count = 60_000
	r := rand.New(rand.NewPCG(3, 4))
	var lines []string
	for i := range count {
		line := fmt.Sprintf(`{"id":%d,"few":"kind %d","many":"%x-%x","price":"%d.05","tags":[%s%d],"at":{"x":%d,"y":"y%d"}}`,
			i, i%7, r.Uint64(), r.Uint64(), i, strings.Repeat("null,7,", r.IntN(8)*r.IntN(3)), i, i%100, r.Uint32())
		if i%11 == 0 {
			line = fmt.Sprintf(`{"id":%d}`, i)
		}
		lines = append(lines, line)
	}
	for name, index := range map[string]bool{"with": true, "without": false} {
		p, f := paged(t, s, lines, parquet.WithPageIndexEnabled(index), parquet.WithDataPageSize(16<<10), parquet.WithMaxRowGroupLength(40_000),
			parquet.WithDataPageVersion(parquet.DataPageV2))
		whole, err := tablefile.Rows(t.Context(), p, f, s, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, positions := range [][]int64{{0}, {39_999, 40_000}, {7, 8, 500, 20_011, 41_000}, {count - 1}, spread(count, 50), spread(count, 4)} {
			read := int64(0)
			got, err := tablefile.Cells(t.Context(), counting{p, &read}, f, s.Fields(), positions, nil, tablefile.NoLimit)
			if err != nil {
				t.Fatal(err)
			}
			at := array.NewInt64Builder(memory.DefaultAllocator)
			at.AppendValues(positions, nil)
			indices := at.NewArray()
			for i, column := range columns(t, whole, s, f.Count()) {
				want, err := compute.TakeArray(t.Context(), column, indices)
				if err != nil {
					t.Fatal(err)
				}
				if !array.Equal(want, got[i]) {
					t.Errorf("%s an index, rows %v, column %s: %v, want %v", name, positions[:min(8, len(positions))], s.Field(i).Name, got[i], want)
				}
			}
			if few := len(positions) < 8; index && few && read > f.FileSizeBytes()/2 {
				t.Errorf("%d rows: %d bytes of %d are read", len(positions), read, f.FileSizeBytes())
			}
		}
	}
}

// spread is every n-th row.
func spread(count, n int64) (out []int64) {
	for i := n / 2; i < count; i += n {
		out = append(out, i)
	}
	return slices.Clip(out)
}

func paged(t *testing.T, s *arrow.Schema, lines []string, properties ...parquet.WriterProperty) (page, tablefile.File) {
	t.Helper()
	batch, _, err := array.RecordFromJSON(memory.DefaultAllocator, s, strings.NewReader("["+strings.Join(lines, ",")+"]"))
	if err != nil {
		t.Fatal(err)
	}
	var buf bytes.Buffer
	w, err := pqarrow.NewFileWriter(s, &buf, parquet.NewWriterProperties(append(properties, parquet.WithDictionaryFor("many", false))...), pqarrow.DefaultWriterProps())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(batch); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := iceberg.NewDataFileBuilder(*iceberg.UnpartitionedSpec, iceberg.EntryContentData, "s3://b/f", iceberg.ParquetFile, nil, nil, nil, batch.NumRows(), int64(buf.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return buf.Bytes(), tablefile.File{DataFile: b.Build()}
}

// Cost is what is read and what is made of it.
func TestCellsThatCostTooMuchAreNotRead(t *testing.T) {
	t.Parallel()
	s := arrowOf(t, schema(t, `[{"id": 1, "name": "id", "type": "long", "required": true}, {"id": 2, "name": "few", "type": "string", "required": false},
		{"id": 3, "name": "many", "type": "string", "required": false}]`))
	const count = 60_000
	r := rand.New(rand.NewPCG(3, 4))
	var lines, dull []string
	for i := range count {
		lines = append(lines, fmt.Sprintf(`{"id":%d,"few":"kind %d","many":"%x-%x"}`, i, i%7, r.Uint64(), r.Uint64()))
		dull = append(dull, `{"id":1,"few":"a","many":"b"}`)
	}
	plain := []parquet.WriterProperty{parquet.WithDataPageSize(16 << 10), parquet.WithDictionaryFor("id", false), parquet.WithCompression(compress.Codecs.Snappy)}
	indexed, withIndex := paged(t, s, lines, append(plain, parquet.WithPageIndexEnabled(true))...)
	bare, withoutIndex := paged(t, s, lines, plain...)
	small, ofFewBytes := paged(t, s, dull, plain...)
	if withoutIndex.FileSizeBytes() <= 1<<20 || ofFewBytes.FileSizeBytes() > 1<<20 {
		t.Fatalf("files of %d and %d bytes: one has to be read in parts, one as a whole", withoutIndex.FileSizeBytes(), ofFewBytes.FileSizeBytes())
	}
	const most, footer = 250_000, 64 << 10
	read := func(p page, f tablefile.File, positions ...int64) (bytes, requests int64, err error) {
		_, err = tablefile.Cells(t.Context(), requested{counting{p, &bytes}, &requests}, f, s.Fields(), positions, nil, most)
		return bytes, requests, err
	}
	for row := int64(900); row < 3000; row += 100 { // at the ends of pages too
		if bytes, requests, err := read(indexed, withIndex, row); err != nil || bytes > most || requests > int64(2+s.NumFields()) {
			t.Errorf("row %d by an index: %d bytes in %d requests, %v", row, bytes, requests, err)
		}
	}
	if bytes, _, err := read(indexed, withIndex, spread(count, 1000)...); !errors.Is(err, tablefile.ErrCostly) || bytes > footer {
		t.Errorf("many rows by an index: %d bytes are read, %v", bytes, err)
	}
	if bytes, _, err := read(bare, withoutIndex, 5); !errors.Is(err, tablefile.ErrCostly) || bytes > footer {
		t.Errorf("a row without an index: %d bytes are read, %v", bytes, err)
	}
	if _, _, err := read(small, ofFewBytes, count-1); !errors.Is(err, tablefile.ErrCostly) {
		t.Errorf("the last of many rows: %v", err)
	}
	if _, _, err := read(small, ofFewBytes, 5); err != nil {
		t.Errorf("one of the first: %v", err)
	}
}

// requested counts requests.
type requested struct {
	counting
	n *int64
}

func (r requested) ReadRange(ctx context.Context, path string, off, n int64) ([]byte, error) {
	*r.n++
	return r.counting.ReadRange(ctx, path, off, n)
}
