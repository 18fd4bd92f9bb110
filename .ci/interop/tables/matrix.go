package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"strings"

	"github.com/frazil/frazil/internal/local/lake"
)

// alteration is what a table's owner does.
type alteration func(ctx context.Context, l *lake.Lake, name string) error

// plan is a table to make.
type plan struct {
	namespace string
	label     string // of the table's name
	feature   string
	version   int
	deletes   string
	columns   []lake.Column
	partition []string
	sort      []string
	props     map[string]string
	batches   int
	created   int                // the version that it begins with; 0: version
	added     int                // the change set from which on it has the column extra; 0: never
	compacted int                // the change set before which maintain compacts the table; one of equality deletes comes meanwhile
	alter     map[int]alteration // before the change set of that number
}

func (p plan) name() string {
	return fmt.Sprintf("%s.v%d_%s_%s", p.namespace, p.version, p.deletes, p.label)
}

func column(name, typ string) lake.Column {
	return lake.Column{Name: name, Type: typ, Required: name == key}
}

// wide has every type that all engines read.
func wide() []lake.Column {
	return []lake.Column{
		column(key, "long"), column("bo", "boolean"), column("i", "int"), column("l", "long"), column("f", "float"), column("d", "double"),
		column("amount", "decimal(9, 2)"), column("big", "decimal(38, 5)"), column("day", "date"), column("ts", "timestamp"), column("tz", "timestamptz"),
		column("s", "string"), column("u", "uuid"), column("fix", "fixed[3]"), column("bin", "binary"),
		column("st", "struct<a: long, b: list<string>, c: struct<d: date, e: decimal(10, 4)>>"), column("li", "list<int>"), column("ma", "map<string, double>"),
		column("deep", "map<string, list<struct<x: int, y: timestamptz>>>"),
	}
}

// transforms are the partition specs of the matrix, by transform. Reading a table with all engines takes seconds: every pair
// of version and encoding has each transform of one type or another, and one that all engines read has it of all types.
var transforms = [][][]string{
	{{}},
	{{"void(s)"}},
	{{"bucket(4, id)", "month(ts)"}},
	{{"hour(ts)"}},
	{{"year(day)"}, {"year(ts)"}},
	{{"month(day)"}, {"month(tz)"}},
	{{"day(day)"}, {"day(tz)"}},
	{{"u"}, {"s"}, {"day"}, {"bo"}, {"i"}, {"amount"}},
	{{"truncate(2, s)"}, {"truncate(10, i)"}, {"truncate(100, l)"}, {"truncate(50, amount)"}, {"truncate(1, bin)"}},
	{{"bucket(4, i)"}, {"bucket(4, l)"}, {"bucket(4, s)"}, {"bucket(4, u)"}, {"bucket(4, amount)"}, {"bucket(4, day)"}, {"bucket(4, ts)"}, {"bucket(4, bin)"}},
}

func specLabel(spec []string) string {
	if len(spec) == 0 {
		return "none"
	}
	return strings.NewReplacer("(", "_", ", ", "_", ")", "", " ", "_").Replace(strings.Join(spec, "_"))
}

var (
	versions  = []int{2, 3}
	encodings = []string{"position", "rewrite", "equality"}
)

// matrix is all tables.
func matrix() (all []plan) {
	for v, version := range versions {
		for d, deletes := range encodings {
			for _, specs := range transforms {
				i := (v*len(encodings) + d) % len(specs)
				if version != 2 || deletes != "rewrite" {
					specs = specs[i : i+1]
				}
				for _, spec := range specs {
					all = append(all, plan{namespace: "matrix", label: specLabel(spec), version: version, deletes: deletes, columns: wide(), partition: spec, batches: 4})
				}
			}
		}
	}
	for _, version := range versions {
		for _, deletes := range encodings {
			all = append(all, plan{namespace: "matrix", label: "compacted", version: version, deletes: deletes, columns: wide(), batches: 4, compacted: 3})
		}
	}
	return append(all, special()...)
}

func (w *world) makeAll(ctx context.Context, plans []plan) (all []made, err error) {
	for _, p := range plans {
		t, err := w.make(ctx, p)
		if err != nil {
			return nil, fmt.Errorf("table %s: %w", p.name(), err)
		}
		all = append(all, t)
	}
	return all, nil
}

// careless tables keep their small files and dead rows: what engines are to read are the delete files.
var careless = map[string]string{
	"frazil.care.levels": "false", "frazil.care.half-dead": "false", "frazil.care.dead-files": "false", "frazil.care.manifests": "false",
}

// careful tables have files and manifests merged in every commit.
var careful = map[string]string{
	"frazil.care.levels": "true", "frazil.care.half-dead": "true", "frazil.care.dead-files": "true", "frazil.care.manifests": "true",
	"frazil.care.level-files": "2", "commit.manifest.min-count-to-merge": "2",
}

// make makes a table and applies its change sets.
func (w *world) make(ctx context.Context, p plan) (m made, err error) {
	name := p.name()
	spec := lake.Spec{
		Name: name, Version: cmp.Or(p.created, p.version), Columns: p.columns, Key: []string{key},
		Partition: p.partition, Sort: p.sort, Properties: maps.Clone(careless),
	}
	maps.Copy(spec.Properties, p.props)
	if err := w.lake.Create(ctx, spec); err != nil {
		return m, err
	}
	o := newOracle(p.columns)
	if err := w.fill(ctx, p, o); err != nil {
		return m, err
	}
	snapshots, err := w.snapshots(ctx, p)
	if err != nil {
		return m, err
	}
	return made{
		Name: name, Feature: p.feature, Version: p.version, Deletes: p.deletes, Partition: append([]string{}, p.partition...),
		Columns: o.columns, Batches: p.batches, Snapshots: snapshots, Rows: o.list(),
	}, nil
}

func (w *world) fill(ctx context.Context, p plan, o *oracle) error {
	pipeline, err := w.pipeline(p.name(), p.deletes)
	if err != nil {
		return err
	}
	for n := range p.batches {
		if alter := p.alter[n]; alter != nil {
			if err := alter(ctx, w.lake, p.name()); err != nil {
				return err
			}
		}
		if n > 0 && n == p.added {
			o.add(extra)
		}
		next := func() error { return deliver(ctx, pipeline, p.name(), o.columns, n) }
		if n > 0 && n == p.compacted {
			err = w.compact(ctx, p, next)
		} else {
			err = next()
		}
		if err != nil {
			return fmt.Errorf("change set %d: %w", n, err)
		}
		if _, err := o.apply(n); err != nil {
			return err
		}
	}
	return nil
}

// snapshots is how many the table has to have: one of each change set, and those of compactions.
func (w *world) snapshots(ctx context.Context, p plan) (int, error) {
	t, err := w.lake.Load(ctx, p.name())
	if err != nil {
		return 0, err
	}
	n := p.batches
	for _, s := range t.Metadata().Snapshots() {
		if s.Summary.Operation == "replace" {
			n++
		}
	}
	return n, nil
}
