package main

import (
	"context"
	"iter"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"
	"github.com/twmb/franz-go/pkg/kgo"
)

// sink gathers changes and commits them.
type sink struct {
	table     *table.Table
	rows, key *arrow.Schema
	keyID     int
	last      map[int64]*order // what the last change of a key leaves
	taken     int
}

func newSink(t *table.Table) (*sink, error) {
	s := &sink{table: t, keyID: t.Schema().Field(0).ID, last: map[int64]*order{}}
	var err error
	if s.rows, err = table.SchemaToArrowSchema(t.Schema(), nil, true, false); err != nil {
		return nil, err
	}
	key, err := t.Schema().Select(true, s.rows.Field(0).Name)
	if err != nil {
		return nil, err
	}
	s.key, err = table.SchemaToArrowSchema(key, nil, true, false)
	return s, err
}

func (s *sink) take(r *kgo.Record) error {
	key, row, err := parse(r.Value)
	if err != nil {
		return err
	}
	s.last[key] = row
	s.taken++
	return nil
}

// commit takes the rows of all keys away that the table has, and adds those that are left.
func (s *sink) commit(ctx context.Context) error {
	keys := array.NewRecordBuilder(memory.DefaultAllocator, s.key)
	rows := array.NewRecordBuilder(memory.DefaultAllocator, s.rows)
	for key, row := range s.last {
		keys.Field(0).(*array.Int64Builder).Append(key)
		if row != nil {
			row.appendTo(rows)
		}
	}
	tx := s.table.NewTransaction()
	deletes, err := tx.WriteEqualityDeletes(ctx, []int{s.keyID}, batch(keys))
	if err != nil {
		return err
	}
	var data []iceberg.DataFile
	for f, err := range table.WriteRecords(ctx, s.table, s.rows, batch(rows)) {
		if err != nil {
			return err
		}
		data = append(data, f)
	}
	if err := tx.NewRowDelta(nil).AddRows(data...).AddDeletes(deletes...).Commit(ctx); err != nil {
		return err
	}
	s.last, s.taken = map[int64]*order{}, 0
	s.table, err = tx.Commit(ctx)
	return err
}

func batch(b *array.RecordBuilder) iter.Seq2[arrow.RecordBatch, error] {
	return func(yield func(arrow.RecordBatch, error) bool) { yield(b.NewRecordBatch(), nil) }
}
