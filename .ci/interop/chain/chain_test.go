// Package chain_test lives with a whole chain that nobody here wrote but its end: PostgreSQL and MariaDB, Debezium, Apache
// Kafka; and frazil's functions, which have to keep tables of Iceberg equal to those of the databases. The parts come from
// flags; a test whose part is missing fails.
package chain_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/frazil/frazil/.ci/interop/parts"
	"github.com/frazil/frazil/internal/ledger"
	"github.com/frazil/frazil/internal/local/lake"
	"github.com/frazil/frazil/internal/local/lambda"
	"github.com/frazil/frazil/internal/local/owner"
	mapping "github.com/frazil/frazil/internal/local/source"
	"github.com/frazil/frazil/internal/local/stack"
	"github.com/frazil/frazil/internal/local/verify"
)

var (
	brokerJars     = flag.String("broker", "", "the folder of the jars of Apache Kafka")
	connectJars    = flag.String("connect", "", "the folder of the jars of Kafka Connect")
	connectPlugins = flag.String("plugins", "", "the folder of the folders of Debezium's connectors")
	postgresBin    = flag.String("postgres", "", "the folder of PostgreSQL's programs")
	mergeBinary    = flag.String("merge", "", "functions/merge")
	drainBinary    = flag.String("drain", "", "functions/drain")
	steps          = flag.Int("steps", 400, "changes of each database")
	seed           = flag.Uint64("seed", rand.Uint64(), "of the changes")
)

// mirror is a table of a source, and those that merge and drain keep equal to it.
type mirror struct {
	mirrored
	*source
	tables []string
}

func (m *mirror) topic() string  { return m.source.name + "." + m.schema + "." + m.mirrored.name }
func (m *mirror) group() string  { return "frazil of " + m.topic() }
func (m *mirror) origin() string { return m.schema + "." + m.mirrored.name }

// chain is everything.
type chain struct {
	*testing.T
	*stack.Stack
	lake    *lake.Lake
	kafka   *kafka
	connect *connect
	sources []*source
	mirrors []*mirror
	mended  map[string]bool // the dead letters whose rows were sent again
	r       *rand.Rand
}

var writers = []string{"merge", "drain"}

func TestTablesEqualThoseOfTheDatabases(t *testing.T) {
	t.Logf("seed %d", *seed)
	s, err := stack.StartLake()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	c := &chain{T: t, Stack: s, kafka: startKafka(t), mended: map[string]bool{}, r: rand.New(rand.NewPCG(*seed, 1))}
	c.sources = []*source{startPostgres(t), startMariaDB(t, c.kafka)}
	c.lake, err = lake.Open(t.Context(), s.CatalogConfig())
	c.must(err)
	c.connect = startConnect(t, c.kafka)
	for i, tables := range [][]mirrored{ofPostgres, ofMariaDB} {
		for _, m := range tables {
			c.mirror(c.sources[i], m)
		}
		c.connect.capture(t, c.sources[i].name, c.sources[i].connector)
	}
	c.await("topics", c.topicsExist)
	merge := c.startMerge()
	drain := c.startDrain("-follow")
	c.live()
	c.Cleanup(c.standing)
	c.await("equal tables", func(ctx context.Context) error {
		c.mend()
		return c.equal(ctx)
	})
	for _, m := range merge {
		ends, err := c.kafka.EndOffsets(t.Context(), m.Topic)
		c.must(err)
		c.must(m.Drained(t.Context(), ends))
	}
	drain.Stop(syscall.SIGTERM)
	parts.Run(t, c.drain())
	c.must(c.equal(t.Context())) // nothing that came late has changed it
	c.replay()
}

// replay compares the tables with replays of their topics.
func (c *chain) replay() {
	for _, m := range c.mirrors {
		for i, table := range m.tables {
			document, err := stack.Configure(c.CatalogConfig(), c.document(i))
			c.must(err)
			var out bytes.Buffer
			if equal, err := verify.Run(c.Context(), verify.Options{Config: document, Table: owner.TableName(table)}, &out); err != nil || !equal {
				c.Errorf("a replay of %s: %s%v", m.topic(), out.String(), err)
			}
		}
	}
}

// mend has rows sent again whole that dead letters are of, which are but of one kind: an update without the values that are
// stored apart, of a row that is gone. A connector that was killed sends again what it had sent, and the halves of a change of
// key may come in two deliveries.
func (c *chain) mend() {
	letters, err := c.Letters("dead")
	c.must(err)
	for _, l := range letters {
		record := fmt.Sprintf("topic %s, partition %d, offset %d", l.Topic, l.Partition, l.Offset)
		if l.Topic != "pg.public.toast" || !strings.Contains(l.Reason, "there is no row whose value could be kept") {
			c.Fatalf("dead letter of %s: %s", record, l.Reason)
		}
		if c.mended[record] {
			continue
		}
		c.mended[record] = true
		var key struct{ Payload struct{ ID int } }
		c.must(json.Unmarshal(l.Key, &key))
		_, err := c.sources[0].ExecContext(c.Context(), "UPDATE public.toast SET b_text = b_text || '', b_bytea = b_bytea || '', b_texts = b_texts || '{}' WHERE id = $1", key.Payload.ID)
		c.must(err)
		c.Logf("the row of a dead letter is sent again: %s", record)
	}
}

// standing says, of a test that failed, how far the topics and those who read them are.
func (c *chain) standing() {
	if !c.Failed() {
		return
	}
	ctx := context.WithoutCancel(c.Context())
	for _, m := range c.mirrors {
		ends, err1 := c.kafka.EndOffsets(ctx, m.topic())
		group, err2 := c.kafka.Committed(ctx, m.group(), m.topic())
		c.Logf("topic %s ends at %v, its mapping stands at %v (%v)", m.topic(), ends, group, errors.Join(err1, err2))
		for _, table := range m.tables {
			t, err := c.lake.Load(ctx, table)
			if err != nil {
				c.Log(err)
				continue
			}
			for name, value := range t.Properties() {
				if strings.HasPrefix(name, ledger.Prefix) {
					c.Logf("%s: %s is %s", table, name, value)
				}
			}
		}
	}
}

func (c *chain) must(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

func (c *chain) await(what string, try func(context.Context) error) {
	c.Helper()
	parts.Await(c.T, what, try)
}

// mirror makes the tables for one of a source: of both format versions in turn.
func (c *chain) mirror(s *source, table mirrored) {
	m := &mirror{mirrored: table, source: s}
	for i, writer := range writers {
		name := writer + "." + s.name + "_" + table.name
		c.must(c.lake.Create(c.Context(), table.spec(name, 2+(len(c.mirrors)+i)%2)))
		m.tables = append(m.tables, name)
	}
	c.mirrors = append(c.mirrors, m)
}

func (c *chain) topicsExist(ctx context.Context) error {
	for _, m := range c.mirrors {
		if _, err := c.kafka.EndOffsets(ctx, m.topic()); err != nil {
			return err
		}
	}
	return nil
}

// document is the configuration of a writer's function, but for its catalog.
func (c *chain) document(writer int) string {
	text := fmt.Sprintf("sources: {main: {brokers: [%q]}}\ndrain: {commit_interval: 1s}\ndead_letter: s3://frazil/dead\nroutes:\n", c.kafka.address)
	for _, m := range c.mirrors {
		text += fmt.Sprintf("- {topics: [%s], format: debezium, table: 'main:%s'%s}\n", m.topic(), m.tables[writer], m.options)
	}
	return text
}

// environment is that of a writer's function.
func (c *chain) environment(writer int) []string {
	text := fmt.Sprintf("catalogs: {main: {uri: %q, warehouse: %q}}\n%s", c.Stack.Endpoints.Catalog, stack.Warehouse, c.document(writer))
	return append(c.Env(), "FRAZIL_CONFIG="+text)
}

// startMerge runs the function behind a mapping for each topic.
func (c *chain) startMerge() (all []*mapping.Mapping) {
	function, err := lambda.Start(c.Context(), lambda.Options{Bootstrap: *mergeBinary, Env: c.environment(0), Timeout: time.Minute, MemoryMB: 512})
	c.must(err)
	c.Cleanup(function.Close)
	for _, m := range c.mirrors {
		one := &mapping.Mapping{
			Brokers: []string{c.kafka.address}, Topic: m.topic(), Group: m.group(), BatchSize: 50, RetryDelay: 100 * time.Millisecond,
			Redeliver: func(batch int) bool { return batch%7 == 3 },
			Report: func(d mapping.Delivery) {
				if d.Err != nil {
					c.Logf("the event will be delivered again: %v", d.Err)
				}
			},
			Invoke: func(ctx context.Context, event []byte) error {
				result, err := function.Invoke(ctx, event)
				if err == nil && result.FunctionError != nil {
					err = result.FunctionError
				}
				return err
			},
		}
		ctx, cancel := context.WithCancel(c.Context())
		ended := make(chan error, 1)
		go func() { ended <- one.Run(ctx) }()
		c.Cleanup(func() {
			cancel()
			if err := <-ended; err != nil {
				c.Errorf("mapping of %s: %v", one.Topic, err)
			}
		})
		all = append(all, one)
	}
	return all
}

func (c *chain) drain(arguments ...string) *exec.Cmd {
	run := exec.Command(*drainBinary, arguments...)
	run.Env = append(os.Environ(), c.environment(1)...)
	return run
}

func (c *chain) startDrain(arguments ...string) *parts.Part {
	return parts.Start(c.T, c.drain(arguments...), func(context.Context) error { return nil })
}

// live changes the databases, and in between a table gets a column, the worker of Connect is killed, and the broker ends and
// comes back.
func (c *chain) live() {
	for i := range *steps {
		for _, s := range c.sources {
			c.change(s)
		}
		switch i {
		case *steps / 4:
			c.addColumn()
		case *steps / 2:
			c.connect.Stop(os.Kill)
			c.connect.start(c.T)
			for _, s := range c.sources { // a worker that runs alone forgets its connectors, not where they were
				c.connect.capture(c.T, s.name, s.connector)
			}
		case *steps * 3 / 4:
			c.kafka.Stop(syscall.SIGTERM)
			c.kafka.start(c.T)
		}
	}
}

// addColumn gives all the tables of orders a column, those that mirror it first.
func (c *chain) addColumn() {
	for _, m := range c.mirrors {
		if m.mirrored.name != "orders" {
			continue
		}
		m.columns += "; extra decimal(9,3)"
		for _, table := range m.tables {
			c.must(c.lake.Alter(c.Context(), table, m.spec(table, 0).Columns))
		}
		for _, statement := range []string{"ALTER TABLE " + m.origin() + " ADD COLUMN extra decimal(9,3)", "UPDATE " + m.origin() + " SET extra = id * 1.5 WHERE id % 2 = 0"} {
			_, err := m.ExecContext(c.Context(), statement)
			c.must(err)
		}
	}
}

// most is the number of rows per table, about.
const most = 20

// change is one transaction of a database.
func (c *chain) change(s *source) {
	tx, err := s.BeginTx(c.Context(), nil)
	c.must(err)
	for range 1 + c.r.IntN(4) {
		var own []*mirror
		for _, m := range c.mirrors {
			if m.source == s {
				own = append(own, m)
			}
		}
		_, err := tx.ExecContext(c.Context(), c.statement(own[c.r.IntN(len(own))]))
		c.must(err)
	}
	if c.r.IntN(8) == 0 {
		c.must(tx.Rollback())
		return
	}
	c.must(tx.Commit())
}

// statement changes rows by their id, which may be of none. Values are those of other rows.
func (c *chain) statement(m *mirror) string {
	var others []string
	for _, column := range m.spec("", 0).Columns {
		if column.Name != "id" && column.Name != m.generated {
			others = append(others, column.Name)
		}
	}
	fill := func(statement string, more ...string) string {
		pairs := append([]string{"TABLE", m.origin(), "ID", strconv.Itoa(c.r.IntN(most)), "OTHER", strconv.Itoa(c.r.IntN(most)), "LIST", strings.Join(others, ", ")}, more...)
		return strings.NewReplacer(pairs...).Replace(statement)
	}
	const all = "(SELECT * FROM TABLE) t" // MariaDB reads no table that it changes, but one that is made of it
	switch c.r.IntN(10) {
	case 0:
		return fill("DELETE FROM TABLE WHERE id = ID")
	case 1: // to an id that is free
		return fill("UPDATE TABLE SET id = ID WHERE id = OTHER AND NOT EXISTS (SELECT 1 FROM " + all + " WHERE t.id = ID)")
	case 2, 3, 4:
		return fill("INSERT INTO TABLE (id, LIST) SELECT ID, LIST FROM TABLE WHERE id = OTHER AND NOT EXISTS (SELECT 1 FROM " + all + " WHERE t.id = ID)")
	}
	column := others[c.r.IntN(len(others))]
	if slices.Contains(strings.Fields(m.key), column) {
		column = others[len(others)-1]
	}
	return fill("UPDATE TABLE SET COLUMN = (SELECT t.COLUMN FROM "+all+" WHERE t.id = OTHER LIMIT 1) WHERE id = ID AND EXISTS (SELECT 1 FROM "+all+" WHERE t.id = OTHER)", "COLUMN", column)
}

// equal compares all tables with those that they mirror.
func (c *chain) equal(ctx context.Context) error {
	var errs []error
	for _, m := range c.mirrors {
		columns := m.spec("", 0).Columns
		want, err := m.Rows(ctx, m.origin(), columns)
		if err != nil {
			return err
		}
		for _, table := range m.tables {
			_, got, err := c.lake.Rows(ctx, table)
			if err != nil {
				return err
			}
			if d := verify.Compare(strings.Fields(m.key), want, got); !d.Empty() {
				errs = append(errs, fmt.Errorf("%s is not what %s is:\n%s", table, m.origin(), d))
			}
		}
	}
	return errors.Join(errs...)
}
