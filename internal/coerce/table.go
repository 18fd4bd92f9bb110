// Package coerce turns the values of changes into typed rows and keys of one table.
//
// A Table is compiled once per table schema and route. The column's type decides what a value means; a value
// either fits without loss or is refused with the column's name and the reason, never with the value itself.
// Nothing of a refused change reaches the batch.
package coerce

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/frazil/frazil/internal/change"
	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/rows"
	"github.com/frazil/frazil/internal/wire"
)

// Error says why a change does not fit the table. Column is empty when it is not about one column.
type Error struct{ Column, Reason string }

func (e *Error) Error() string {
	if e.Column == "" {
		return e.Reason
	}
	return "column " + e.Column + ": " + e.Reason
}

func misfit(column, reason string, args ...any) error {
	return &Error{Column: column, Reason: fmt.Sprintf(reason, args...)}
}

// Table coerces changes for one table. It is not for concurrent use.
type Table struct {
	schema *rows.Schema
	rules  config.Route
	parse  []parser // by column
	at     map[string]int

	unavailable unavailable

	// Scratch, used again for each change.
	cells       []rows.Cell
	seen        []bool
	expect      []int // column of the n-th member of the row before
	key, before rows.Parts
	one         rows.Cell // of a key
}

// parser reads a value, which is neither absent nor null, into a cell.
type parser func(v wire.Value, c *rows.Cell) error

// New compiles the coercion of a route's changes into a table's rows.
func New(s *rows.Schema, route config.Route) *Table {
	t := &Table{schema: s, rules: route, at: map[string]int{}, unavailable: newUnavailable(route.Placeholder)}
	t.cells = make([]rows.Cell, len(s.Columns))
	t.seen = make([]bool, len(s.Columns))
	for i, c := range s.Columns {
		t.at[c.Name] = i
		t.parse = append(t.parse, parserOf(c.Type, route))
	}
	return t
}

// Add coerces an upsert or a delete and adds it to the batch, or refuses it with an *Error and adds nothing.
func (t *Table) Add(b *rows.Batch, c change.Change) error {
	if c.Op() == change.OpDelete {
		if err := t.deletedKey(c); err != nil {
			return err
		}
		b.Delete(b.Keys.Intern(&t.key))
		return nil
	}
	if err := t.row(c); err != nil {
		return err
	}
	if err := t.rowKey(); err != nil {
		return err
	}
	if err := t.sameKey(c.Key()); err != nil {
		return err
	}
	moved, err := t.beforeKey(c.Before())
	if err != nil {
		return err
	}
	if moved {
		b.Delete(b.Keys.Intern(&t.before))
	}
	b.Put(b.Keys.Intern(&t.key), t.cells)
	return nil
}

// row reads the change's row into the cells.
func (t *Table) row(c change.Change) error {
	clear(t.seen)
	n := 0
	for name, v := range c.Row().Members() {
		i := t.column(n, name)
		n++
		if i < 0 {
			if t.rules.UnknownColumns == config.Ignore || c.Meta() != "" && bytes.HasPrefix(name, []byte(c.Meta())) {
				continue
			}
			return misfit(printable(name), "the table has no such column (unknown_columns: ignore leaves it out)")
		}
		t.seen[i] = true
		if err := t.cell(i, v); err != nil {
			return err
		}
	}
	return t.absent(c.IsInsert())
}

// printable is a name that a producer sent, fit for an error: it may be anything.
func printable(name []byte) string {
	const most = 64
	text := string(name[:min(len(name), most)])
	if quoted := strconv.Quote(text); len(name) > most || quoted != `"`+text+`"` {
		return quoted
	}
	return text
}

// column is the table's column of the row's n-th member. Rows of a topic mostly have one order of members, so
// the column that the n-th member had before is tried first.
func (t *Table) column(n int, name []byte) int {
	if n < len(t.expect) {
		if i := t.expect[n]; i >= 0 && t.schema.Columns[i].Name == string(name) {
			return i
		}
	} else {
		t.expect = append(t.expect, -1)
	}
	i, ok := t.at[string(name)]
	if !ok {
		i = -1
	}
	t.expect[n] = i
	return i
}

func (t *Table) cell(i int, v wire.Value) error {
	c, column := &t.cells[i], t.schema.Columns[i]
	*c = rows.Cell{Null: v.Kind() == wire.Null}
	if t.unavailable.is(v) {
		if t.rules.Unavailable != config.Null {
			return misfit(column.Name, "the source did not send the value again (unavailable), and unavailable: %s does not let it become NULL", t.rules.Unavailable)
		}
		c.Null = true
	} else if t.unavailable.within(v) {
		return misfit(column.Name, "holds a value that the source did not send again (unavailable)")
	}
	if c.Null {
		if column.Required {
			return misfit(column.Name, "is required and has no value")
		}
		return nil
	}
	if err := t.parse[i](v, c); err != nil {
		return misfit(column.Name, "%v", err)
	}
	return nil
}

// absent settles the columns that the row does not have (rule 13 for inserts).
func (t *Table) absent(insert bool) error {
	for i, seen := range t.seen {
		if seen {
			continue
		}
		column := t.schema.Columns[i]
		becomesNull := t.rules.Absent == config.Null || t.rules.Absent == config.Keep && insert
		switch {
		case !becomesNull:
			return misfit(column.Name, "the record does not have it, and absent: %s does not let it become NULL", t.rules.Absent)
		case column.Required:
			return misfit(column.Name, "is required and the record does not have it")
		}
		t.cells[i] = rows.Cell{Null: true}
	}
	return nil
}
