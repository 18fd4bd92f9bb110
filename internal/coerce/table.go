// Package coerce turns the values of changes into typed rows and keys of one table.
//
// A Table is compiled once per table schema and route. The column's type decides what a value means; a value
// either fits without loss or is refused with the column's name and the reason, never with the value itself.
// Nothing of a refused change reaches the batch.
package coerce

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/frazil/frazil/internal/change"
	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/rows"
	"github.com/frazil/frazil/internal/wire"
)

// Error says why a change does not fit the table. Column is a column, or the path to a value inside one (addr.city,
// tags.element); it is empty when it is not about one column.
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
	schema   *rows.Schema
	rules    config.Route
	keeps    bool
	parse    []parser // by column
	defaults []*rows.Cell
	names    *names

	unavailable unavailable

	// Scratch, used again for each change.
	scratch     scratch
	cells       []rows.Cell
	seen        []bool
	key, before rows.Parts
	one         rows.Cell // of a key
}

// New compiles the coercion of a route's changes into a table's rows; keeps tells whether rows are looked up, so that cells
// can be kept. Its errors are about names: columns that the route
// speaks of and the table lacks, names that are alike under names: fold_case, and options and defaults that do not fit
// their column.
func New(s *rows.Schema, route config.Route, keeps bool) (*Table, error) {
	t := &Table{schema: s, rules: route, keeps: keeps, unavailable: newUnavailable(route.Placeholder)}
	t.cells = make([]rows.Cell, len(s.Columns))
	t.seen = make([]bool, len(s.Columns))
	common, err := newOptions(route, &t.scratch)
	if err != nil {
		return nil, misfit("", "%v", err)
	}
	list := make([]string, len(s.Columns))
	said := 0
	for i, c := range s.Columns {
		own, ok := route.Columns[c.Name]
		if ok {
			said++
		}
		list[i] = cmp.Or(own.From, c.Name)
		if err := t.compile(c, common, own); err != nil {
			return nil, err
		}
	}
	if said < len(route.Columns) {
		return nil, t.noSuchColumn()
	}
	if t.names, err = newNames(list, common.fold); err != nil {
		return nil, misfit("", "%v", err)
	}
	return t, nil
}

func (t *Table) compile(c rows.Column, common options, own config.Column) error {
	o, err := common.of(c, own)
	if err != nil {
		return err
	}
	parse, err := parserOf(c.Type, o)
	if err != nil {
		return misfitIn(c.Name, err)
	}
	value, err := defaultCell(c.Type, c.Default)
	if err != nil {
		return misfitIn(c.Name, err)
	}
	t.parse, t.defaults = append(t.parse, parse), append(t.defaults, value)
	return nil
}

// noSuchColumn is the error about the columns of the route that the table lacks.
func (t *Table) noSuchColumn() error {
	for _, name := range slices.Sorted(maps.Keys(t.rules.Columns)) {
		if !slices.ContainsFunc(t.schema.Columns, func(c rows.Column) bool { return c.Name == name }) {
			return misfit(name, "the route's columns name it, and the table has no such column")
		}
	}
	return nil
}

// misfitIn is the error about a value, or one inside it.
func misfitIn(column string, err error) error {
	if in, ok := err.(*inside); ok {
		return misfit(column+"."+in.path, "%v", in.err)
	}
	return misfit(column, "%v", err)
}

// Add coerces an upsert or a delete and adds it to the batch, or refuses it with an *Error and adds nothing.
func (t *Table) Add(b *rows.Batch, c change.Change) error {
	t.scratch.reset()
	if err := t.namesDiffer(c.Key(), c.Before()); err != nil {
		return err
	}
	if c.Op() == change.OpDelete {
		if err := t.deletedKey(c); err != nil {
			return err
		}
		return t.remove(b, c)
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
	switch {
	case moved: // the row before the old one goes, which it may keep cells of (rule 14)
		key, old := b.Keys.Intern(&t.key), b.Keys.Intern(&t.before)
		b.Move(key, old, t.cells)
		b.Delete(old)
	case t.has(c.Other()):
		if err := t.parts(&t.before, c.Other()); err != nil {
			return err
		}
		b.Arrive(b.Keys.Intern(&t.key), b.Keys.Intern(&t.before), c.Mark(), t.cells)
	default:
		b.Put(b.Keys.Intern(&t.key), t.cells)
	}
	return nil
}

// remove adds the delete of the row of t.key, which may go on under another key.
func (t *Table) remove(b *rows.Batch, c change.Change) error {
	if !t.has(c.Other()) {
		b.Delete(b.Keys.Intern(&t.key))
		return nil
	}
	if err := t.parts(&t.before, c.Other()); err != nil {
		return err
	}
	b.Depart(b.Keys.Intern(&t.key), b.Keys.Intern(&t.before), c.Mark())
	return nil
}

// row reads the change's row into the cells.
func (t *Table) row(c change.Change) error {
	clear(t.seen)
	n := 0
	for name, v := range c.Row().Members() {
		i := t.names.find(n, name)
		n++
		if i < 0 {
			if t.rules.UnknownColumns == config.Ignore || c.Meta() != "" && bytes.HasPrefix(name, []byte(c.Meta())) {
				continue
			}
			return misfit(printable(name), "the table has no such column (add it there, or unknown_columns: ignore leaves its values out)")
		}
		if t.seen[i] {
			return misfitIn(t.schema.Columns[i].Name, errTwice)
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

func (t *Table) cell(i int, v wire.Value) error {
	c, column := &t.cells[i], &t.schema.Columns[i]
	c.Reset()
	switch {
	case v.Kind() == wire.Null:
		c.Null = true
	case v.Kind() < wire.Text: // never a placeholder
	case t.unavailable.is(v):
		if err := t.placeholder(column.Name, c); err != nil || c.Kept != rows.NotKept {
			return err
		}
	case t.unavailable.within(v):
		return misfit(column.Name, "holds a value that the source did not send again (unavailable)")
	}
	if !c.Null {
		if err := t.parse[i](v, c); err != nil {
			return misfitIn(column.Name, err)
		}
	}
	if c.Null && column.Required {
		return misfitIn(column.Name, errRequired)
	}
	return nil
}

// placeholder settles the cell of a value that the source did not send again.
func (t *Table) placeholder(column string, c *rows.Cell) error {
	switch {
	case t.rules.Unavailable == config.Keep && t.keeps:
		c.Kept = rows.MustKeep
	case t.rules.Unavailable != config.Null:
		return t.refused(column, "the source did not send the value again (unavailable)", "unavailable", t.rules.Unavailable)
	}
	c.Null = true
	return nil
}

// absent settles the columns that the row does not have: what the row that is there has, NULL, or the column's default
// (rule 13).
func (t *Table) absent(insert bool) error {
	for i, seen := range t.seen {
		if seen {
			continue
		}
		column, c := &t.schema.Columns[i], &t.cells[i]
		keep := t.rules.Absent == config.Keep && !insert
		switch {
		case t.rules.Absent == config.Error, keep && !t.keeps:
			return t.refused(column.Name, "the record does not have it", "absent", t.rules.Absent)
		case t.defaults[i] != nil:
			set(c, t.defaults[i])
		case column.Required && !keep:
			return misfit(column.Name, "is required and the record does not have it")
		default:
			c.Reset()
			c.Null = true
		}
		switch {
		case keep && c.Null && column.Required:
			c.Kept = rows.MustKeep
		case keep:
			c.Kept = rows.KeptOr
		}
	}
	return nil
}

// refused is the error about a cell that is not there.
func (t *Table) refused(column, why, key string, rule config.Rule) error {
	if rule == config.Keep {
		return misfit(column, "%s, and %s: keep needs the row that is there, which deletes: equality never looks up", why, key)
	}
	return misfit(column, "%s, and %s: %s does not let it become NULL", why, key, rule)
}
