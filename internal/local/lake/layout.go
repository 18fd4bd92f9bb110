package lake

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"
)

var (
	termText = regexp.MustCompile(`^(?:(\w+)\(\s*(?:(\d+)\s*,\s*)?)?([^(),]+?)\s*(\))?$`)
	sortText = regexp.MustCompile(`(?i)^(.+?)(?:\s+(asc|desc))?(?:\s+nulls\s+(first|last))?$`)
)

// parseTerm reads transform(column), bucket(N, column), truncate(W, column) or column alone, which is identity. The
// column may be nested, as addr.city.
func parseTerm(text string, schema *iceberg.Schema) (iceberg.Transform, iceberg.NestedField, error) {
	m := termText.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil || (m[1] == "") != (m[4] == "") {
		return nil, iceberg.NestedField{}, fmt.Errorf("%q is no transform(column)", text)
	}
	source, ok := schema.FindFieldByName(m[3])
	if !ok {
		return nil, source, fmt.Errorf("%q: the table has no column %s", text, m[3])
	}
	name := strings.ToLower(m[1])
	if name == "" {
		name = "identity"
	}
	if m[2] != "" {
		name += "[" + m[2] + "]"
	}
	transform, err := iceberg.ParseTransform(name)
	if err != nil {
		return nil, source, fmt.Errorf("%q: %w", text, err)
	}
	if _, unknown := transform.(iceberg.UnknownTransform); unknown || !transform.CanTransform(source.Type) {
		return nil, source, fmt.Errorf("%q: no transform of a column of type %s", text, typeText(source.Type))
	}
	return transform, source, nil
}

// partitions makes a partition spec of texts, as identity(day) and bucket(16, id). Its fields have Iceberg's usual names,
// but for nested columns.
func partitions(schema *iceberg.Schema, texts []string) (*iceberg.PartitionSpec, error) {
	var options []iceberg.PartitionOption
	for _, text := range texts {
		transform, source, err := parseTerm(text, schema)
		if err != nil {
			return nil, fmt.Errorf("partition: %w", err)
		}
		name, err := iceberg.GeneratePartitionFieldName(schema, iceberg.PartitionField{SourceIDs: []int{source.ID}, Transform: transform})
		if err != nil {
			return nil, fmt.Errorf("partition: %q: %w", text, err)
		}
		name = strings.ReplaceAll(name, ".", "_") // Iceberg keeps the dots of nested columns, which iceberg-go's manifests refuse
		options = append(options, iceberg.AddPartitionFieldBySourceID(source.ID, name, transform, schema, nil))
	}
	spec, err := iceberg.NewPartitionSpecOpts(options...)
	if err != nil {
		return nil, fmt.Errorf("partition: %w", err)
	}
	return &spec, nil
}

// sorting makes a sort order of texts, as "day asc nulls last". Ascending is the default, and there nulls first,
// descending nulls last.
func sorting(schema *iceberg.Schema, texts []string) (table.SortOrder, error) {
	var fields []table.SortField
	for _, text := range texts {
		m := sortText.FindStringSubmatch(strings.TrimSpace(text))
		if m == nil {
			return table.SortOrder{}, fmt.Errorf("sort: %q is no column [asc|desc] [nulls first|last]", text)
		}
		transform, source, err := parseTerm(m[1], schema)
		if err != nil {
			return table.SortOrder{}, fmt.Errorf("sort: %w", err)
		}
		f := table.SortField{SourceIDs: []int{source.ID}, Transform: transform, Direction: table.SortASC, NullOrder: table.NullsFirst}
		if strings.EqualFold(m[2], "desc") {
			f.Direction, f.NullOrder = table.SortDESC, table.NullsLast
		}
		if m[3] != "" {
			f.NullOrder = table.NullOrder("nulls-" + strings.ToLower(m[3]))
		}
		fields = append(fields, f)
	}
	if len(fields) == 0 {
		return table.UnsortedSortOrder, nil
	}
	return table.NewSortOrder(table.InitialSortOrderID, fields)
}

// Repartition makes the given spec the table's default; the old ones stay for the files that have them.
func (l *Lake) Repartition(ctx context.Context, name string, texts []string) error {
	return l.transact(ctx, name, func(tx *table.Transaction, t *table.Table) error {
		want, err := partitions(t.Schema(), texts)
		if err != nil {
			return err
		}
		u := tx.UpdateSpec(true)
		spec := t.Spec()
		for _, f := range spec.Fields() {
			u.RemoveField(f.Name)
		}
		for _, f := range want.Fields() {
			column, _ := t.Schema().FindColumnName(f.SourceID())
			u.AddField(column, f.Transform, f.Name) // one that was removed comes back as it was
		}
		return u.Commit()
	})
}

// Resort makes the given sort order the table's default.
func (l *Lake) Resort(ctx context.Context, name string, texts []string) error {
	return l.transact(ctx, name, func(tx *table.Transaction, t *table.Table) error {
		order, err := sorting(t.Schema(), texts)
		if err != nil {
			return err
		}
		return tx.ReplaceSortOrder(order)
	})
}

// Upgrade raises a table's format version.
func (l *Lake) Upgrade(ctx context.Context, name string, version int) error {
	return l.transact(ctx, name, func(tx *table.Transaction, _ *table.Table) error { return tx.UpgradeFormatVersion(version) })
}
