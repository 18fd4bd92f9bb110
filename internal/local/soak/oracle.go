package soak

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/frazil/frazil/internal/local/audit"
	"github.com/frazil/frazil/internal/local/lake"
)

// table is a table with its oracle: what it has to be.
type table struct {
	spec    lake.Spec
	deletes string   // its route's
	columns []string // those that came besides id and n
	rows    map[int64]values
	next    map[string]int64 // the ledger, by topic-partition
	past    map[int64]state  // by snapshot
	auditor *audit.Auditor
	touched bool // since it was compared
}

// state is the oracle at a snapshot.
type state struct {
	rows map[int64]values
	next map[string]int64
}

// apply takes an event in, as the table's columns are now.
func (t *table) apply(e event) {
	if e.bad {
		return
	}
	if e.before != 0 {
		delete(t.rows, e.before)
	}
	if e.deletes {
		delete(t.rows, e.id)
		return
	}
	row := values{}
	for c, v := range e.row {
		if c == "n" || slices.Contains(t.columns, c) {
			row[c] = v
		}
	}
	t.rows[e.id] = row
}

// line is a row as text, by the columns of today.
func (t *table) line(id int64, row values) string {
	out := fmt.Sprintf("id=%d", id)
	for _, c := range append([]string{"n"}, t.columns...) {
		if v, ok := row[c]; ok {
			out += fmt.Sprintf(" %s=%d", c, v)
		}
	}
	return out
}

// compare says how the table is not its oracle.
func (t *table) compare(ctx context.Context, l *lake.Lake) error {
	_, rows, err := l.Rows(ctx, t.spec.Name)
	if err != nil {
		return fmt.Errorf("read %s: %w", t.spec.Name, err)
	}
	differs := map[string]int{}
	for id, row := range t.rows {
		differs[t.line(id, row)]++
	}
	for _, r := range rows {
		id, err := strconv.ParseInt(r["id"], 10, 64)
		if err != nil {
			return err
		}
		row := values{}
		for c, text := range r {
			if row[c], err = strconv.ParseInt(text, 10, 64); err != nil {
				return err
			}
		}
		differs[t.line(id, row)]--
	}
	var out []string
	for _, line := range slices.Sorted(maps.Keys(differs)) {
		switch n := differs[line]; {
		case n > 0:
			out = append(out, fmt.Sprintf("%s: missing %s", t.spec.Name, line))
		case n < 0:
			out = append(out, fmt.Sprintf("%s: unexpected %s (%d)", t.spec.Name, line, -n))
		}
	}
	if len(out) > 0 {
		return errors.New(strings.Join(out, "\n"))
	}
	return nil
}

// keep remembers the oracle as that of the table's head.
func (t *table) keep(ctx context.Context, l *lake.Lake) error {
	now, err := l.Load(ctx, t.spec.Name)
	if err != nil || now.CurrentSnapshot() == nil {
		return err
	}
	id := now.CurrentSnapshot().SnapshotID
	if _, known := t.past[id]; known {
		return nil
	}
	rows := map[int64]values{}
	for id, row := range t.rows {
		rows[id] = maps.Clone(row)
	}
	t.past[id] = state{rows, maps.Clone(t.next)}
	return nil
}
