package trial

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/local/audit"
	"github.com/frazil/frazil/internal/local/broker"
	"github.com/frazil/frazil/internal/local/fault"
	"github.com/frazil/frazil/internal/local/lake"
	"github.com/frazil/frazil/internal/local/stack"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Trial is one fault with what follows it, in a world of its own.
type Trial struct {
	Script  []fault.Fault
	After   string        // who delivers again
	Kafka   bool          // there is a broker, with a topic orders of two partitions, which Produce fills
	Batches bool          // a delivery may come to be applied in parts, each of which is whole
	deletes string        // of the route
	version int           // of the table's format
	care    int           // index of Cares
	profile stack.Profile // of the parts; the zero one is strict

	// Once the world is made.
	Parts   *stack.Stack
	Config  *config.Config
	lake    *lake.Lake
	auditor *audit.Auditor

	mu       sync.Mutex
	produced map[int32]int64 // next offsets of the topic
}

// Cares are properties by which the care for files and manifests is as it comes, off, at work in every commit, or at work as
// far as levels and a budget of a few files let it.
var Cares = []map[string]string{
	{},
	{"frazil.care.levels": "false", "frazil.care.half-dead": "false", "frazil.care.dead-files": "false", "frazil.care.manifests": "false"},
	{"frazil.care.level-files": "2", "commit.manifest.min-count-to-merge": "2"},
	{"frazil.care.level-files": "3", "frazil.care.small-bytes": "64000", "frazil.care.budget-bytes": "4000", "commit.manifest.target-size-bytes": "12000"},
}

func (t *Trial) String() string {
	return fmt.Sprintf("%v, then %s (%s deletes, format version %d, care %d) %s", t.Script, t.After, t.deletes, t.version, t.care, t.profile.Name)
}

// waits is 1 for a trial that waits for a deadline.
func (t *Trial) waits() int {
	if f := t.Script[0]; f.At == fault.Commit && (f.Kind == fault.Hang || f.Kind == fault.ThenHang) {
		return 1
	}
	return 0
}

// stranger is a file below the table's location that is nobody's.
const stranger = "warehouse/shop/orders/data/stranger.parquet"

// open makes the world: a table that another writer has loaded, and a route with dead letters.
func (t *Trial) open(ctx context.Context) (err error) {
	if t.Kafka {
		t.Parts, err = stack.Start(false)
	} else {
		t.Parts, err = stack.StartLake()
	}
	if err != nil {
		return err
	}
	if t.Kafka {
		client, err := broker.NewClient(t.Parts.Kafka)
		if err != nil {
			return err
		}
		defer client.Close()
		if err := client.CreateTopic(ctx, "orders", 2); err != nil {
			return err
		}
	}
	t.Parts.Play(t.profile)
	t.Parts.Objects.Write(stack.Bucket, stranger, []byte("whose?"))
	main := t.Parts.CatalogConfig()
	t.Config, err = stack.Configure(main, strings.Join(t.document(), "\n"))
	if err != nil {
		return err
	}
	if t.lake, err = lake.Open(ctx, main); err != nil {
		return err
	}
	t.auditor = audit.New(t.lake, t.Parts.Objects, "shop.orders")
	spec := lake.Spec{
		Name: "shop.orders", Columns: []lake.Column{{Name: "id", Type: "long", Required: true}, {Name: "n", Type: "int"}}, Key: []string{"id"},
		Version: t.version, Properties: Cares[t.care],
	}
	if t.Script[0].At == fault.Deletes { // else a file of few rows would be written again, without delete files
		spec.Properties = map[string]string{"frazil.care.half-dead": "false", "frazil.care.dead-files": "false"}
	}
	return errors.Join(t.lake.Create(ctx, spec), t.lake.Append(ctx, spec.Name, loaded))
}

// document is the configuration but for the catalogs, a member each.
func (t *Trial) document() []string {
	out := []string{
		`dead_letter: "s3://frazil/dead"`,
		fmt.Sprintf(`routes: [{table: "main:shop.orders", topics: [orders], format: debezium, deletes: %s}]`, t.deletes),
	}
	if t.Kafka {
		out = append(out, fmt.Sprintf("sources: {main: {brokers: [%q]}}", t.Parts.Kafka))
	}
	return out
}

// Produce brings the topic up to some steps.
func (t *Trial) Produce(ctx context.Context, steps []Step) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	client, err := broker.NewClient(t.Parts.Kafka)
	if err != nil {
		return err
	}
	defer client.Close()
	var records []*kgo.Record
	for _, s := range steps {
		if s.Offset >= t.produced[s.Partition] {
			records = append(records, &kgo.Record{Topic: "orders", Partition: s.Partition, Value: []byte(s.Value), Timestamp: time.UnixMilli(s.Time())})
			t.produced[s.Partition]++
		}
	}
	_, err = client.Produce(ctx, records...)
	return err
}

func (t *Trial) rows(ctx context.Context) ([]string, error) { return t.lake.Lines(ctx, "shop.orders") }

// check compares the world with what it has to be after some chapters.
func (t *Trial) check(ctx context.Context, chapters ...[]Step) error {
	var errs []error
	wrong := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	got, err := t.rows(ctx)
	if err != nil {
		return err
	}
	if want := tableAfter(chapters...); !slices.Equal(got, want) {
		wrong("the table has %q, want %q", got, want)
	}
	report, err := t.auditor.Audit(ctx)
	if err != nil {
		return err
	}
	for _, f := range report.Faults {
		wrong("%s", f)
	}
	next := map[string]int64{}
	for _, s := range slices.Concat(chapters...) {
		next[s.place()] = s.Offset + 1
	}
	if !maps.Equal(report.Ledger, next) {
		wrong("the ledger expects %v, want %v", report.Ledger, next)
	}
	if _, there := t.Parts.Objects.Read(stack.Bucket, stranger); !there {
		wrong("a file that is not ours is gone")
	}
	if lost := len(report.Orphans) - 1; lost > 0 && !t.mayLitter() {
		wrong("%d files are part of nothing: %q", lost, report.Orphans)
	}
	return errors.Join(append(errs, t.checkLetters())...)
}

// mayLitter reports whether the fault leaves files behind for the orphan sweep: those of an attempt that may still arrive, or
// that its process could not clear away.
func (t *Trial) mayLitter() bool {
	switch f := t.Script[0]; f.At {
	case fault.Commit:
		if t.profile.KeepsAll || t.profile.Catalog.CurrentOnly { // nothing can be deleted, or what is to be is not proven
			return true
		}
		// The refusal is one that nothing in the table explains.
		return slices.Contains([]fault.Kind{fault.Refused, fault.Unavailable, fault.Hang, fault.Kill}, f.Kind)
	case fault.Reload, fault.DeadLetter:
		return false
	default:
		return slices.Contains([]fault.Kind{fault.Refused, fault.Hang, fault.ThenHang, fault.Kill, fault.ThenKill}, f.Kind)
	}
}

// checkLetters looks for exactly the bad record among the dead letters, at least once.
func (t *Trial) checkLetters() error {
	found := map[int64]bool{}
	letters, err := t.Parts.Letters("dead/")
	if err != nil {
		return err
	}
	for _, l := range letters {
		found[l.Offset] = true
	}
	if !maps.Equal(found, map[int64]bool{4: true}) {
		return fmt.Errorf("there are dead letters of the offsets %v, want 4", slices.Sorted(maps.Keys(found)))
	}
	return nil
}
