// Tables makes the tables that interop.py gives to other engines to read.
//
//	tables < commands > answers
//
// It starts the embedded store and catalog at free ports, applies change sets to a matrix of tables with frazil's own
// path from Lambda's event to the snapshot, and prints one line of JSON: a document. Then it takes commands, a line of
// JSON each, and answers each with a line, until its input ends.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/frazil/frazil/internal/local/lake"
	"github.com/frazil/frazil/internal/local/stack"
)

func main() {
	if err := run(context.Background(), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "tables:", err)
		os.Exit(1)
	}
}

// document is what there is when all tables are made.
type document struct {
	Store, Catalog, AccessKey, SecretKey, Region string

	Tables  []made
	Merging []made // which other engines are to change as well
	Vectors []counted
}

// made is a table with what has to be in it.
type made struct {
	Name      string        `json:"name"`
	Feature   string        `json:"feature"` // what the table is there to show
	Version   int           `json:"version"`
	Deletes   string        `json:"deletes"`
	Partition []string      `json:"partition"`
	Columns   []lake.Column `json:"columns"`
	Batches   int           `json:"batches"` // how many of the change sets it has
	Snapshots int           `json:"snapshots"`
	Rows      []lake.Row    `json:"rows"` // canonical literals; a column left out is NULL
}

// command asks for the change set of that number: to apply it to a table with frazil, unless Deletes is empty.
type command struct {
	Table   string
	Deletes string
	Batch   int
}

// answer is a change set, the rows that a table has after it and all before it, and why it could not be applied.
type answer struct {
	Changes []changed  `json:"changes"` // in order
	Rows    []lake.Row `json:"rows"`
	Error   string     `json:"error"`
}

// changed is a change as canonical literals; a delete has the key alone.
type changed struct {
	Delete bool     `json:"delete"`
	Row    lake.Row `json:"row"`
}

func run(ctx context.Context, in io.Reader, out io.Writer) error {
	parts, err := stack.StartLake()
	if err != nil {
		return err
	}
	defer parts.Close()
	l, err := lake.Open(ctx, parts.CatalogConfig())
	if err != nil {
		return err
	}
	w := &world{lake: l, parts: parts}
	doc := document{Store: parts.Store, Catalog: parts.Endpoints.Catalog, AccessKey: stack.AccessKey, SecretKey: stack.SecretKey, Region: stack.Region}
	if doc.Tables, err = w.makeAll(ctx, matrix()); err != nil {
		return err
	}
	if doc.Merging, err = w.makeAll(ctx, merging()); err != nil {
		return err
	}
	if doc.Vectors, err = w.vectors(ctx); err != nil {
		return err
	}
	if err := w.changeTables(ctx, doc.Merging[0].Columns); err != nil {
		return err
	}
	answers := json.NewEncoder(out)
	if err := answers.Encode(doc); err != nil {
		return err
	}
	return w.serve(ctx, in, answers)
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
	columns, err := w.lake.Columns(ctx, c.Table)
	if err != nil {
		return a, err
	}
	o := newOracle(columns)
	for i := range c.Batch + 1 {
		if a.Changes, err = o.apply(i); err != nil {
			return a, err
		}
	}
	a.Rows = o.list()
	if c.Deletes == "" {
		return a, nil
	}
	p, err := w.pipeline(c.Table, c.Deletes)
	if err != nil {
		return a, err
	}
	return a, deliver(ctx, p, c.Table, columns, c.Batch)
}
