package stage

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/iceberg-go"
	"github.com/frazil/frazil/internal/rows"
)

// metrics are a file's statistics as a manifest holds them, by field id.
type metrics struct {
	modes                      map[int]mode
	sizes, values, nulls, nans map[int]int64
	bounds                     map[int]bounds
	splits                     []int64
}

func newMetrics(modes map[int]mode) *metrics {
	return &metrics{
		modes: modes,
		sizes: map[int]int64{}, values: map[int]int64{}, nulls: map[int]int64{}, nans: map[int]int64{}, bounds: map[int]bounds{},
	}
}

// stored takes in what the footer of the file says.
func (m *metrics) stored(meta *metadata.FileMetaData) {
	for _, g := range meta.RowGroups {
		for i, c := range g.Columns {
			if id := int(meta.Schema.Column(i).SchemaNode().FieldID()); m.modes[id].counts {
				m.sizes[id] += c.MetaData.TotalCompressedSize
			}
		}
		m.splits = append(m.splits, g.GetFileOffset())
	}
}

func (m *metrics) describe(b *iceberg.DataFileBuilder) *iceberg.DataFileBuilder {
	lower, upper := map[int][]byte{}, map[int][]byte{}
	for id, of := range m.bounds {
		if of == nil {
			continue
		}
		lo, hi := of.encoded(m.modes[id].cut)
		if lo != nil {
			lower[id] = lo
		}
		if hi != nil {
			upper[id] = hi
		}
	}
	return b.ColumnSizes(m.sizes).ValueCounts(m.values).NullValueCounts(m.nulls).NaNValueCounts(m.nans).
		LowerBoundValues(lower).UpperBoundValues(upper).SplitOffsets(m.splits)
}

// measure counts the leaves of some rows of a column and takes their bounds. Those inside a list or map are repeated: they are
// counted, but have no bounds, which would say nothing of a row (as in Iceberg's own writers).
func (m *metrics) measure(f arrow.Field, column arrow.Array, repeated bool) {
	switch a := column.(type) {
	case *array.Struct:
		for i, child := range a.DataType().(*arrow.StructType).Fields() {
			m.measure(child, a.Field(i), repeated)
		}
		return
	case *array.List:
		m.measure(a.DataType().(*arrow.ListType).ElemField(), a.ListValues(), true)
		return
	case *array.Map:
		pair := a.DataType().(*arrow.MapType)
		m.measure(pair.KeyField(), a.Keys(), true)
		m.measure(pair.ItemField(), a.Items(), true)
		return
	}
	id := rows.FieldID(f)
	if mode := m.modes[id]; mode.counts {
		m.leaf(id, column, mode, repeated)
	}
}

func (m *metrics) leaf(id int, column arrow.Array, how mode, repeated bool) {
	m.values[id] += int64(column.Len())
	m.nulls[id] += int64(column.NullN())
	switch a := column.(type) {
	case *array.Float32:
		m.nans[id] += countNaN(a, a.Value)
	case *array.Float64:
		m.nans[id] += countNaN(a, a.Value)
	}
	if !how.bounds || repeated {
		return
	}
	of, ok := m.bounds[id]
	if !ok {
		of = newBounds(column)
		m.bounds[id] = of
	}
	if of != nil {
		of.add(column)
	}
}

func countNaN[T float32 | float64](a arrow.Array, at func(int) T) (n int64) {
	for i := range a.Len() {
		if v := at(i); a.IsValid(i) && v != v {
			n++
		}
	}
	return n
}
