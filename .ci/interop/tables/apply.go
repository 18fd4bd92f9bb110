package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/ingest"
	"github.com/frazil/frazil/internal/local/catalog"
	"github.com/frazil/frazil/internal/local/lake"
	"github.com/frazil/frazil/internal/local/source"
	"github.com/frazil/frazil/internal/local/stack"
	"github.com/frazil/frazil/internal/maintain"
	"github.com/twmb/franz-go/pkg/kgo"
)

// world is where the tables are.
type world struct {
	parts *stack.Stack
	lake  *lake.Lake
}

// configure is a configuration for one table. The topic has the table's name.
func (w *world) configure(name, deletes string) (*config.Config, error) {
	return stack.Configure(w.parts.CatalogConfig(), fmt.Sprintf(`
routes: [{topics: [%q], format: flat, table: "main:%[1]s", key: [%s], binary_encoding: hex, deletes: %s}]
maintain: {"*": {compact: {files: 2}}}`, name, key, deletes))
}

// pipeline is a function's process.
func (w *world) pipeline(name, deletes string) (*ingest.Pipeline, error) {
	c, err := w.configure(name, deletes)
	if err != nil {
		return nil, err
	}
	return ingest.New(c, slog.New(slog.NewTextHandler(io.Discard, nil)))
}

// perBatch is how many offsets a change set may take.
const perBatch = 1 << 20

// deliver applies change set n as one event of Lambda's.
func deliver(ctx context.Context, p *ingest.Pipeline, topic string, columns []lake.Column, n int) error {
	var records []*kgo.Record
	for i, c := range changes(columns, n) {
		r := &kgo.Record{Topic: topic, Offset: int64(n*perBatch + i), Key: []byte(fmt.Sprintf(`{"%s":%d}`, key, c.id))}
		if !c.gone {
			r.Value = []byte(object(c.row))
		}
		records = append(records, r)
	}
	return send(ctx, p, records)
}

// send gives records to the function as Lambda does, in one event.
func send(ctx context.Context, p *ingest.Pipeline, records []*kgo.Record) error {
	payload, err := source.Event(records, source.Origin{Brokers: "interop:9092"})
	if err != nil {
		return err
	}
	return p.Event(ctx, payload)
}

// compact has maintain compact a table before the next change set. Equality deletes come while its commit is on the way, and
// then speak of the rows that it wrote again.
func (w *world) compact(ctx context.Context, p plan, next func() error) (err error) {
	c, err := w.configure(p.name(), p.deletes)
	if err != nil {
		return err
	}
	m, err := maintain.New(ctx, c, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	if p.deletes != "equality" {
		return errors.Join(m.Run(ctx, nil), next())
	}
	var meanwhile error
	w.parts.Catalog.SetFault(catalog.Once(catalog.OpCommitTable, func() catalog.Fault {
		meanwhile = next()
		return catalog.Fault{}
	}))
	return errors.Join(m.Run(ctx, nil), meanwhile)
}
