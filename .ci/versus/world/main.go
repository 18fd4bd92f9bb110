// World is what versus.py measures in: the embedded store and catalog behind a meter, tables and change sets.
//
//	world FOLDER ROWS KEYS,… [PARTITIONS] < commands > answers
//
// It writes a change set of so many keys each into FOLDER, 0.jsonl for the peers and 0.records for frazil, and prints a
// line of JSON: a document. With PARTITIONS it has a broker too, and a topic of so many with all the change sets. Then it takes commands, a line of JSON each, and answers each with a line, until its input
// ends.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/local/lake"
	"github.com/frazil/frazil/internal/local/meter"
	"github.com/frazil/frazil/internal/local/shop"
	"github.com/frazil/frazil/internal/local/stack"
)

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "world:", err)
		os.Exit(1)
	}
}

// files is how many data files the tables begin with.
const files = 10

// baseTable has the rows before all changes.
const baseTable = "versus.base"

// document says where everything is.
type document struct{ Store, Catalog, AccessKey, SecretKey, Region, Base, Brokers, Topic string }

// command asks for a new table, where one is named, for how many rows one has that is there, or else for what was counted since that was
// asked last.
type command struct {
	Table      string
	Version    int
	Properties map[string]string
	RowsOf     string
}

// answer is what was counted, or the configuration with which frazil writes the new table, or how many rows a table has.
type answer struct {
	meter.Counts
	Sum    int            `json:"sum"`
	Config *config.Config `json:"config"`
	Rows   int            `json:"rows"`
	Error  string         `json:"error"`
}

type world struct {
	lake   *lake.Lake
	meter  *meter.Meter
	base   *shop.Base
	stream *stream // nil: there is none
}

func run(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	if len(args) != 3 && len(args) != 4 {
		return fmt.Errorf("%d arguments, want FOLDER ROWS KEYS,… [PARTITIONS]", len(args))
	}
	rows, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	parts, err := stack.StartLake()
	if err != nil {
		return err
	}
	defer parts.Close()
	w := &world{}
	if w.lake, err = lake.Open(ctx, parts.CatalogConfig()); err != nil {
		return err
	}
	if w.meter, err = meter.Start(parts); err != nil {
		return err
	}
	defer w.meter.Close()
	if w.base, err = shop.Write(ctx, w.lake, baseTable, rows, files, shop.Long); err != nil {
		return err
	}
	at := document{w.meter.Store, w.meter.Catalog, stack.AccessKey, stack.SecretKey, stack.Region, baseTable, "", ""}
	if len(args) == 4 {
		if w.stream, err = startStream(ctx, args[3]); err != nil {
			return err
		}
		defer w.stream.close()
		at.Brokers, at.Topic = w.stream.broker.Addr(), topic
	}
	if err := w.changes(ctx, args[0], strings.Split(args[2], ",")); err != nil {
		return err
	}
	answers := json.NewEncoder(out)
	if err := answers.Encode(at); err != nil {
		return err
	}
	return w.serve(ctx, in, answers)
}

// changes writes the change sets.
func (w *world) changes(ctx context.Context, folder string, sizes []string) error {
	changes := shop.NewChanges(w.base, shop.Uniform)
	for i, size := range sizes {
		keys, err := strconv.Atoi(size)
		if err != nil {
			return err
		}
		set := changes.Next(keys)
		for name, form := range map[string]shop.Form{"jsonl": shop.JSONL, "records": shop.Debezium} {
			if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("%d.%s", i, name)), set.Text(form), 0o600); err != nil {
				return err
			}
		}
		if w.stream == nil {
			continue
		}
		if err := w.stream.put(ctx, set); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) serve(ctx context.Context, in io.Reader, answers *json.Encoder) error {
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		var c command
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			return fmt.Errorf("command: %w", err)
		}
		a, err := w.obey(ctx, c)
		if err != nil {
			a.Error = err.Error()
		}
		if err := answers.Encode(a); err != nil {
			return err
		}
	}
	return lines.Err()
}

func (w *world) obey(ctx context.Context, c command) (a answer, err error) {
	switch {
	case c.RowsOf != "":
		a.Rows, err = w.rows(ctx, c.RowsOf)
		return a, err
	case c.Table == "":
		a.Counts = w.meter.Take()
		a.Sum = a.Counts.Sum()
		return a, nil
	}
	if err := w.base.Create(ctx, w.lake, c.Table, c.Version, c.Properties); err != nil {
		return a, err
	}
	a.Config, err = stack.Configure(w.meter.CatalogConfig(), fmt.Sprintf(`routes: [{topics: [orders], format: debezium, table: "main:%s"}]`, c.Table))
	return a, err
}

// rows is how many rows the head's data files have: in a table without deletes, those of the table.
func (w *world) rows(ctx context.Context, table string) (int, error) {
	t, err := w.lake.Load(ctx, table)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(t.CurrentSnapshot().Summary.Properties["total-records"])
}
