package scenario

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/frazil/frazil/internal/local/lake"
	"go.yaml.in/yaml/v3"
)

// Spec is the table as package lake makes it.
func (t *Table) Spec() lake.Spec {
	return lake.Spec{
		Name: t.Name, Version: t.FormatVersion, Columns: columns(t.Schema), Key: t.Key, Partition: t.PartitionBy, Sort: t.SortBy, Properties: t.Properties,
	}
}

func columns(schema []Column) (out []lake.Column) {
	for _, c := range schema {
		out = append(out, lake.Column(c))
	}
	return out
}

// Create makes the table, with its rows in one snapshot if there are any.
func (t *Table) Create(ctx context.Context, l *lake.Lake) error {
	spec := t.Spec()
	rows, err := literals(spec.Columns, t.Rows)
	if err != nil {
		return fmt.Errorf("table %s: %w", t.Name, err)
	}
	if err := l.Create(ctx, spec); err != nil || len(rows) == 0 {
		return err
	}
	return l.Append(ctx, t.Name, rows)
}

// literals are rows in the canonical form of their columns' types.
func literals(columns []lake.Column, rows []Row) ([]lake.Row, error) {
	types := map[string]string{}
	for _, c := range columns {
		types[c.Name] = c.Type
	}
	var out []lake.Row
	for i, r := range rows {
		row := lake.Row{}
		for name, node := range r {
			typ, ok := types[name]
			if !ok {
				return nil, fmt.Errorf("row %d: the table has no column %s", i, name)
			}
			if node.Tag == "!!null" {
				continue
			}
			text, err := literal(typ, &node)
			if err != nil {
				return nil, fmt.Errorf("row %d: column %s: %w", i, name, err)
			}
			row[name] = text
		}
		out = append(out, row)
	}
	return out, nil
}

// literal is a node in the canonical form of a type. Nested nodes go through JSON, where their scalars are texts.
func literal(typ string, node *yaml.Node) (string, error) {
	if node.Kind == yaml.ScalarNode {
		return lake.Canonical(typ, node.Value)
	}
	if !strings.Contains(typ, "<") {
		return "", fmt.Errorf("a list or mapping is no %s", typ)
	}
	v, err := plain(node)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	return lake.Canonical(typ, string(text))
}

func plain(node *yaml.Node) (any, error) {
	switch {
	case node.Kind == yaml.AliasNode:
		return plain(node.Alias)
	case node.Tag == "!!null":
		return nil, nil
	case node.Kind == yaml.SequenceNode:
		list := []any{}
		for _, e := range node.Content {
			v, err := plain(e)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		return list, nil
	case node.Kind == yaml.MappingNode:
		return members(node)
	}
	return node.Value, nil
}

func members(node *yaml.Node) (any, error) {
	out := map[string]any{}
	for i := 0; i < len(node.Content); i += 2 {
		key := node.Content[i]
		if _, twice := out[key.Value]; twice || key.Kind != yaml.ScalarNode {
			return nil, fmt.Errorf("line %d: a key that is there twice, or no scalar: write the map as a list of [key, value]", key.Line)
		}
		v, err := plain(node.Content[i+1])
		if err != nil {
			return nil, err
		}
		out[key.Value] = v
	}
	return out, nil
}
