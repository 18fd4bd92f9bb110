package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/frazil/frazil/internal/local/lake"
)

// merging is the tables that frazil and another engine change in turn. They lack the types that Spark cannot create.
func merging() (all []plan) {
	var columns []lake.Column
	for _, c := range wide() {
		if c.Type != "uuid" && c.Type != "fixed[3]" {
			columns = append(columns, c)
		}
	}
	specs := [][]string{{}, {"bucket(4, l)"}, {"s"}, {"day(tz)"}, {"truncate(2, s)"}, {"month(day)"}, {"bo", "hour(ts)"}, {"bucket(4, id)"}, {"year(ts)"}, {"amount"}, {"day"}, {"truncate(50, amount)"}}
	for v, version := range versions {
		for d, deletes := range encodings {
			for _, spec := range [][]string{specs[2*(v*len(encodings)+d)], specs[2*(v*len(encodings)+d)+1]} {
				label := "merge_" + specLabel(spec)
				all = append(all, plan{namespace: "merging", label: label, version: version, deletes: deletes, columns: columns, partition: spec, batches: merged})
			}
		}
	}
	return all
}

// The tables of merging have the first change sets; the next ones are tables of their own, merging.changes_N, with the last
// change of each key and whether it deletes.
const (
	merged = 4
	toSend = 3
)

func (w *world) changeTables(ctx context.Context, columns []lake.Column) error {
	o := newOracle(columns)
	for n := range merged + toSend {
		said, err := o.apply(n)
		if err != nil {
			return err
		}
		if n < merged {
			continue
		}
		last := map[string]lake.Row{}
		for _, c := range said {
			last[c.Row[key]] = maps.Clone(c.Row)
			last[c.Row[key]]["deleted"] = strconv.FormatBool(c.Delete)
		}
		name := fmt.Sprintf("merging.changes_%d", n)
		if err := w.lake.Create(ctx, lake.Spec{Name: name, Columns: append(slices.Clone(columns), column("deleted", "boolean"))}); err != nil {
			return err
		}
		if err := w.lake.Append(ctx, name, slices.Collect(maps.Values(last))); err != nil {
			return err
		}
	}
	return nil
}
