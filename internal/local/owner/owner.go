// Package owner does by hand what is for a table's owner to do: to say which offsets the table holds, and to see how it is.
package owner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/ingest"
	"github.com/frazil/frazil/internal/kafka"
	"github.com/frazil/frazil/internal/ledger"
	"github.com/frazil/frazil/internal/local/stack"
	"github.com/frazil/frazil/internal/route"
)

// Owner works on the tables of some catalogs.
type Owner struct {
	config   *config.Config
	pipeline *ingest.Pipeline
	out      io.Writer
}

// Configuration is the document in a file or, without one, that of the local stack, which has no routes.
func Configuration(file string, at stack.Endpoints) (*config.Config, error) {
	if file == "" {
		return &config.Config{Catalogs: map[string]config.Catalog{"main": at.CatalogConfig()}}, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return config.Parse(text)
}

// Open takes the catalogs of a configuration.
func Open(c *config.Config, out io.Writer) (*Owner, error) {
	p, err := ingest.New(c, slog.Default())
	return &Owner{c, p, out}, err
}

// Ledger prints which offsets a table holds, and what a roll-back took out of it. A table is namespace.table, of the
// catalog main, or catalog:namespace.table.
func (o *Owner) Ledger(ctx context.Context, table string) error {
	l, err := o.pipeline.Ledger(ctx, TableName(table))
	if err != nil {
		return err
	}
	if len(l.Topics()) == 0 {
		_, err = fmt.Fprintln(o.out, "  ledger      no offsets yet")
	}
	Print(o.out, l)
	return err
}

// Print prints a ledger.
func Print(out io.Writer, l *ledger.Ledger) {
	for _, topic := range l.Topics() {
		var next, lost []string
		for _, n := range slices.Sorted(maps.Keys(topic.Marks)) {
			m := topic.Marks[n]
			next = append(next, fmt.Sprintf("%d: %d", n, m.Next))
			if m.Lost.To > m.Next {
				lost = append(lost, fmt.Sprintf("%d: %d to %d", n, m.Next, m.Lost.To-1))
			}
		}
		_, _ = fmt.Fprintf(out, "  ledger      topic %s, next offset by partition {%s}\n", ledger.SourceAndTopic(topic.Source, topic.Name), strings.Join(next, ", "))
		if len(lost) > 0 {
			_, _ = fmt.Fprintf(out, "              lost by a roll-back, offsets by partition {%s}\n", strings.Join(lost, ", "))
		}
	}
}

// TableName reads namespace.table, of the catalog main, or catalog:namespace.table.
func TableName(text string) config.Table {
	catalog, name, ok := strings.Cut(text, ":")
	if !ok {
		catalog, name = "main", text
	}
	return config.Table{Catalog: catalog, Path: strings.Split(name, ".")}
}

// SetLedger gives partitions of a topic, or SOURCE/TOPIC, next offsets: PARTITION=OFFSET each. A route of the configuration has to bring
// the topic to the table or, where there are none, the ledger has to know it: a wrong topic stays there.
func (o *Owner) SetLedger(ctx context.Context, table, name string, marks []string) error {
	source, topic, ok := strings.Cut(name, "/")
	if !ok {
		source, topic = kafka.MainSource, name
	}
	if err := o.routed(source, topic, TableName(table)); err != nil {
		return fmt.Errorf("ledger set: %w", err)
	}
	next := map[int32]int64{}
	for _, m := range marks {
		left, right, _ := strings.Cut(m, "=")
		n, err1 := strconv.ParseInt(left, 10, 32)
		offset, err2 := strconv.ParseInt(right, 10, 64)
		if errors.Join(err1, err2) != nil || n < 0 || offset < 0 {
			return fmt.Errorf("ledger set: %q is not PARTITION=OFFSET", m)
		}
		next[int32(n)] = offset
	}
	return o.moveLedger(ctx, table, func(l *ledger.Ledger, now time.Time) (ledger.Move, error) {
		if len(o.config.Routes) == 0 && !l.Knows(&kafka.Partition{Source: source, Topic: topic}) {
			return ledger.Move{}, fmt.Errorf("ledger set: the table has no offsets of topic %s; that a route brings it there, the document of -config has to say",
				ledger.SourceAndTopic(source, topic))
		}
		return l.Set(source, topic, next, now.UnixMilli())
	})
}

// routed refuses a topic that goes to another table, or nowhere.
func (o *Owner) routed(source, topic string, table config.Table) error {
	if len(o.config.Routes) == 0 {
		return nil
	}
	routes, err := route.New(o.config.Routes)
	if err != nil {
		return err
	}
	n, err := routes.Of(source, topic)
	if err != nil {
		return err
	}
	if to := o.config.Routes[n].Table; to.String() != table.String() {
		return fmt.Errorf("topic %s goes to table %s", ledger.SourceAndTopic(source, topic), to)
	}
	return nil
}

// AcceptLedger gives up what a roll-back took out of the table.
func (o *Owner) AcceptLedger(ctx context.Context, table string) error {
	return o.moveLedger(ctx, table, func(l *ledger.Ledger, now time.Time) (ledger.Move, error) { return l.Accept(now.UnixMilli()), nil })
}

// moveLedger moves a ledger and says what will follow.
func (o *Owner) moveLedger(ctx context.Context, table string, move func(*ledger.Ledger, time.Time) (ledger.Move, error)) error {
	var lines []string
	err := o.pipeline.MoveLedger(ctx, TableName(table), func(l *ledger.Ledger, now time.Time) (ledger.Move, error) {
		m, err := move(l, now)
		if !m.Empty() {
			lines = consequences(l, m)
		}
		return m, err
	})
	if err != nil {
		return err
	}
	if len(lines) == 0 {
		lines = []string{"nothing to do"}
	}
	_, err = fmt.Fprintln(o.out, strings.Join(lines, "\n"))
	return err
}

// consequences says of each partition that moves what becomes of its records.
func consequences(l *ledger.Ledger, m ledger.Move) (lines []string) {
	for _, t := range m.Topics() {
		for _, n := range slices.Sorted(maps.Keys(t.Marks)) {
			mark := t.Marks[n]
			now := mark.Next
			was, known := l.Mark(&kafka.Partition{Source: t.Source, Topic: t.Name, Number: n})
			line := fmt.Sprintf("topic %s, partition %d: next offset %d", ledger.SourceAndTopic(t.Source, t.Name), n, now)
			switch {
			case !known && now == 0:
				line += "; all records will be applied"
			case !known:
				line += "; records below it will be skipped"
			case now > was.Next:
				line += fmt.Sprintf(", was %d; records %d to %d will be skipped for good", was.Next, was.Next, now-1)
			case now < was.Next:
				line += fmt.Sprintf(", was %d; records %d to %d will be applied again: by drain in its next run, by merge when its consumer group is set back",
					was.Next, now, was.Next-1)
			default:
				continue
			}
			if mark.Lost.To > now {
				line += fmt.Sprintf("; of what a roll-back took, records %d to %d are still to be delivered", now, mark.Lost.To-1)
			}
			lines = append(lines, line)
		}
	}
	return lines
}
