package ingest_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/local/audit"
	"github.com/frazil/frazil/internal/local/fault"
	"github.com/frazil/frazil/internal/local/lake"
	"github.com/frazil/frazil/internal/local/stack"
)

// trial is one fault with what follows it, in a world of its own.
type trial struct {
	script  []fault.Fault
	after   string // who delivers again
	deletes string
	version int
	care    int           // index of cares
	profile stack.Profile // of the parts; the zero one is strict

	parts   *stack.Stack
	config  *config.Config
	lake    *lake.Lake
	auditor *audit.Auditor
}

func (t *trial) String() string {
	return fmt.Sprintf("%v, then %s (%s deletes, format version %d, care %d) %s", t.script, t.after, t.deletes, t.version, t.care, t.profile.Name)
}

// waits is 1 for a trial that waits for a deadline.
func (t *trial) waits() int {
	if f := t.script[0]; f.At == fault.Commit && (f.Kind == fault.Hang || f.Kind == fault.ThenHang) {
		return 1
	}
	return 0
}

// process is what applies events: a pipeline or a binary.
type process interface {
	Invoke(ctx context.Context, event []byte, faults ...fault.Fault) error
	Kill()
}

func (t *trial) inProcess(context.Context) (process, error) { return fault.Start(t.parts, t.config) }

// step is a record of topic orders and what it does to the table.
type step struct {
	partition     int32
	offset        int64
	value         string
	puts, deletes string // rows as "id=… n=…", and ids; a record with neither is bad
}

// The chapters of the history: what is applied before the fault, what meets it, and what comes when it is over.
var (
	first = []step{
		{0, 0, `{"op":"u","after":{"id":1,"n":10}}`, "id=1 n=10", "1"},
		{0, 1, `{"op":"c","after":{"id":3,"n":3}}`, "id=3 n=3", "3"},
		{1, 0, `{"op":"c","after":{"id":11,"n":11}}`, "id=11 n=11", "11"},
	}
	second = []step{
		{0, 2, `{"op":"u","before":{"id":1,"n":10},"after":{"id":4,"n":40}}`, "id=4 n=40", "1 4"},
		{0, 3, `{"op":"d","before":{"id":2,"n":2}}`, "", "2"},
		{0, 4, `{"op":"c","after":{"id":6,"n":"many"}}`, "", ""},
		{0, 5, `{"op":"c","after":{"id":5,"n":5}}`, "id=5 n=5", "5"},
		{1, 1, `{"op":"u","after":{"id":11,"n":12}}`, "id=11 n=12", "11"},
		{1, 2, `{"op":"c","after":{"id":12,"n":12}}`, "id=12 n=12", "12"},
	}
	third = []step{
		{0, 6, `{"op":"u","after":{"id":5,"n":50}}`, "id=5 n=50", "5"},
		{0, 7, `{"op":"d","before":{"id":4,"n":40}}`, "", "4"},
		{1, 3, `{"op":"d","before":{"id":11,"n":12}}`, "", "11"},
	}
	loaded = []lake.Row{{"id": "1", "n": "1"}, {"id": "2", "n": "2"}, {"id": "9"}}
)

// tableAfter is the oracle: the table after some chapters, in the form of rows.
func tableAfter(chapters ...[]step) []string {
	table := map[string]string{"1": "id=1 n=1", "2": "id=2 n=2", "9": "id=9"}
	for _, s := range slices.Concat(chapters...) {
		for _, id := range strings.Fields(s.deletes) {
			delete(table, id)
		}
		if s.puts != "" {
			id, _, _ := strings.Cut(strings.TrimPrefix(s.puts, "id="), " ")
			table[id] = s.puts
		}
	}
	return slices.Sorted(maps.Values(table))
}

// eventOf is Lambda's event of some records.
func eventOf(steps []step) []byte {
	groups := map[string][]any{}
	for _, s := range steps {
		name := fmt.Sprintf("orders-%d", s.partition)
		groups[name] = append(groups[name], map[string]any{
			"topic": "orders", "partition": s.partition, "offset": s.offset, "timestamp": 1_700_000_000_000 + s.offset, "timestampType": "CREATE_TIME",
			"value": base64.StdEncoding.EncodeToString([]byte(s.value)), "headers": []any{},
		})
	}
	event, err := json.Marshal(map[string]any{"eventSource": "SelfManagedKafka", "bootstrapServers": "broker:9092", "records": groups})
	if err != nil {
		panic(err) // texts and numbers
	}
	return event
}

// stranger is a file below the table's location that is nobody's.
const stranger = "warehouse/shop/orders/data/stranger.parquet"

// open makes the world: a table that another writer has loaded, and a route with dead letters.
func (t *trial) open(ctx context.Context) (err error) {
	if t.parts, err = stack.StartLake(); err != nil {
		return err
	}
	t.parts.Play(t.profile)
	t.parts.Objects.Write(stack.Bucket, stranger, []byte("whose?"))
	main := t.parts.CatalogConfig()
	t.config, err = stack.Configure(main, fmt.Sprintf("dead_letter: s3://frazil/dead\n"+
		"routes: [{table: \"main:shop.orders\", topics: [orders], format: debezium, deletes: %s}]", t.deletes))
	if err != nil {
		return err
	}
	if t.lake, err = lake.Open(ctx, main); err != nil {
		return err
	}
	t.auditor = audit.New(t.lake, t.parts.Objects, "shop.orders")
	spec := shopOrders
	spec.Properties = cares[t.care]
	if t.script[0].At == fault.Deletes { // else a file of few rows would be written again, without delete files
		spec = leftAlone(spec)
	}
	spec.Version = t.version
	return errors.Join(t.lake.Create(ctx, spec), t.lake.Append(ctx, spec.Name, loaded))
}

func (t *trial) rows(ctx context.Context) ([]string, error) { return lines(ctx, t.lake, "shop.orders") }

// applied delivers records without a fault, which has to succeed.
func (t *trial) applied(ctx context.Context, p process, steps []step) error {
	return p.Invoke(ctx, eventOf(steps))
}

// check compares the world with what it has to be after some chapters.
func (t *trial) check(ctx context.Context, chapters ...[]step) error {
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
		next[fmt.Sprintf("orders-%d", s.partition)] = s.offset + 1
	}
	if !maps.Equal(report.Ledger, next) {
		wrong("the ledger expects %v, want %v", report.Ledger, next)
	}
	if _, there := t.parts.Objects.Read(stack.Bucket, stranger); !there {
		wrong("a file that is not ours is gone")
	}
	if lost := len(report.Orphans) - 1; lost > 0 && !t.mayLitter() {
		wrong("%d files are part of nothing: %q", lost, report.Orphans)
	}
	return errors.Join(append(errs, t.checkLetters())...)
}

// mayLitter reports whether the fault leaves files behind for the orphan sweep: those of an attempt that may still arrive, or
// that its process could not clear away.
func (t *trial) mayLitter() bool {
	switch f := t.script[0]; f.At {
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
func (t *trial) checkLetters() error {
	found := map[int64]bool{}
	letters, err := t.parts.Letters("dead/")
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
