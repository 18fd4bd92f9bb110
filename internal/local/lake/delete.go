package lake

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"
)

// Encoding is how another writer deletes.
type Encoding string

// The encodings. A file of which every row goes is dropped by Positions and Rewrite alike. Positions are position-delete
// files on format version 2 and deletion vectors on 3. Equality deletes apply within the current partition spec only.
const (
	Positions Encoding = "position"
	Equality  Encoding = "equality"
	Rewrite   Encoding = "rewrite"
)

// Delete removes the rows that agree with one of the given ones in all the columns that it has; all of them have the
// same. An equality delete is written too for a row that is not there.
func (l *Lake) Delete(ctx context.Context, name string, rows []Row, how Encoding) error {
	if len(rows) == 0 || len(rows[0]) == 0 {
		return fmt.Errorf("table %s: a delete without rows, or without columns", name)
	}
	if how == Equality {
		return l.deleteEqual(ctx, name, rows)
	}
	mode, ok := map[Encoding]string{Positions: table.WriteModeMergeOnRead, Rewrite: table.WriteModeCopyOnWrite}[how]
	switch {
	case how == "":
		return errors.New("a delete without a way (position, equality, rewrite)")
	case !ok:
		return fmt.Errorf("a delete by %s does not exist", how)
	}
	kinds, err := l.Deletes(ctx, name)
	if err != nil {
		return err
	}
	return l.transact(ctx, name, func(tx *table.Transaction, t *table.Table) error {
		if how == Positions && t.Metadata().Version() > 2 && kinds[PositionFiles] > 0 {
			return fmt.Errorf("table %s: iceberg-go's vectors bring back what the position-delete files of version 2 had deleted", name)
		}
		filter, err := anyOf(t.Schema(), rows)
		if err != nil {
			return err
		}
		own, set := t.Properties()[table.WriteDeleteModeKey] // iceberg-go takes the mode from the table only
		if err := tx.SetProperties(iceberg.Properties{table.WriteDeleteModeKey: mode}); err != nil {
			return err
		}
		if err := tx.Delete(ctx, filter, nil); err != nil {
			return err
		}
		if set {
			return tx.SetProperties(iceberg.Properties{table.WriteDeleteModeKey: own})
		}
		return tx.RemoveProperties([]string{table.WriteDeleteModeKey})
	})
}

// anyOf is the condition under which Delete takes a row.
func anyOf(schema *iceberg.Schema, rows []Row) (iceberg.BooleanExpression, error) {
	var some iceberg.BooleanExpression = iceberg.AlwaysFalse{}
	for _, row := range rows {
		var all iceberg.BooleanExpression = iceberg.AlwaysTrue{}
		for _, column := range slices.Sorted(maps.Keys(row)) {
			f, ok := schema.FindFieldByName(column)
			if !ok {
				return nil, fmt.Errorf("the table has no column %s", column)
			}
			v, err := literal(f.Type, row[column])
			if err != nil {
				return nil, fmt.Errorf("column %s: %w", column, err)
			}
			all = iceberg.NewAnd(all, iceberg.LiteralPredicate(iceberg.OpEQ, iceberg.Reference(column), v))
		}
		some = iceberg.NewOr(some, all)
	}
	return some, nil
}

// literal is a canonical text as iceberg-go's expressions take it.
func literal(t iceberg.Type, text string) (iceberg.Literal, error) {
	switch t := t.(type) {
	case iceberg.BinaryType, iceberg.FixedType:
		v, err := hex.DecodeString(text)
		if err != nil {
			return nil, err
		}
		return iceberg.NewLiteral(v).To(t)
	case iceberg.DecimalType:
		v, err := parseDecimal(text, &arrow.Decimal128Type{Precision: int32(t.Precision()), Scale: int32(t.Scale())})
		return iceberg.NewLiteral(iceberg.Decimal{Val: v, Scale: t.Scale()}), err
	}
	return iceberg.NewLiteral(text).To(t)
}

func (l *Lake) deleteEqual(ctx context.Context, name string, keys []Row) error {
	_, live, err := l.Rows(ctx, name)
	if err != nil {
		return err
	}
	return l.transact(ctx, name, func(tx *table.Transaction, t *table.Table) error {
		ids, columns, err := equalityColumns(t, keys[0])
		if err != nil {
			return err
		}
		r, err := records(columns, withSources(keys, live))
		if err != nil {
			return err
		}
		return tx.CommitEqualityDeletes(ctx, ids, array.IterFromReader(r), nil)
	})
}

// equalityColumns are the fields by which rows are equal, and the columns of the table that writing the deletes needs:
// those, and the sources of its partitions, whole where these are nested.
func equalityColumns(t *table.Table, key Row) (ids []int, columns *arrow.Schema, err error) {
	var names []string
	for _, column := range slices.Sorted(maps.Keys(key)) {
		f, ok := t.Schema().FindFieldByName(column)
		if !ok {
			return nil, nil, fmt.Errorf("the table has no column %s", column)
		}
		ids, names = append(ids, f.ID), append(names, column)
	}
	spec := t.Spec()
	for _, f := range spec.Fields() {
		source, _ := t.Schema().FindColumnName(f.SourceID())
		if source, _, _ = strings.Cut(source, "."); !slices.Contains(names, source) {
			names = append(names, source)
		}
	}
	schema, err := t.Schema().Select(true, names...)
	if err != nil {
		return nil, nil, err
	}
	columns, err = table.SchemaToArrowSchema(schema, nil, true, false)
	return ids, columns, err
}

// withSources are the live rows that are equal to a key, which know their partitions, and the keys that no row has.
func withSources(keys, live []Row) (out []Row) {
	for _, key := range keys {
		n := len(out)
		for _, row := range live {
			if contains(row, key) {
				out = append(out, row)
			}
		}
		if len(out) == n {
			out = append(out, key)
		}
	}
	return out
}

func contains(row, part Row) bool {
	for column, v := range part {
		if have, ok := row[column]; !ok || have != v {
			return false
		}
	}
	return true
}
