// Package demo runs frazil's function behind embedded parts, on the seeds: for people who want to see it work.
//
// The function is the built binary behind a Lambda Runtime API; its records come from a broker through an event
// source mapping. Nothing of the flow is called in this process.
package demo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/local/broker"
	"github.com/frazil/frazil/internal/local/lake"
	"github.com/frazil/frazil/internal/local/lambda"
	"github.com/frazil/frazil/internal/local/scenario"
	"github.com/frazil/frazil/internal/local/source"
	"github.com/frazil/frazil/internal/local/stack"
	"github.com/twmb/franz-go/pkg/kerr"
)

// MemoryMB is the function's memory.
const MemoryMB = 512

// Seed is a scenario file whose batches are produced to the broker.
type Seed struct {
	Name string
	*scenario.Scenario
}

// world is the running parts and the function.
type world struct {
	stack.Endpoints
	seeds    []Seed
	kafka    *broker.Client
	lake     *lake.Lake
	function *lambda.Function
	document string       // the function's configuration
	log      bytes.Buffer // of the function
}

// Build compiles the function merge for this machine, into dir.
func Build(ctx context.Context, dir string) (bootstrap string, err error) {
	return BuildFunction(ctx, "merge", dir)
}

// BuildFunction compiles a function for this machine, into dir.
func BuildFunction(ctx context.Context, name, dir string) (bootstrap string, err error) {
	bootstrap = filepath.Join(dir, "bootstrap")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-tags", "lambda.norpc", "-ldflags", "-s -w",
		"-o", bootstrap, "github.com/frazil/frazil/functions/"+name)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build functions/%s: %w\n%s", name, err, out)
	}
	return bootstrap, nil
}

// newWorld connects to the parts and deploys the function for the seeds' routes. log hears the function too, when it
// is not nil.
func newWorld(ctx context.Context, at stack.Endpoints, bootstrap string, seeds []Seed, log io.Writer) (w *world, err error) {
	w = &world{Endpoints: at, seeds: seeds}
	if err := w.connect(); err != nil {
		return nil, err
	}
	if w.lake, err = lake.Open(ctx, at.CatalogConfig()); err != nil {
		return nil, err
	}
	if w.document, err = w.config(); err != nil {
		return nil, err
	}
	if log == nil {
		log = &w.log
	}
	w.function, err = lambda.Start(ctx, lambda.Options{
		Bootstrap: bootstrap, Name: "merge", Instances: len(seeds), Timeout: 5 * time.Minute, MemoryMB: MemoryMB,
		Env: append(at.Env(), "FRAZIL_CONFIG="+w.document), Log: log,
	})
	return w, err
}

func (w *world) connect() (err error) {
	w.kafka, err = broker.NewClient(w.Kafka)
	return err
}

func (w *world) close() {
	if w.function != nil {
		w.function.Close()
	}
	w.kafka.Close()
}

// config is one document with the routes of all seeds, as a user would write it.
func (w *world) config() (string, error) {
	var all []*scenario.Scenario
	for _, s := range w.seeds {
		all = append(all, s.Scenario)
	}
	text, err := scenario.Document(config.Catalog{URI: w.Catalog, Warehouse: stack.Warehouse}, w.Kafka, all...)
	if err == nil {
		_, err = config.Parse([]byte(text)) // the function would say it too, but over and over
	}
	return text, err
}

// invoke hands an event to the function.
func (w *world) invoke(ctx context.Context, event []byte) (lambda.Result, error) {
	result, err := w.function.Invoke(ctx, event)
	if err == nil && result.FunctionError != nil {
		err = result.FunctionError
	}
	return result, err
}

// create makes the seed's tables and topics where they are not there yet.
func (w *world) create(ctx context.Context, s Seed) error {
	for _, t := range s.Tables {
		if _, err := w.lake.Load(ctx, t.Name); err == nil {
			continue
		}
		if err := t.Create(ctx, w.lake); err != nil {
			return fmt.Errorf("create table %s: %w", t.Name, err)
		}
	}
	for topic, partitions := range s.topics() {
		if err := w.kafka.CreateTopic(ctx, topic, partitions); err != nil && !errors.Is(err, kerr.TopicAlreadyExists) {
			return fmt.Errorf("create topic %s: %w", topic, err)
		}
	}
	return nil
}

// topics are the seed's topics with the number of their partitions: those of its records, and the names in its routes.
func (s Seed) topics() map[string]int32 {
	var config struct{ Routes []struct{ Topics []string } }
	_ = s.Config.Decode(&config) // what cannot be read newWorld has refused
	out := map[string]int32{}
	for _, route := range config.Routes {
		for _, topic := range route.Topics {
			if !strings.HasPrefix(topic, "/") {
				out[topic] = 1
			}
		}
	}
	for _, e := range s.Batches {
		for _, r := range e.Records {
			out[r.Topic] = max(out[r.Topic], r.Partition+1)
		}
	}
	return out
}

// produce sends the records of one batch.
func (w *world) produce(ctx context.Context, e scenario.Entry) error {
	for i := range e.Records {
		r, err := e.Records[i].Kafka()
		if err != nil {
			return err
		}
		if _, err := w.kafka.Produce(ctx, r); err != nil {
			return fmt.Errorf("produce: %w", err)
		}
	}
	return nil
}

// drained waits until the mappings, by topic, have applied all that their topics hold.
func (w *world) drained(ctx context.Context, mappings map[string]*source.Mapping) error {
	for topic, m := range mappings {
		ends, err := w.kafka.EndOffsets(ctx, topic)
		if err != nil {
			return err
		}
		if err := m.Drained(ctx, ends); err != nil {
			return err
		}
	}
	return nil
}

// mapping is the event source mapping of a topic. Its window is long enough for one batch of a seed to be one event.
func (w *world) mapping(topic string, invoke func(context.Context, []byte) error) *source.Mapping {
	return &source.Mapping{
		Brokers: []string{w.Kafka}, Topic: topic, Group: "frazil-" + topic, BatchSize: 10_000, Window: 300 * time.Millisecond, Invoke: invoke,
	}
}
