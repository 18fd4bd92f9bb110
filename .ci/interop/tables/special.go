package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/frazil/frazil/internal/local/lake"
)

// odd are the types that some engine cannot read at all, by the first version that has them. Each has a table of its own.
var odd = map[string]int{"time": 2, "timestamp_ns": 3, "timestamptz_ns": 3}

// extra is the column that a table gets on the way, with a default.
var extra = lake.Column{Name: "extra", Type: "string", Default: new("é")}

// special is the tables beside the product of versions, encodings and transforms.
func special() (all []plan) {
	add := func(label, feature string, version int, deletes string, change func(*plan)) {
		p := plan{namespace: "special", label: label, feature: fmt.Sprintf("v%d %s", version, feature), version: version, deletes: deletes, columns: wide(), batches: 4}
		change(&p)
		all = append(all, p)
	}
	for v, version := range versions {
		for _, typ := range []string{"time", "timestamp_ns", "timestamptz_ns"} {
			if version >= odd[typ] {
				add("type_"+typ, "", version, "rewrite", func(p *plan) {
					p.feature, p.columns = "type: "+typ, []lake.Column{column(key, "long"), column("o", typ)}
				})
			}
		}
		add("commits", "position: 12 commits", version, "position", func(p *plan) { p.batches = 12 })
		add("cared_for", "auto: files and manifests merged", version, "auto", func(p *plan) { p.batches, p.props = 12, careful })
		add("cared_for_parts", "position: files and manifests merged", version, "position", func(p *plan) {
			p.batches, p.props, p.partition, p.sort = 12, careful, []string{"bo"}, []string{"day desc nulls last"}
		})
		add("sorted", "position: sorted files", version, "position", func(p *plan) { p.sort = []string{"day desc nulls last", "s"} })
		add("rolled", "rewrite: small files", version, "rewrite", func(p *plan) {
			p.props = map[string]string{"write.target-file-size-bytes": "4000", "write.parquet.row-group-size-bytes": "4000"}
		})
		for d, deletes := range encodings {
			add("evolved", deletes+": evolved partition spec", version, deletes, func(p *plan) {
				p.alter = map[int]alteration{1: repartition("day(tz)"), 2: repartition([]string{"bucket(4, l)", "i"}[(v+d)%2], "s"), 3: repartition()}
			})
		}
	}
	add("by_file", "position: write.delete.granularity: file", 2, "position", func(p *plan) {
		p.props, p.partition = map[string]string{"write.delete.granularity": "file"}, []string{"bo"}
	})
	add("upgraded", "position: upgraded from version 2", 3, "position", func(p *plan) {
		p.created, p.alter = 2, map[int]alteration{2: upgrade}
	})
	add("upgraded_partitions", "position: upgraded from version 2", 3, "position", func(p *plan) {
		p.created, p.partition, p.alter = 2, []string{"day(day)"}, map[int]alteration{2: upgrade}
	})
	add("default", "position: column added with a default", 3, "position", func(p *plan) {
		p.added, p.alter = 2, map[int]alteration{2: func(ctx context.Context, l *lake.Lake, name string) error {
			return l.Alter(ctx, name, append(slices.Clone(p.columns), extra))
		}}
	})
	return all
}

func repartition(texts ...string) alteration {
	return func(ctx context.Context, l *lake.Lake, name string) error { return l.Repartition(ctx, name, texts) }
}

func upgrade(ctx context.Context, l *lake.Lake, name string) error { return l.Upgrade(ctx, name, 3) }
