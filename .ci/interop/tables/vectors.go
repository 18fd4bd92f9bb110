package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"

	"github.com/frazil/frazil/internal/ingest"
	"github.com/frazil/frazil/internal/kafkaevent"
	"github.com/frazil/frazil/internal/local/lake"
	"github.com/frazil/frazil/internal/local/source"
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

// vectors makes tables in which several commits give each of many data files a new vector, all in one Puffin file: of
// very different sizes, beside each other in every order.
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

func (w *world) vectorTable(ctx context.Context, name string, touched []int) (counted, error) {
	r := rand.New(rand.NewPCG(uint64(len(touched)), 0))
	var rows []lake.Row
	live := make([][]int, vectorFiles) // the keys by file
	for f := range live {
		n := small
		if f%7 == 0 {
			n = large
		}
		for range n {
			id := len(rows)
			live[f] = append(live[f], id)
			rows = append(rows, lake.Row{key: strconv.Itoa(id), "file": strconv.Itoa(f)})
		}
	}
	spec := lake.Spec{Name: name, Version: 3, Columns: []lake.Column{column(key, "long"), column("file", "int")}, Key: []string{key}, Partition: []string{"file"}}
	if err := w.lake.Create(ctx, spec); err != nil {
		return counted{}, err
	}
	if err := w.lake.Append(ctx, name, rows); err != nil {
		return counted{}, err
	}
	p, err := w.pipeline(name, "position")
	if err != nil {
		return counted{}, err
	}
	offset := int64(0)
	for _, n := range touched {
		var gone []int
		for _, f := range r.Perm(vectorFiles)[:n] {
			r.Shuffle(len(live[f]), func(i, j int) { live[f][i], live[f][j] = live[f][j], live[f][i] })
			k := 1 + r.IntN(len(live[f])/20)
			gone, live[f] = append(gone, live[f][:k]...), live[f][k:]
		}
		if err := tombstones(ctx, p, name, gone, &offset); err != nil {
			return counted{}, err
		}
	}
	c := counted{Name: name, Feature: "v3 position: many vectors in one Puffin file"}
	for _, ids := range live {
		c.Count += len(ids)
		for _, id := range ids {
			c.Sum += id
		}
	}
	return c, nil
}

// tombstones deletes rows by their keys in one commit.
func tombstones(ctx context.Context, p *ingest.Pipeline, topic string, ids []int, offset *int64) error {
	var records []*kgo.Record
	for _, id := range ids {
		records = append(records, &kgo.Record{Topic: topic, Offset: *offset, Key: fmt.Appendf(nil, `{"%s":%d}`, key, id)})
		*offset++
	}
	payload, err := source.Event(records, source.Origin{Brokers: "interop:9092"})
	if err != nil {
		return err
	}
	event, err := kafkaevent.Scan(payload)
	if err != nil {
		return err
	}
	return p.Deliver(ctx, event.Records)
}
