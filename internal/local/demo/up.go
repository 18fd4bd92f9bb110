package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/local/lake"
	"github.com/frazil/frazil/internal/local/source"
	"github.com/frazil/frazil/internal/local/stack"
	"github.com/twmb/franz-go/pkg/kgo"
	"golang.org/x/sync/errgroup"
)

// Up keeps parts, function and event source mappings running until ctx ends. With compose the parts are those of
// compose.yaml, which somebody else has started, in place of the embedded ones. With fill the seeds are produced too.
func Up(ctx context.Context, o Options, compose, fill bool) error {
	p := printer{o.Out, o.Colour}
	at := stack.Fixed()
	if !compose {
		parts, err := stack.Start(true)
		if err != nil {
			return fmt.Errorf("%w (is another `localstack up` running?)", err)
		}
		defer parts.Close()
	}
	bootstrap, remove, err := o.bootstrap(ctx, p)
	if err != nil {
		return err
	}
	defer remove()
	w, err := newWorld(ctx, at, bootstrap, o.Seeds, os.Stderr)
	if err != nil {
		return err
	}
	defer w.close()
	if o.Document != "" {
		if err := os.WriteFile(o.Document, []byte(w.document), 0o600); err != nil {
			return err
		}
	}
	g, ctx := errgroup.WithContext(ctx)
	for _, s := range o.Seeds {
		if err := w.create(ctx, s); err != nil {
			return err
		}
		mappings := map[string]*source.Mapping{}
		for topic := range s.topics() {
			m := w.mapping(topic, func(ctx context.Context, event []byte) error {
				_, err := w.invoke(ctx, event)
				return err
			})
			m.Report = func(d source.Delivery) { p.delivery(topic, d) }
			g.Go(func() error { return m.Run(ctx) })
			mappings[topic] = m
		}
		if fill {
			if err := w.fill(ctx, s, mappings); err != nil {
				return err
			}
		}
	}
	p.up(w)
	g.Go(func() error { <-ctx.Done(); return nil }) // mappings there may be none
	return g.Wait()
}

// fill produces a seed's records once and waits until they are applied.
func (w *world) fill(ctx context.Context, s Seed, mappings map[string]*source.Mapping) error {
	for _, e := range s.Batches {
		if err := w.produce(ctx, e); err != nil {
			return err
		}
		if err := w.drained(ctx, mappings); err != nil {
			return err
		}
	}
	return nil
}

func (p printer) delivery(topic string, d source.Delivery) {
	if d.Err != nil {
		p.line("%s %s: %d records: %v", p.red("failed"), topic, d.Records, d.Err)
		return
	}
	p.line("%s %s: %d records, %d bytes, %d ms", p.green("applied"), topic, d.Records, d.Bytes, d.Duration.Milliseconds())
}

// up prints where things are and what to copy.
func (p printer) up(w *world) {
	p.line("%s\n", p.bold("frazil is up"))
	p.line("  Kafka    %s\n  S3       %s  (bucket %s, path style)\n  catalog  %s  (warehouse %s)\n", w.Kafka, w.Store, stack.Bucket, w.Catalog, stack.Warehouse)
	p.line("%s", p.faint("# environment of a client, or of the function"))
	p.line("export FRAZIL_CATALOG_URI=%s FRAZIL_WAREHOUSE=%s", w.Catalog, stack.Warehouse)
	p.line("export %s\n", strings.Join(w.Env(), " "))
	for _, s := range w.seeds {
		for _, t := range s.Tables {
			p.line("  go run ./localstack produce %-10s && go run ./localstack rows %s", s.Name, t.Name)
		}
	}
	p.line("\nAn event that fails is delivered again and again, as Lambda does it. Ctrl-C ends all; everything is in memory.")
}

// Show prints rows or snapshots of a table.
func Show(ctx context.Context, o Options, c *config.Config, what string, table config.Table) error {
	catalog, ok := c.Catalogs[table.Catalog]
	if !ok {
		return fmt.Errorf("there is no catalog %s", table.Catalog)
	}
	l, err := lake.Open(ctx, catalog)
	if err != nil {
		return fmt.Errorf("no catalog answers at %s: is `go run ./localstack up` running? (%w)", catalog.URI, err)
	}
	p := printer{o.Out, o.Colour}
	switch what {
	case "rows":
		return p.rows(ctx, l, table.Name(), 0)
	case "snapshots":
		return p.snapshots(ctx, l, table.Name())
	}
	return errors.New("rows or snapshots")
}

// Produce sends a seed's records to the broker of Up.
func Produce(ctx context.Context, o Options, at stack.Endpoints, s Seed) error {
	w := &world{Endpoints: at}
	if err := w.connect(); err != nil {
		return err
	}
	defer w.kafka.Close()
	if err := w.reachable(ctx); err != nil {
		return err
	}
	n := 0
	for _, e := range s.Batches {
		if err := w.produce(ctx, e); err != nil {
			return err
		}
		n += len(e.Records)
	}
	printer{o.Out, o.Colour}.line("%d records of %s sent; `up` says when they are applied", n, s.Name)
	return nil
}

// ProduceLines sends one record for each line KEY<TAB>VALUE. Nothing before the tab is a null key, nothing behind it a
// null value; a line without a tab is an error before anything is sent.
func ProduceLines(ctx context.Context, o Options, at stack.Endpoints, topic string, lines []string) error {
	w := &world{Endpoints: at}
	if err := w.connect(); err != nil {
		return err
	}
	defer w.kafka.Close()
	if err := w.reachable(ctx); err != nil {
		return err
	}
	records, err := parseLines(topic, lines)
	if err != nil {
		return err
	}
	if _, err := w.kafka.Produce(ctx, records...); err != nil {
		return fmt.Errorf("%w (`up` makes the topics of its seeds or files)", err)
	}
	printer{o.Out, o.Colour}.line("%d records sent to %s; `up` says when they are applied", len(lines), topic)
	return nil
}

func parseLines(topic string, lines []string) (records []*kgo.Record, err error) {
	for i, line := range lines {
		key, value, ok := strings.Cut(line, "\t")
		if !ok {
			return nil, fmt.Errorf("line %d: there is no tab between key and value", i+1)
		}
		r := &kgo.Record{Topic: topic}
		if key != "" {
			r.Key = []byte(key)
		}
		if value != "" {
			r.Value = []byte(value)
		}
		records = append(records, r)
	}
	return records, nil
}

// reachable tells a broker that is not there from one that is slow.
func (w *world) reachable(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if err := w.kafka.Ping(ctx); err != nil {
		return fmt.Errorf("no broker answers at %s: is `go run ./localstack up` running? (%w)", w.Kafka, err)
	}
	return nil
}
