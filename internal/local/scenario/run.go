package scenario

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync"

	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/ingest"
	"github.com/frazil/frazil/internal/kafkaevent"
	"github.com/frazil/frazil/internal/local/catalog"
	"github.com/frazil/frazil/internal/local/lake"
	"github.com/frazil/frazil/internal/local/objectio"
	"github.com/frazil/frazil/internal/local/objects"
	"github.com/frazil/frazil/internal/local/source"
	"github.com/frazil/frazil/internal/local/stack"
	"github.com/twmb/franz-go/pkg/kgo"
	"go.yaml.in/yaml/v3"
	"golang.org/x/sync/errgroup"
)

// Runner runs scenarios against one object store. It is safe for concurrent use.
type Runner struct {
	stack   *stack.Stack // of which only the store is used
	objects *objects.Server
	store   string

	mu sync.Mutex
	n  int
}

// NewRunner starts what scenarios share.
func NewRunner() (*Runner, error) {
	r := &Runner{stack: &stack.Stack{}, objects: objects.New(stack.Bucket)}
	var err error
	r.store, err = r.stack.Serve("", r.objects)
	return r, err
}

// Close ends what NewRunner and the scenarios started.
func (r *Runner) Close() { r.stack.Close() }

// world is where one scenario happens.
type world struct {
	scenario *Scenario
	catalog  *catalog.Server
	config   *config.Config
	lake     *lake.Lake
	events   [][]byte // of the entries so far; nil for entries without records
	pipeline *ingest.Pipeline
	loaded   map[string]int // snapshots of the tables before the first batch
}

// Run runs one scenario. The differences say how its end is not the expected one; err says that it could not be run.
func (r *Runner) Run(ctx context.Context, s *Scenario) (differences []string, err error) {
	w, err := r.newWorld(ctx, s)
	if err != nil {
		return nil, err
	}
	var last error
	for i := range s.Batches {
		if last, err = w.step(ctx, &s.Batches[i], last); err != nil {
			return nil, fmt.Errorf("batches[%d]: %w", i, err)
		}
	}
	return w.compare(ctx, last)
}

func (r *Runner) newWorld(ctx context.Context, s *Scenario) (*world, error) {
	r.mu.Lock()
	r.n++
	prefix := fmt.Sprintf("s3://%s/scenario%d", stack.Bucket, r.n)
	r.mu.Unlock()
	w := &world{scenario: s, catalog: catalog.New(prefix, objectio.New(r.objects)), loaded: map[string]int{}}
	uri, err := r.serve(w.catalog)
	if err != nil {
		return nil, err
	}
	at := stack.Endpoints{Store: r.store, Catalog: uri}.CatalogConfig()
	if w.config, err = withCatalog(s.Config, at); err != nil {
		return nil, err
	}
	if w.lake, err = lake.Open(ctx, at); err != nil {
		return nil, err
	}
	if w.pipeline, err = w.newPipeline(); err != nil {
		return nil, err
	}
	return w, w.createTables(ctx)
}

func (r *Runner) serve(h http.Handler) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stack.Serve("", h)
}

// withCatalog reads the scenario's configuration with the catalog main in it.
func withCatalog(routes yaml.Node, main config.Catalog) (*config.Config, error) {
	var doc map[string]any
	if err := routes.Decode(&doc); err != nil {
		return nil, fmt.Errorf("config: %w", err)
	}
	if doc == nil {
		doc = map[string]any{}
	}
	if doc["catalogs"] != nil {
		return nil, errors.New("config: the catalog main is the runner's; catalogs cannot be given")
	}
	doc["catalogs"] = map[string]any{"main": map[string]any{"uri": main.URI, "warehouse": main.Warehouse, "properties": main.Properties}}
	text, err := yaml.Marshal(doc)
	if err != nil {
		return nil, err
	}
	return config.Parse(text)
}

func (w *world) newPipeline() (*ingest.Pipeline, error) {
	return ingest.New(w.config, slog.New(slog.NewTextHandler(io.Discard, nil)))
}

func (w *world) createTables(ctx context.Context) error {
	for _, t := range w.scenario.Tables {
		spec := t.Spec()
		if err := w.lake.Create(ctx, spec); err != nil {
			return err
		}
		if len(t.Rows) == 0 {
			continue
		}
		rows, err := literals(spec.Columns, t.Rows)
		if err == nil {
			err = w.lake.Append(ctx, t.Name, rows)
		}
		if err != nil {
			return fmt.Errorf("table %s: %w", t.Name, err)
		}
		w.loaded[t.Name] = 1
	}
	return nil
}

// step takes one entry. It returns the error of the last invocation so far, and what kept it from running.
func (w *world) step(ctx context.Context, e *Entry, last error) (invoked, err error) {
	w.events = append(w.events, nil)
	switch {
	case e.Records != nil:
		event, err := e.event()
		if err != nil {
			return nil, err
		}
		w.events[len(w.events)-1] = event
		return deliver(ctx, w.pipeline, event), nil
	case e.Replay != nil:
		if *e.Replay < 0 || *e.Replay >= len(w.events) || w.events[*e.Replay] == nil {
			return nil, fmt.Errorf("replay: entry %d has no records", *e.Replay)
		}
		return deliver(ctx, w.pipeline, w.events[*e.Replay]), nil
	case e.Parallel != nil:
		return w.parallel(ctx, e.Parallel)
	case e.Fault != nil:
		return last, w.fault(e.Fault)
	case e.Foreign != nil:
		return last, w.foreign(ctx, e.Foreign)
	}
	return nil, errors.New("an entry without records, replay, parallel, fault or foreign")
}

func (e *Entry) event() ([]byte, error) {
	var records []*kgo.Record
	for i := range e.Records {
		r, err := e.Records[i].Kafka()
		if err != nil {
			return nil, err
		}
		records = append(records, r)
	}
	return source.Event(records, source.Origin{Brokers: "scenario:9092"})
}

// deliver does what the function does with an event.
func deliver(ctx context.Context, p *ingest.Pipeline, payload []byte) error {
	event, err := kafkaevent.Scan(append([]byte(nil), payload...))
	if err != nil {
		return err
	}
	return p.Deliver(ctx, event.Records)
}

// parallel runs invocations at the same time, each in a process of its own.
func (w *world) parallel(ctx context.Context, entries []Entry) (invoked, err error) {
	var g errgroup.Group
	for i := range entries {
		event, err := entries[i].event()
		if err != nil {
			return nil, err
		}
		p, err := w.newPipeline()
		if err != nil {
			return nil, err
		}
		g.Go(func() error { return deliver(ctx, p, event) })
	}
	return g.Wait(), nil
}

// fault makes the catalog answer the next commit wrongly.
func (w *world) fault(f *Fault) error {
	faults := map[string]catalog.Fault{
		"refused":            catalog.Refuse(http.StatusConflict),
		"applied-then-504":   catalog.ApplyThenStatus(http.StatusGatewayTimeout),
		"applied-then-reset": catalog.ApplyThenDrop(),
	}
	fault, ok := faults[f.Kind]
	if f.At != "commit" || !ok {
		return fmt.Errorf("fault: at %s with kind %s does not exist (yet)", f.At, f.Kind)
	}
	var once sync.Once
	w.catalog.SetFault(func(op catalog.Op, _ *http.Request) (answer catalog.Fault) {
		if op == catalog.OpCommitTable {
			once.Do(func() { answer = fault })
		}
		return answer
	})
	return nil
}

func (w *world) foreign(ctx context.Context, f *Foreign) error {
	if f.Action != "append" {
		return fmt.Errorf("foreign: the action %s does not exist (yet)", f.Action)
	}
	for _, t := range w.scenario.Tables {
		if t.Name != f.Table {
			continue
		}
		rows, err := literals(t.Spec().Columns, f.Rows)
		if err != nil {
			return fmt.Errorf("foreign: %w", err)
		}
		return w.lake.Append(ctx, f.Table, rows)
	}
	return fmt.Errorf("foreign: there is no table %s", f.Table)
}
