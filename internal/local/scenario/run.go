package scenario

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"

	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/kafka"
	"github.com/frazil/frazil/internal/local/fault"
	"github.com/frazil/frazil/internal/local/lake"
	"github.com/frazil/frazil/internal/local/source"
	"github.com/frazil/frazil/internal/local/stack"
	"github.com/twmb/franz-go/pkg/kgo"
	"go.yaml.in/yaml/v3"
	"golang.org/x/sync/errgroup"
)

// world is where one scenario happens.
type world struct {
	*stack.Stack
	scenario *Scenario
	config   *config.Config
	lake     *lake.Lake
	events   [][]byte // of the entries so far; nil for entries without records
	process  *fault.Process
	faults   []fault.Fault  // that the next invocation meets
	loaded   map[string]int // snapshots of the tables before the first batch
}

// Run runs one scenario. The differences say how its end is not the expected one; err says that it could not be run.
func Run(ctx context.Context, s *Scenario) (differences []string, err error) {
	parts, err := stack.StartLake()
	if err != nil {
		return nil, err
	}
	defer parts.Close()
	w := &world{Stack: parts, scenario: s, loaded: map[string]int{}}
	defer w.end()
	if err := w.open(ctx); err != nil {
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

func (w *world) end() {
	if w.process != nil {
		w.process.Kill()
	}
}

func (w *world) open(ctx context.Context) (err error) {
	if w.config, err = withCatalog(w.scenario, w.CatalogConfig()); err != nil {
		return err
	}
	if w.lake, err = lake.Open(ctx, w.CatalogConfig()); err != nil {
		return err
	}
	return w.createTables(ctx)
}

// Document is the configuration of scenarios as one document: their routes, where the catalog main is and, unless there is none, the
// broker of the source main. Store and keys are for the environment to say: secrets do not stand in documents.
func Document(main config.Catalog, broker string, scenarios ...*Scenario) (string, error) {
	var routes []any
	doc := map[string]any{}
	for _, s := range scenarios {
		var own struct {
			Routes []any          `yaml:"routes"`
			Rest   map[string]any `yaml:",inline"`
		}
		if err := s.Config.Decode(&own); err != nil {
			return "", fmt.Errorf("config: %w", explain(err))
		}
		if own.Rest["catalogs"] != nil {
			return "", errors.New("config: the catalog main is the runner's; catalogs cannot be given")
		}
		maps.Copy(doc, own.Rest)
		routes = append(routes, own.Routes...)
	}
	doc["routes"] = routes
	if doc["sources"] == nil && broker != "" {
		doc["sources"] = map[string]any{kafka.MainSource: map[string]any{"brokers": []string{broker}}}
	}
	doc["catalogs"] = map[string]any{"main": map[string]any{"uri": main.URI, "warehouse": main.Warehouse}}
	text, err := yaml.Marshal(doc)
	return string(text), err
}

// withCatalog reads the scenario's configuration with the catalog main in it.
func withCatalog(s *Scenario, main config.Catalog) (*config.Config, error) {
	text, err := Document(main, "", s)
	if err != nil {
		return nil, err
	}
	c, err := config.Parse([]byte(text))
	if err != nil { // its lines are those of the text that was made here
		return nil, errors.New(lineNumber.ReplaceAllString(err.Error(), ""))
	}
	c.Catalogs["main"] = main
	return c, nil
}

var lineNumber = regexp.MustCompile(`(?m)^line \d+: `)

func (w *world) createTables(ctx context.Context) error {
	for _, t := range w.scenario.Tables {
		if err := t.Create(ctx, w.lake); err != nil {
			return err
		}
		if len(t.Rows) > 0 {
			w.loaded[t.Name] = 1
		}
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
		return w.invoke(ctx, event)
	case e.Replay != nil:
		if *e.Replay < 0 || *e.Replay >= len(w.events) || w.events[*e.Replay] == nil {
			return nil, fmt.Errorf("replay: entry %d has no records", *e.Replay)
		}
		return w.invoke(ctx, w.events[*e.Replay])
	case e.Parallel != nil:
		return w.parallel(ctx, e.Parallel)
	case e.Fault != nil:
		w.faults = append(w.faults, *e.Fault)
		return last, e.Fault.Check()
	case e.Alter != nil:
		return last, w.alter(ctx, e.Alter)
	case e.Foreign != nil:
		return last, w.foreign(ctx, e.Foreign)
	case e.Maintain != nil:
		return last, w.maintain(ctx, e.Maintain)
	}
	return nil, errors.New("an entry without records, replay, parallel, fault, alter, foreign or maintain")
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
	return source.Event(records, source.Origin{Brokers: cmp.Or(e.Brokers, "scenario:9092")})
}

// invoke has the process apply an event. It begins when the first one comes, and anew when it was killed.
func (w *world) invoke(ctx context.Context, event []byte) (invoked, err error) {
	if w.process == nil || w.process.Dead() {
		if w.process, err = fault.Start(w.Stack, w.config); err != nil {
			return nil, err
		}
	}
	faults := w.faults
	w.faults = nil
	return met(w.process.Invoke(ctx, event, faults...))
}

// met is the result of an invocation, unless it missed a fault: that is a scenario without bite.
func met(result error) (invoked, err error) {
	var unmet *fault.Unmet
	if errors.As(result, &unmet) {
		return nil, unmet
	}
	return result, nil
}

// parallel runs invocations at the same time, each in a process of its own. The first one meets the faults.
func (w *world) parallel(ctx context.Context, entries []Entry) (invoked, err error) {
	var g errgroup.Group
	faults := w.faults
	w.faults = nil
	for i := range entries {
		event, err := entries[i].event()
		if err != nil {
			return nil, err
		}
		p, err := fault.Start(w.Stack, w.config)
		if err != nil {
			return nil, err
		}
		defer p.Kill()
		own := faults
		faults = nil
		g.Go(func() error { return p.Invoke(ctx, event, own...) })
	}
	return met(g.Wait())
}
