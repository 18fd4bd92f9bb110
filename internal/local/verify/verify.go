// Package verify compares a table with what it mirrors: with the table of a database, or with a replay of its topics into an empty
// table. Both sides are held in memory.
package verify

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/local/database"
	"github.com/frazil/frazil/internal/local/lake"
)

// Options say what is compared.
type Options struct {
	Config *config.Config
	Table  config.Table // one of its
	// DSN is the address of a database, and Source its table, SCHEMA.NAME. Without it the topics are replayed.
	DSN, Source string
}

// Run prints how the table differs and, of a replay, up to which offsets it goes. It reports whether they are equal.
func Run(ctx context.Context, o Options, out io.Writer) (equal bool, err error) {
	known, ok := o.Config.Catalogs[o.Table.Catalog]
	if !ok {
		return false, fmt.Errorf("there is no catalog %s", o.Table.Catalog)
	}
	l, err := lake.Open(ctx, known)
	if err != nil {
		return false, err
	}
	name := strings.Join(o.Table.Path, ".")
	t, err := l.Load(ctx, name)
	if err != nil {
		return false, err
	}
	columns, got, err := l.Rows(ctx, name)
	if err != nil {
		return false, err
	}
	var want []lake.Row
	if o.DSN == "" {
		want, err = replay(ctx, o, t, out)
	} else {
		want, err = rows(ctx, o, columns)
	}
	if err != nil {
		return false, err
	}
	var key []string
	for _, id := range t.Schema().IdentifierFieldIDs {
		column, _ := t.Schema().FindColumnName(id)
		key = append(key, column)
	}
	d := Compare(key, want, got)
	if d.Empty() {
		_, err = fmt.Fprintf(out, "%s is equal: %d rows of %d columns\n", o.Table, len(got), len(columns))
		return true, err
	}
	_, err = fmt.Fprintf(out, "%s differs, of %d rows:\n%s", o.Table, len(got), d)
	return false, err
}

func rows(ctx context.Context, o Options, columns []lake.Column) (rows []lake.Row, err error) {
	db, err := database.Open(o.DSN)
	if err != nil {
		return nil, err
	}
	defer func() { _ = db.Close() }()
	return db.Rows(ctx, o.Source, columns)
}

// Difference is how rows differ from those that are wanted.
type Difference struct {
	key     []string
	missing []lake.Row
	extra   []lake.Row
	other   [][2]lake.Row // as it is wanted, as it is
}

// Compare compares rows by a key or, without one, whole.
func Compare(key []string, want, got []lake.Row) *Difference {
	d := &Difference{key: key}
	by := map[string][]lake.Row{}
	for _, r := range got {
		at := d.at(r)
		by[at] = append(by[at], r)
	}
	for _, w := range want {
		at := d.at(w)
		same := by[at]
		switch i := slices.IndexFunc(same, func(g lake.Row) bool { return maps.Equal(w, g) }); {
		case i >= 0:
			by[at] = slices.Delete(same, i, i+1)
		case len(same) == 0:
			d.missing = append(d.missing, w)
		default:
			d.other = append(d.other, [2]lake.Row{w, same[0]})
			by[at] = same[1:]
		}
	}
	for _, at := range slices.Sorted(maps.Keys(by)) {
		d.extra = append(d.extra, by[at]...)
	}
	return d
}

// Empty reports whether there is none.
func (d *Difference) Empty() bool { return len(d.missing)+len(d.extra)+len(d.other) == 0 }

// columns are those that tell a row from others.
func (d *Difference) columns(r lake.Row) []string {
	if len(d.key) == 0 {
		return slices.Sorted(maps.Keys(r))
	}
	return d.key
}

func (d *Difference) at(r lake.Row) string {
	var b strings.Builder
	for _, c := range d.columns(r) {
		value, there := r[c]
		_, _ = fmt.Fprintf(&b, "%q:%t:%q ", c, there, value)
	}
	return b.String()
}

// shown is how many rows of each kind a difference is told by.
const shown = 10

// String tells the first rows of each kind. It has values of the rows: it is for their owner.
func (d *Difference) String() string {
	var b strings.Builder
	list := func(what string, rows []lake.Row) {
		for i, r := range rows {
			if i == shown {
				_, _ = fmt.Fprintf(&b, "  … %d rows %s in all\n", len(rows), what)
				return
			}
			_, _ = fmt.Fprintf(&b, "  %s: %s\n", what, d.name(r))
		}
	}
	list("missing", d.missing)
	list("too many", d.extra)
	for i, pair := range d.other {
		if i == shown {
			_, _ = fmt.Fprintf(&b, "  … %d rows other in all\n", len(d.other))
			break
		}
		_, _ = fmt.Fprintf(&b, "  other: %s\n", d.name(pair[0]))
		columns := maps.Clone(pair[0])
		maps.Copy(columns, pair[1])
		for _, c := range slices.Sorted(maps.Keys(columns)) {
			if w, g := cell(pair[0], c), cell(pair[1], c); w != g {
				_, _ = fmt.Fprintf(&b, "    %s is %s, not %s\n", c, g, w)
			}
		}
	}
	return b.String()
}

func (d *Difference) name(r lake.Row) string {
	var parts []string
	for _, c := range d.columns(r) {
		parts = append(parts, c+" "+cell(r, c))
	}
	return strings.Join(parts, ", ")
}

func cell(r lake.Row, column string) string {
	value, there := r[column]
	if !there {
		return "NULL"
	}
	return fmt.Sprintf("%q", value)
}
