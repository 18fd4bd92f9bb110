package soak

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/local/audit"
	"github.com/frazil/frazil/internal/local/broker"
	"github.com/frazil/frazil/internal/local/fault"
	"github.com/frazil/frazil/internal/local/lake"
	"github.com/frazil/frazil/internal/local/stack"
)

// steps are those of a round: few, so that tables stay small and what they cost does not grow.
const steps = 30

// round is a world with what happens in it.
type round struct {
	*rand.Rand
	seed    uint64
	figures *figures
	log     []string

	profile stack.Profile
	rolls   bool // its tables are rolled back, and never expired, in place of the other way round
	parts   *stack.Stack
	config  *config.Config
	drains  *config.Config // of those that read Kafka themselves
	kafka   *broker.Client
	lake    *lake.Lake
	tables  []*table
	sources []*part
	running []*fault.Process
	started int // processes
	// late settles the last delivery again, if it failed: a commit whose client has gone may land while tables are compared.
	late func(context.Context) error
}

// cares are how tables want their files cared for: as it comes, in every commit, as far as little room lets it, not at all.
var cares = []map[string]string{
	nil,
	{"frazil.care.level-files": "2", "commit.manifest.min-count-to-merge": "2"},
	{"frazil.care.level-files": "3", "frazil.care.small-bytes": "64000", "frazil.care.budget-bytes": "4000", "commit.manifest.target-size-bytes": "12000"},
	{"frazil.care.levels": "false", "frazil.care.half-dead": "false", "frazil.care.dead-files": "false", "frazil.care.manifests": "false"},
}

func newRound(seed uint64) *round {
	r := &round{Rand: rand.New(rand.NewPCG(seed, 5)), seed: seed, figures: &figures{counts: map[string]int{}}}
	r.profile = stack.Profiles[max(0, r.IntN(2*len(stack.Profiles))-len(stack.Profiles))] // half of them strict
	r.rolls = r.IntN(3) == 0 && !r.profile.Catalog.CurrentOnly
	for i := range 1 + r.IntN(5)/2 {
		t := &table{rows: map[int64]values{}, next: map[string]int64{}, past: map[int64]state{}}
		t.deletes = pick(r, "position", "rewrite", "equality", "auto")
		t.spec = lake.Spec{
			Name: fmt.Sprintf("soak.t%d", i), Version: min(2+r.IntN(2), r.profile.Newest), Key: []string{"id"}, Partition: r.partition(),
			Columns:    []lake.Column{{Name: "id", Type: "long", Required: true}, {Name: "n", Type: "long"}},
			Properties: pick(r, cares...),
		}
		r.tables = append(r.tables, t)
	}
	for i := range len(r.tables) + r.IntN(2) { // one table may have two topics
		for number := range 1 + r.IntN(2) {
			r.sources = append(r.sources, &part{
				topic: fmt.Sprintf("topic%d", i), number: int32(number), table: r.tables[i%len(r.tables)], class: int64(len(r.sources)),
			})
		}
	}
	return r
}

func pick[T any](r *round, from ...T) T { return from[r.IntN(len(from))] }

func (r *round) partition() []string {
	return pick(r, nil, nil, []string{"bucket(3, id)"}, []string{"truncate(100, n)"}, []string{"identity(n)", "bucket(2, id)"})
}

// note remembers a step for the case that a table differs.
func (r *round) note(format string, args ...any) { r.log = append(r.log, fmt.Sprintf(format, args...)) }

// tail is what the world is, and its last steps.
func (r *round) tail() string {
	head := min(len(r.log), 1+len(r.tables))
	return strings.Join(slices.Concat(r.log[:head], r.log[max(head, len(r.log)-12):]), "\n")
}

// play goes through the round.
func (r *round) play(ctx context.Context) error {
	if err := r.open(ctx); err != nil {
		return err
	}
	defer r.close()
	r.note("profile %s", r.profile.Name)
	for _, t := range r.tables {
		r.note("%s: %s deletes, format version %d, partitions %v, %v", t.spec.Name, t.deletes, t.spec.Version, t.spec.Partition, t.spec.Properties)
	}
	for n := range steps {
		if err := r.step(ctx); err != nil {
			return fmt.Errorf("step %d: %w", n, err)
		}
		if err := r.check(ctx); err != nil {
			return fmt.Errorf("step %d: %w", n, err)
		}
	}
	return r.end(ctx)
}

func (r *round) step(ctx context.Context) error {
	switch n := r.IntN(20); {
	case n == 0:
		return r.replace(r.IntN(len(r.running)))
	case n == 1:
		return r.drain(ctx)
	case n < 5:
		return r.others(ctx)
	case n < 8:
		return r.atOnce(ctx)
	}
	return r.alone(ctx)
}

func (r *round) open(ctx context.Context) (err error) {
	if r.parts, err = stack.Start(false); err != nil {
		return err
	}
	r.parts.Play(r.profile)
	main := r.parts.CatalogConfig()
	doc := fmt.Sprintf("dead_letter: s3://%s/dead\nroutes:\n", stack.Bucket)
	routed := map[string]bool{}
	for _, p := range r.sources {
		if !routed[p.topic] {
			doc += fmt.Sprintf("  - {topics: [%s], table: \"main:%s\", format: debezium, deletes: %s, absent: \"null\", unknown_columns: ignore}\n", p.topic, p.table.spec.Name, p.table.deletes)
		}
		routed[p.topic] = true
	}
	if r.config, err = stack.Configure(main, doc); err != nil {
		return err
	}
	if r.drains, err = withBroker(r.parts, doc); err != nil {
		return err
	}
	if r.kafka, err = broker.NewClient(r.parts.Kafka); err != nil {
		return err
	}
	if err := r.createTopics(ctx); err != nil {
		return err
	}
	if r.lake, err = lake.Open(ctx, main); err != nil {
		return err
	}
	for _, t := range r.tables {
		t.auditor = audit.New(r.lake, r.parts.Objects, t.spec.Name)
		t.rows[1000], t.touched = values{"n": 1}, true // without a snapshot Nessie is not safe
		if err := errors.Join(r.lake.Create(ctx, t.spec), r.lake.Append(ctx, t.spec.Name, []lake.Row{{"id": "1000", "n": "1"}})); err != nil {
			return err
		}
	}
	for range 3 {
		p, err := r.start()
		if err != nil {
			return err
		}
		r.running = append(r.running, p)
	}
	return r.check(ctx)
}

func (r *round) close() {
	for _, p := range r.running {
		p.Kill()
	}
	r.kafka.Close()
	r.parts.Close()
}

// start begins a process. Some have no memory for what they read, or too little for all.
func (r *round) start() (*fault.Process, error) {
	memories := []int64{1 << 30, 1, 3000}
	c := *r.config
	c.Memory.Bytes = memories[r.started%len(memories)]
	r.started++
	return fault.Start(r.parts, &c)
}

// replace ends a process and begins another.
func (r *round) replace(i int) error {
	r.running[i].Kill()
	p, err := r.start()
	if err == nil {
		r.running[i] = p
	}
	return err
}

// check compares the tables that something happened to with their oracles.
func (r *round) check(ctx context.Context) error {
	for _, t := range r.tables {
		if !t.touched {
			continue
		}
		t.touched = false
		err := t.compare(ctx, r.lake)
		if err != nil && r.late != nil && r.late(ctx) == nil {
			err = t.compare(ctx, r.lake)
		}
		if err != nil {
			return err
		}
		if err := t.keep(ctx, r.lake); err != nil {
			return err
		}
	}
	return nil
}

// end delivers what is left, and looks at everything.
func (r *round) end(ctx context.Context) error {
	for range 2 { // and again: nothing may come of it
		var all []slice
		for _, p := range r.sources {
			all = append(all, slice{p, 0, int64(len(p.events))})
		}
		if err := r.invoke(ctx, r.running[0], all); err != nil {
			return fmt.Errorf("at the end: %w", err)
		}
		if err := errors.Join(r.settle(ctx, all, nil), r.check(ctx)); err != nil {
			return fmt.Errorf("at the end: %w", err)
		}
	}
	for _, t := range r.tables {
		report, err := t.auditor.Audit(ctx)
		if err != nil {
			return err
		}
		if len(report.Faults) > 0 {
			return errors.New(strings.Join(slices.Compact(report.Faults), "\n"))
		}
	}
	return r.letters()
}
