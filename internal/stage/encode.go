package stage

import (
	"bytes"
	"context"
	"io"
	"runtime"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"golang.org/x/sync/errgroup"
)

// usualRatio is how many times as long as a file its rows are, of most files at least.
const usualRatio = 3

// encode returns a Parquet file's bytes and its statistics. Few columns at a time are in memory.
func encode(f parquetFile, l Layout) ([]byte, *metrics, error) {
	var buf bytes.Buffer
	buf.Grow(int(f.bytes / usualRatio))
	out, err := newEncoder(&buf, f, parquet.NewWriterProperties(l.parquet(f)...))
	if err != nil {
		return nil, nil, err
	}
	m := newMetrics(f.modes)
	groups := l.groups(f)
	for i := range groups {
		if err := encodeGroup(out, f, m, f.rows*i/groups, f.rows*(i+1)/groups); err != nil {
			return nil, nil, err
		}
	}
	if err := out.Close(); err != nil {
		return nil, nil, err
	}
	meta, err := out.FileMetadata()
	if err != nil {
		return nil, nil, err
	}
	m.stored(meta)
	data := buf.Bytes()
	if cap(data)-len(data) > len(data)/8 {
		data = bytes.Clone(data) // it may be kept for long
	}
	return data, m, nil
}

// encodeGroup writes some rows as a row group. While columns are encoded the next one is read.
func encodeGroup(out encoder, f parquetFile, m *metrics, from, to int64) error {
	if err := out.begin(); err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(context.Background())
	g.SetLimit(out.atOnce())
	for i, field := range f.schema.Fields() {
		chunks, err := f.chunks(i, from, to)
		for _, c := range chunks {
			m.measure(field, c, false)
		}
		g.Go(func() error {
			if err != nil || ctx.Err() != nil {
				return err
			}
			return out.column(i, chunks)
		})
		if ctx.Err() != nil {
			break
		}
	}
	return g.Wait()
}

// encoder writes one row group after the other.
type encoder interface {
	begin() error
	column(i int, chunks []arrow.Array) error
	atOnce() int // how many columns of a group may be written at a time; where it is 1, in their order
	Close() error
	FileMetadata() (*metadata.FileMetaData, error)
}

// gathered is the size of a file, in bytes before encoding, up to which its columns are encoded on all cores: what comes out of them
// is in memory twice for a moment.
const gathered = 64 << 20

func newEncoder(w io.Writer, f parquetFile, p *parquet.WriterProperties) (encoder, error) {
	if !flat(f.schema) || f.bytes > gathered {
		out, err := pqarrow.NewFileWriter(f.schema, w, p, pqarrow.DefaultWriterProps())
		return serial{out}, err
	}
	s, err := pqarrow.ToParquet(f.schema, p, pqarrow.DefaultWriterProps())
	if err != nil {
		return nil, err
	}
	out, err := file.NewParquetWriterWithError(w, s.Root(), file.WithWriterProps(p), file.WithWriteMetadata(metadata.KeyValueMetadata{}))
	return &parallel{Writer: out, schema: f.schema}, err
}

func flat(s *arrow.Schema) bool {
	for _, f := range s.Fields() {
		t := f.Type
		if e, ok := t.(arrow.ExtensionType); ok {
			t = e.StorageType()
		}
		if _, nested := t.(arrow.NestedType); nested {
			return false
		}
	}
	return true
}

// serial encodes columns of all types, one at a time.
type serial struct{ *pqarrow.FileWriter }

func (s serial) begin() error { return s.NewRowGroupChecked() }

func (s serial) atOnce() int { return 1 }

func (s serial) column(_ int, chunks []arrow.Array) error {
	c := arrow.NewChunked(chunks[0].DataType(), chunks)
	return s.WriteColumnChunked(c, 0, int64(c.Len()))
}

// parallel encodes columns without children.
type parallel struct {
	*file.Writer
	schema *arrow.Schema
	group  file.BufferedRowGroupWriter
}

func (p *parallel) begin() (err error) {
	p.group, err = p.AppendBufferedRowGroupChecked()
	return err
}

func (p *parallel) atOnce() int { return runtime.GOMAXPROCS(0) }

func (p *parallel) column(i int, chunks []arrow.Array) error {
	out, err := p.group.Column(i)
	if err != nil {
		return err
	}
	props := pqarrow.DefaultWriterProps()
	ctx := pqarrow.NewArrowWriteContext(context.Background(), &props)
	nullable := p.schema.Field(i).Nullable
	for _, c := range chunks {
		var levels []int16
		if nullable {
			levels = definitions(c)
		}
		if err := pqarrow.WriteArrowToColumn(ctx, out, c, levels, nil, nullable); err != nil {
			return err
		}
	}
	return nil
}

// definitions are the definition levels of an optional column: 1 where there is a value.
func definitions(a arrow.Array) []int16 {
	levels := make([]int16, a.Len())
	for i := range levels {
		if a.IsValid(i) {
			levels[i] = 1
		}
	}
	return levels
}
