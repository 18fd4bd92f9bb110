package demo

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/frazil/frazil/internal/commit"
	"github.com/frazil/frazil/internal/local/lake"
	"github.com/frazil/frazil/internal/local/owner"
	"github.com/frazil/frazil/internal/local/scenario"
)

// printer writes for people. Colours only when it is told that they are wanted.
type printer struct {
	out    io.Writer
	colour bool
}

func (p printer) paint(code, text string) string {
	if !p.colour {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (p printer) bold(text string) string  { return p.paint("1", text) }
func (p printer) faint(text string) string { return p.paint("2", text) }
func (p printer) green(text string) string { return p.paint("32", text) }
func (p printer) red(text string) string   { return p.paint("31", text) }

func (p printer) line(format string, args ...any) { _, _ = fmt.Fprintf(p.out, format+"\n", args...) }

func (p printer) title(name, what string) { p.line("%s  %s\n", p.bold(name), what) }

// progress announces long work; the function it returns says that it is done. On a terminal the seconds run.
func (p printer) progress(what string) func(error) {
	began := time.Now()
	if !p.colour {
		p.line("%s", what)
		return func(error) {}
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for tick := time.NewTicker(time.Second); ; {
			_, _ = fmt.Fprintf(p.out, "\r%s  %.0fs", what, time.Since(began).Seconds())
			select {
			case <-tick.C:
			case <-stop:
				tick.Stop()
				return
			}
		}
	}()
	return func(error) {
		close(stop)
		<-stopped
		_, _ = fmt.Fprint(p.out, "\r\x1b[K")
	}
}

func (p printer) parts(w *world) {
	p.line("Kafka %s  %s  event source mappings  %s  functions/merge (Runtime API, %d MB)  %s  Iceberg REST catalog %s, S3 %s\n",
		w.Kafka, p.faint("->"), p.faint("->"), MemoryMB, p.faint("->"), w.Catalog, w.Store)
}

// sample is how many rows of a table are shown.
const sample = 4

// seed prints what became of a seed's tables and returns how they differ from their expected end.
func (p printer) seed(ctx context.Context, w *world, s Seed, d delivered) (differences []string, err error) {
	for _, name := range slices.Sorted(maps.Keys(s.Expect.Tables)) {
		want := s.Expect.Tables[name]
		want.Snapshots = nil // how many events the records made is the mapping's affair
		found, err := scenario.CompareTable(ctx, w.lake, name, want, 0)
		if err != nil {
			return nil, err
		}
		differences = append(differences, found...)
		verdict := p.green("as expected")
		if len(found) > 0 {
			verdict = p.red("differs")
		}
		p.line("%s  %s  %s", p.bold(name), p.faint(after(s.Scenario.Name)), verdict)
		p.line("  in    %s", p.faint(s.example()))
		p.line("  %d records in %d invocations, %d of them a redelivery; process start %d ms, invocations %d ms in all, slowest %d ms",
			d.records, d.invocations, d.redelivered, d.cold.Milliseconds(), d.total.Milliseconds(), d.slowest.Milliseconds())
		if err := p.table(ctx, w.lake, name, sample); err != nil {
			return nil, err
		}
		p.line("")
	}
	return differences, nil
}

// example is the beginning of the value of one of the seed's records: a delete where there is one.
func (s Seed) example() (text string) {
	for _, e := range s.Batches {
		for _, r := range e.Records {
			if r.Value != nil && (text == "" || strings.Contains(*r.Value, `"d"`)) {
				text = *r.Value
			}
		}
	}
	const width = 150
	if len(text) > width {
		text = text[:width] + " …"
	}
	return text
}

// after is what a scenario's name says behind its first words.
func after(name string) string {
	_, rest, _ := strings.Cut(name, ": ")
	return rest
}

func (p printer) table(ctx context.Context, l *lake.Lake, name string, rows int) error {
	if err := p.rows(ctx, l, name, rows); err != nil {
		return err
	}
	if err := p.snapshots(ctx, l, name); err != nil {
		return err
	}
	t, err := l.Load(ctx, name)
	if err != nil {
		return err
	}
	kept, err := commit.Ledger(t)
	if err == nil {
		owner.Print(p.out, kept)
	}
	return err
}

// rows prints the first rows of a table; 0 for all.
func (p printer) rows(ctx context.Context, l *lake.Lake, name string, limit int) error {
	columns, rows, err := l.Rows(ctx, name)
	if err != nil {
		return err
	}
	slices.SortFunc(rows, func(a, b lake.Row) int { // by all columns, texts of equal length as numbers would be
		return slices.CompareFunc(columns, columns, func(c, _ lake.Column) int {
			return cmp.Or(cmp.Compare(len(a[c.Name]), len(b[c.Name])), strings.Compare(a[c.Name], b[c.Name]))
		})
	})
	var names []string
	for _, c := range columns {
		names = append(names, c.Name)
	}
	t := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(t, "  "+strings.Join(names, "\t"))
	for i, r := range rows {
		if limit > 0 && i == limit {
			break
		}
		_, _ = fmt.Fprintln(t, "  "+strings.Join(cells(names, r), "\t"))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if limit > 0 && len(rows) > limit {
		p.line("  … %d rows in all", len(rows))
	}
	return nil
}

func cells(names []string, r lake.Row) []string {
	var out []string
	for _, n := range names {
		v, ok := r[n]
		if !ok {
			v = "NULL"
		}
		out = append(out, v)
	}
	return out
}

func (p printer) snapshots(ctx context.Context, l *lake.Lake, name string) error {
	t, err := l.Load(ctx, name)
	if err != nil {
		return err
	}
	all := t.Metadata().Snapshots()
	for i, s := range all {
		p.line("  snapshot %d  %-9s  %s  %s", i+1, s.Summary.Operation, moved(s.Summary.Properties),
			p.faint(fmt.Sprintf("%d at %s", s.SnapshotID, time.UnixMilli(s.TimestampMs).UTC().Format(time.TimeOnly))))
	}
	if len(all) == 0 {
		p.line("  no snapshot yet")
	}
	return nil
}

// moved says what a snapshot did to rows, by its summary. A file that is written again takes all its rows out and adds those that stay.
func moved(summary map[string]string) string {
	var parts []string
	for _, of := range []struct{ key, what string }{
		{"added-records", "rows added"},
		{"added-position-deletes", "deleted by position"},
		{"added-equality-deletes", "keys deleted by equality"},
		{"deleted-records", "gone with their files"},
	} {
		if n := summary[of.key]; n != "" && n != "0" {
			parts = append(parts, n+" "+of.what)
		}
	}
	return cmp.Or(strings.Join(parts, ", "), "no row touched")
}

func (p printer) verdict(differences []string, peak int64, took time.Duration) {
	for _, d := range differences {
		p.line("%s %s", p.red("differs"), d)
	}
	word := p.green("every table is as expected")
	if len(differences) > 0 {
		word = p.red(fmt.Sprintf("%d difference(s)", len(differences)))
	}
	p.line("%s; the function's processes took at most %d MB of memory each; %.1f s in all", word, peak>>20, took.Seconds())
}
