package lake

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"
	"github.com/google/uuid"
)

// Unsorted names the head's data files that do not claim the table's sort order, or claim it and are not sorted. It
// looks at the files that came with a snapshot which by takes; iceberg-go's own writer never claims an order.
func (l *Lake) Unsorted(ctx context.Context, name string, by func(*table.Snapshot) bool) (faults []string, err error) {
	t, err := l.Load(ctx, name)
	if err != nil {
		return nil, err
	}
	return faults, l.entries(ctx, name, func(e iceberg.ManifestEntry) error {
		f := e.DataFile()
		if s := t.Metadata().SnapshotByID(e.SnapshotID()); f.ContentType() != iceberg.EntryContentData || s == nil || !by(s) {
			return nil
		}
		fault, err := l.unsorted(ctx, t, f)
		if fault != "" {
			faults = append(faults, f.FilePath()+" "+fault)
		}
		return err
	})
}

func (l *Lake) unsorted(ctx context.Context, t *table.Table, f iceberg.DataFile) (fault string, err error) {
	order := t.SortOrder()
	if id := f.SortOrderID(); id == nil || *id != order.OrderID() {
		return fmt.Sprintf("does not claim the sort order %d", order.OrderID()), nil
	}
	if t, err = l.readable(t); err != nil {
		return "", err
	}
	_, batches, err := t.Scan().ReadTasks(ctx, []table.FileScanTask{{File: f, Length: f.FileSizeBytes()}}) // all rows, deleted ones too
	if err != nil {
		return "", err
	}
	row, last := 0, []iceberg.Optional[iceberg.Literal](nil)
	for batch, err := range batches {
		if err != nil {
			return "", err
		}
		rows := array.RecordToStructArray(batch)
		for i := range rows.Len() {
			next, err := sortKey(t.Schema(), order, rows, i)
			if err != nil {
				return "", err
			}
			if fault == "" && last != nil && compareKeys(order, last, next) > 0 {
				fault = fmt.Sprintf("is not sorted at row %d", row)
			}
			row, last = row+1, next
		}
	}
	return fault, nil
}

// sortKey is what a row is sorted by: the transformed values, in the order's fields.
func sortKey(schema *iceberg.Schema, order table.SortOrder, rows arrow.Array, row int) (key []iceberg.Optional[iceberg.Literal], err error) {
	for _, f := range order.Fields() {
		source, _ := schema.FindFieldByID(f.SourceID())
		path, _ := schema.FindColumnName(f.SourceID())
		var v iceberg.Optional[iceberg.Literal]
		if a := valueAt(rows, strings.Split(path, "."), row); a != nil {
			v.Valid = true
			if v.Val, err = literal(source.Type, text(a, row)); err != nil {
				return nil, err
			}
		}
		key = append(key, f.Transform.Apply(v))
	}
	return key, nil
}

// valueAt is the array that holds a row's value of a column, or nil where it is NULL.
func valueAt(a arrow.Array, path []string, row int) arrow.Array {
	for _, name := range path {
		i, ok := a.DataType().(*arrow.StructType).FieldIdx(name)
		if !ok {
			return nil
		}
		if a = a.(*array.Struct).Field(i); isNull(a, row) {
			return nil
		}
	}
	return a
}

func compareKeys(order table.SortOrder, x, y []iceberg.Optional[iceberg.Literal]) int {
	for i, f := range order.Fields() {
		var c int
		switch {
		case x[i].Valid && y[i].Valid:
			c = compareLiterals(x[i].Val, y[i].Val)
			if f.Direction == table.SortDESC {
				c = -c
			}
		case x[i].Valid != y[i].Valid:
			c = 1
			if x[i].Valid == (f.NullOrder == table.NullsLast) {
				c = -1
			}
		}
		if c != 0 {
			return c
		}
	}
	return 0
}

// compareLiterals compares literals of one type. NaN is above everything (spec, sort orders).
func compareLiterals(x, y iceberg.Literal) int {
	if c, ok := compareAs[float64](x, y); ok {
		return cmp.Or(cmp.Compare(nan(x), nan(y)), c)
	}
	if c, ok := compareAs[float32](x, y); ok {
		return cmp.Or(cmp.Compare(nan(x), nan(y)), c)
	}
	for _, compare := range []func(x, y iceberg.Literal) (int, bool){
		compareAs[bool], compareAs[int32], compareAs[int64], compareAs[iceberg.Date], compareAs[iceberg.Time], compareAs[iceberg.Timestamp], compareAs[iceberg.TimestampNano],
		compareAs[string], compareAs[[]byte], compareAs[uuid.UUID], compareAs[iceberg.Decimal],
	} {
		if c, ok := compare(x, y); ok {
			return c
		}
	}
	return 0
}

func compareAs[T iceberg.LiteralType](x, y iceberg.Literal) (int, bool) {
	p, ok := x.(iceberg.TypedLiteral[T])
	q, both := y.(iceberg.TypedLiteral[T])
	if !ok || !both {
		return 0, false
	}
	return p.Comparator()(p.Value(), q.Value()), true
}

func nan(v iceberg.Literal) int {
	switch v := v.Any().(type) {
	case float64:
		if math.IsNaN(v) {
			return 1
		}
	case float32:
		if math.IsNaN(float64(v)) {
			return 1
		}
	}
	return 0
}
