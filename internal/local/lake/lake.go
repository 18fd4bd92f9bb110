// Package lake makes, fills and reads Iceberg tables for the local runner, with iceberg-go's own writer and reader:
// what frazil wrote is read by code that did not write it.
//
// Rows are texts: Iceberg's JSON single-value forms (spec, appendix D), without quotes; bytes in lower hex, and nested
// values as JSON in which structs are objects by field name and maps are arrays of [key, value].
package lake

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/catalog"
	"github.com/apache/iceberg-go/catalog/rest"
	"github.com/apache/iceberg-go/table"
	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/local/objectio"
	"github.com/frazil/frazil/internal/warehouse"
)

// Lake is an open catalog with its store.
type Lake struct {
	catalog *rest.Catalog
	files   *objectio.FS
}

// Open connects to a catalog. The Lake works as long as ctx lives.
func Open(ctx context.Context, c config.Catalog) (*Lake, error) {
	w, err := warehouse.Open(ctx, "main", c)
	if err != nil {
		return nil, err
	}
	return &Lake{catalog: w.Catalog(), files: objectio.Over(files{ctx, w.Store})}, nil
}

// Spec is a table to make.
type Spec struct {
	Name       string // namespace.table
	Version    int    // format version; 0: 2
	Columns    []Column
	Key        []string // identifier fields
	Partition  []string // as identity(day), bucket(16, id), hour(addr.since); none: unpartitioned
	Sort       []string // as "day desc nulls last", "bucket(4, id)"; none: unsorted
	Properties map[string]string
}

// Row is a row by column name; a column that is not there is NULL.
type Row map[string]string

// Create makes a table, and its namespace if there is none.
func (l *Lake) Create(ctx context.Context, s Spec) error {
	schema, err := s.schema()
	if err != nil {
		return err
	}
	spec, err := partitions(schema, s.Partition)
	if err != nil {
		return fmt.Errorf("table %s: %w", s.Name, err)
	}
	order, err := sorting(schema, s.Sort)
	if err != nil {
		return fmt.Errorf("table %s: %w", s.Name, err)
	}
	ident := Ident(s.Name)
	if err := l.catalog.CreateNamespace(ctx, ident[:len(ident)-1], nil); err != nil && !errors.Is(err, catalog.ErrNamespaceAlreadyExists) {
		return err
	}
	properties := iceberg.Properties{"format-version": strconv.Itoa(cmp.Or(s.Version, 2))}
	maps.Copy(properties, s.Properties)
	_, err = l.catalog.CreateTable(ctx, ident, schema, catalog.WithProperties(properties), catalog.WithPartitionSpec(spec), catalog.WithSortOrder(order))
	return err
}

// Mimic makes an empty table of the schema and version of another one, without partitions, order and properties.
func (l *Lake) Mimic(ctx context.Context, name string, t *table.Table) error {
	ident := Ident(name)
	if err := l.catalog.CreateNamespace(ctx, ident[:len(ident)-1], nil); err != nil && !errors.Is(err, catalog.ErrNamespaceAlreadyExists) {
		return err
	}
	_, err := l.catalog.CreateTable(ctx, ident, t.Schema(), catalog.WithProperties(iceberg.Properties{"format-version": strconv.Itoa(t.Metadata().Version())}))
	return err
}

// Ident is a table's identifier.
func Ident(name string) table.Identifier { return strings.Split(name, ".") }

func (s Spec) schema() (*iceberg.Schema, error) {
	next := len(s.Columns)
	var fields []iceberg.NestedField
	for i, c := range s.Columns {
		f, err := c.field(i+1, &next)
		if err != nil {
			return nil, fmt.Errorf("table %s: column %s: %w", s.Name, c.Name, err)
		}
		fields = append(fields, f)
	}
	var key []int
	for _, k := range s.Key {
		i := slices.IndexFunc(s.Columns, func(c Column) bool { return c.Name == k })
		if i < 0 {
			return nil, fmt.Errorf("table %s: key column %s is none of its columns", s.Name, k)
		}
		key = append(key, i+1)
	}
	return iceberg.NewSchemaWithIdentifiers(0, key, fields...), nil
}

// Load reads a table's current state.
func (l *Lake) Load(ctx context.Context, name string) (*table.Table, error) {
	return objectio.Table(ctx, l.catalog, Ident(name), l.files)
}

// Append adds rows as another writer would: one snapshot, a file for each partition, nothing looked up. iceberg-go
// cannot do so in a table that is sorted by a nested column.
func (l *Lake) Append(ctx context.Context, name string, rows []Row) error {
	return l.write(ctx, name, rows, func(t *table.Table, r array.RecordReader) error {
		_, err := t.Append(ctx, r, nil)
		return err
	})
}

func (l *Lake) write(ctx context.Context, name string, rows []Row, how func(*table.Table, array.RecordReader) error) error {
	t, err := l.Load(ctx, name)
	if err != nil {
		return err
	}
	columns, err := table.SchemaToArrowSchema(t.Schema(), nil, true, false)
	if err != nil {
		return err
	}
	reader, err := records(columns, rows)
	if err != nil {
		return err
	}
	return how(t, reader)
}

// records are rows as iceberg-go's writer takes them, in one batch.
func records(schema *arrow.Schema, rows []Row) (array.RecordReader, error) {
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	for _, row := range rows {
		for i, f := range schema.Fields() {
			if err := appendText(b.Field(i), row, f.Name); err != nil {
				return nil, fmt.Errorf("column %s: %w", f.Name, err)
			}
		}
	}
	return array.NewRecordReader(schema, []arrow.RecordBatch{b.NewRecordBatch()})
}

func appendText(b array.Builder, row Row, column string) error {
	text, ok := row[column]
	if !ok {
		b.AppendNull()
		return nil
	}
	return appendLiteral(b, text)
}

// Rows reads all live rows, with the table's columns in order.
func (l *Lake) Rows(ctx context.Context, name string) (columns []Column, rows []Row, err error) {
	t, err := l.Load(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	if t, err = l.readable(t); err != nil {
		return nil, nil, err
	}
	rows, err = scan(ctx, t)
	return columnsOf(t), rows, err
}

// Lines are all live rows as "column=value …", sorted.
func (l *Lake) Lines(ctx context.Context, name string) ([]string, error) {
	columns, rows, err := l.Rows(ctx, name)
	out := []string{}
	for _, r := range rows {
		var cells []string
		for _, c := range columns {
			if v, ok := r[c.Name]; ok {
				cells = append(cells, c.Name+"="+v)
			}
		}
		out = append(out, strings.Join(cells, " "))
	}
	slices.Sort(out)
	return out, err
}

// Lineage reads all live rows with their row ids and the sequence numbers of their last changes, as columns _row_id and
// _last_updated_sequence_number (format version 3).
func (l *Lake) Lineage(ctx context.Context, name string) ([]Row, error) {
	t, err := l.Load(ctx, name)
	if err != nil {
		return nil, err
	}
	if t, err = l.readable(t); err != nil {
		return nil, err
	}
	return scan(ctx, t, table.WithRowLineage())
}

func scan(ctx context.Context, t *table.Table, options ...table.ScanOption) (rows []Row, err error) {
	_, batches, err := t.Scan(options...).ToArrowRecords(ctx)
	if err != nil {
		return nil, err
	}
	for batch, err := range batches {
		if err != nil {
			return nil, err
		}
		rows = appendRows(rows, batch)
	}
	return rows, nil
}

// Columns are a table's columns in order, without their defaults.
func (l *Lake) Columns(ctx context.Context, name string) ([]Column, error) {
	t, err := l.Load(ctx, name)
	if err != nil {
		return nil, err
	}
	return columnsOf(t), nil
}

func columnsOf(t *table.Table) (columns []Column) {
	for _, f := range t.Schema().Fields() {
		columns = append(columns, Column{Name: f.Name, Type: typeText(f.Type), Required: f.Required})
	}
	return columns
}

func appendRows(rows []Row, batch arrow.RecordBatch) []Row {
	for i := range int(batch.NumRows()) {
		row := Row{}
		for c, f := range batch.Schema().Fields() {
			if a := batch.Column(c); !isNull(a, i) {
				row[f.Name] = text(a, i)
			}
		}
		rows = append(rows, row)
	}
	return rows
}
