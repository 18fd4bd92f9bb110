package stage

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/frazil/frazil/internal/locate"
	"github.com/frazil/frazil/internal/rows"
	"github.com/frazil/frazil/internal/tablefile"
)

// picked is the columns of a file: what is stored of the rows that are picked of a pile.
type picked struct {
	ctx     context.Context
	picks   []pick
	runs    []run
	lineage bool
	fields  []arrow.Field // those of the schema that are stored, as they are stored
	columns []int         // by field: its column in the pile
	// Of the rows, taken while their columns are written; nil: not wanted.
	fingerprints []rows.Fingerprint
}

func (w *writer) picked(p *pile, picks []pick) *picked {
	c := &picked{ctx: w.ctx, picks: picks, runs: p.runs(picks), lineage: p.lineage}
	if w.Fingerprints != nil {
		c.fingerprints = make([]rows.Fingerprint, len(picks))
	}
	for i, f := range w.outcome.Batch.Schema.Arrow().Fields() {
		if f, ok := storedField(f); ok {
			c.fields, c.columns = append(c.fields, f), append(c.columns, i)
		}
	}
	return c
}

func (c *picked) file() parquetFile {
	f := parquetFile{rows: int64(len(c.picks)), chunks: c.chunks, differ: c.differ}
	for _, r := range c.runs {
		f.bytes += r.bytes * (r.to - r.from) / r.rows
	}
	fields := c.fields
	if c.lineage {
		fields = append(fields[:len(fields):len(fields)], rowID, lastUpdated)
	}
	f.schema = arrow.NewSchema(fields, nil)
	return f
}

// differ asks the part of the first rows. No two rows have one id, but many were changed by one commit.
func (c *picked) differ(column int) bool {
	if n := column - len(c.columns); n >= 0 {
		return n == 0
	}
	return c.runs[0].differ(c.columns[column])
}

func (c *picked) chunks(column int, from, to int64) ([]arrow.Array, error) {
	switch column - len(c.columns) {
	case 0:
		return lineageOf(c.picks[from:to], func(p pick) int64 { return p.id }), nil
	case 1:
		return lineageOf(c.picks[from:to], func(p pick) int64 { return p.updated }), nil
	}
	list, err := c.take(c.columns[column], from, to)
	for i, a := range list {
		list[i] = stripped(a, c.fields[column].Type)
	}
	return list, err
}

// take takes some of the rows out of a column of the pile.
func (c *picked) take(column int, from, to int64) (list []arrow.Array, err error) {
	for _, r := range c.runs {
		if r.to <= from || r.from >= to {
			continue
		}
		first := max(from, r.from)
		parts, err := r.take(c.ctx, column, first, min(to, r.to))
		if err != nil {
			return nil, err
		}
		list = append(list, parts...)
		for _, part := range parts {
			if n := int64(part.Len()); c.fingerprints != nil {
				rows.AddColumn(c.fingerprints[first:first+n], part)
				first += n
			}
		}
	}
	return list, nil
}

// The columns of row lineage (Iceberg spec, reserved field ids).
var (
	rowID       = arrow.Field{Name: "_row_id", Type: arrow.PrimitiveTypes.Int64, Nullable: true, Metadata: rows.IDMetadata(tablefile.FieldRowID)}
	lastUpdated = arrow.Field{
		Name: "_last_updated_sequence_number", Type: arrow.PrimitiveTypes.Int64, Nullable: true, Metadata: rows.IDMetadata(tablefile.FieldLastUpdated),
	}
)

// lineageOf is a column of row lineage.
func lineageOf(picks []pick, of func(pick) int64) []arrow.Array {
	b := array.NewInt64Builder(memory.DefaultAllocator)
	b.Reserve(len(picks))
	for _, p := range picks {
		if v := of(p); v == locate.NoID {
			b.AppendNull()
		} else {
			b.Append(v)
		}
	}
	return []arrow.Array{b.NewArray()}
}
