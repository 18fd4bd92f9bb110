package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/frazil/frazil/internal/local/lake"
	"github.com/twmb/franz-go/pkg/kgo"
)

// counted is a table too large to compare row by row.
type counted struct {
	Name    string `json:"name"`
	Feature string `json:"feature"`
	Count   int    `json:"count"`
	Sum     int    `json:"sum"` // of the keys
}

const (
	vectorFiles = 40
	large       = 200_000 // rows of every seventh file: its vector has four containers, and is of more than 16 KiB
	small       = 300
)

// vectors makes tables in which commits give many data files a new vector each, all in one Puffin file and of very
// different sizes. DuckDB takes another vector for one that comes after one as long as all that follows it.
func (w *world) vectors(ctx context.Context) (all []counted, err error) {
	for _, touched := range [][]int{{2, 40}, {40, 17, 40, 9}} {
		c, err := w.vectorTable(ctx, fmt.Sprintf("vectors.v3_position_%d_commits", len(touched)), touched)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

func (w *world) vectorTable(ctx context.Context, name string, touched []int) (c counted, err error) {
	keys, err := w.load(ctx, name)
	if err != nil {
		return c, err
	}
	p, err := w.pipeline(name, "position")
	if err != nil {
		return c, err
	}
	r, offset := rand.New(rand.NewPCG(uint64(len(touched)), 0)), int64(0)
	for _, n := range touched {
		var gone []int
		for _, f := range r.Perm(vectorFiles)[:n] {
			live := keys[f]
			r.Shuffle(len(live), func(i, j int) { live[i], live[j] = live[j], live[i] })
			k := 1 + r.IntN(len(live)/20)
			gone, keys[f] = append(gone, live[:k]...), live[k:]
		}
		if err := send(ctx, p, tombstones(name, gone, &offset)); err != nil {
			return c, err
		}
	}
	c = counted{Name: name, Feature: "v3 position: many vectors in one Puffin file"}
	for _, id := range slices.Concat(keys...) {
		c.Count++
		c.Sum += id
	}
	return c, nil
}

// load makes the table and returns its keys by data file.
func (w *world) load(ctx context.Context, name string) (keys [][]int, err error) {
	var rows []lake.Row
	for f := range vectorFiles {
		n := small
		if f%7 == 0 {
			n = large
		}
		keys = append(keys, nil)
		for range n {
			keys[f] = append(keys[f], len(rows))
			rows = append(rows, lake.Row{key: strconv.Itoa(len(rows)), "file": strconv.Itoa(f)})
		}
	}
	spec := lake.Spec{Name: name, Version: 3, Columns: []lake.Column{column(key, "long"), column("file", "int")}, Key: []string{key}, Partition: []string{"file"}}
	if err := w.lake.Create(ctx, spec); err != nil {
		return nil, err
	}
	return keys, w.lake.Append(ctx, name, rows)
}

func tombstones(topic string, ids []int, offset *int64) (records []*kgo.Record) {
	for _, id := range ids {
		records = append(records, &kgo.Record{Topic: topic, Offset: *offset, Key: fmt.Appendf(nil, `{"%s":%d}`, key, id)})
		*offset++
	}
	return records
}
