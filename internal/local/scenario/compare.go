package scenario

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/apache/iceberg-go/table"
	"github.com/frazil/frazil/internal/commit"
	"github.com/frazil/frazil/internal/ledger"
	"github.com/frazil/frazil/internal/local/lake"
)

func (w *world) compare(ctx context.Context, last error) (differences []string, err error) {
	add := func(format string, args ...any) { differences = append(differences, fmt.Sprintf(format, args...)) }
	want, err := resultText(w.scenario.Expect.Result)
	if err != nil {
		return nil, err
	}
	if got := outcomeText(last); got != want {
		add("result: it is %s, expected %s", cmp.Or(got, "ok"), cmp.Or(want, "ok"))
		if last != nil {
			add("the last invocation failed: %v", last)
		}
	}
	letters, err := w.compareLetters()
	if err != nil {
		return nil, err
	}
	differences = append(differences, letters...)
	switch want := w.scenario.Expect.Error; {
	case want != "" && last == nil:
		add("error: expected one with %q, there was none", want)
	case want != "" && !strings.Contains(last.Error(), want):
		add("error: expected one with %q, got: %v", want, last)
	}
	for _, name := range slices.Sorted(maps.Keys(w.scenario.Expect.Tables)) {
		d, err := CompareTable(ctx, w.lake, name, w.scenario.Expect.Tables[name], w.loaded[name])
		if err != nil {
			return nil, err
		}
		differences = append(differences, d...)
	}
	return differences, nil
}

// CompareTable compares a table with its expected end. Snapshots that were there before the first batch do not count.
func CompareTable(ctx context.Context, l *lake.Lake, name string, want TableEnd, before int) (differences []string, err error) {
	t, err := l.Load(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("table %s: %w", name, err)
	}
	if want.Rows != nil {
		columns, got, err := l.Rows(ctx, name)
		if err != nil {
			return nil, fmt.Errorf("table %s: read rows: %w", name, err)
		}
		expected, err := literals(columns, *want.Rows)
		if err != nil {
			return nil, fmt.Errorf("expect: table %s: %w", name, err)
		}
		differences = compareRows(name, columns, got, expected)
	}
	if got := len(t.Metadata().Snapshots()) - before; want.Snapshots != nil && got != *want.Snapshots {
		differences = append(differences, fmt.Sprintf("%s: %d snapshots, expected %d", name, got, *want.Snapshots))
	}
	if want.Ledger != nil {
		l, err := commit.Ledger(t)
		if err != nil {
			return nil, err
		}
		if got := offsets(l); !maps.EqualFunc(got, want.Ledger, maps.Equal) {
			differences = append(differences, fmt.Sprintf("%s: the ledger is %s, expected %s", name, ledgerText(got), ledgerText(want.Ledger)))
		}
	}
	found, err := compareFiles(ctx, l, name, want)
	return append(differences, found...), err
}

// compareFiles compares the files of a table's head with the expected ones.
func compareFiles(ctx context.Context, l *lake.Lake, name string, want TableEnd) (differences []string, err error) {
	if want.Deletes != nil {
		kinds, err := l.Deletes(ctx, name)
		if err != nil {
			return nil, fmt.Errorf("table %s: %w", name, err)
		}
		got := slices.Sorted(maps.Keys(kinds))
		if wanted := slices.Compact(slices.Sorted(slices.Values(*want.Deletes))); !slices.Equal(got, wanted) {
			differences = append(differences, fmt.Sprintf("%s: the delete files are of the kinds %s, expected %s", name, got, wanted))
		}
	}
	data, deletes, err := l.Files(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("table %s: %w", name, err)
	}
	if n := want.Files.Data; n != nil && *n != data {
		differences = append(differences, fmt.Sprintf("%s: %d data files, expected %d", name, data, *n))
	}
	if n := want.Files.Deletes; n != nil && *n != deletes {
		differences = append(differences, fmt.Sprintf("%s: %d delete files, expected %d", name, deletes, *n))
	}
	if want.Files.Sorted {
		faults, err := l.Unsorted(ctx, name, byFrazil)
		if err != nil {
			return nil, fmt.Errorf("table %s: %w", name, err)
		}
		for _, fault := range faults {
			differences = append(differences, name+": "+fault)
		}
	}
	return differences, nil
}

// byFrazil tells a snapshot of frazil by what its summary says of the ledger.
func byFrazil(s *table.Snapshot) bool {
	for key := range s.Summary.Properties {
		if strings.HasPrefix(key, "frazil.") {
			return true
		}
	}
	return false
}

func offsets(l *ledger.Ledger) map[string]map[int32]int64 {
	out := map[string]map[int32]int64{}
	for _, t := range l.Topics() {
		name := ledger.SourceAndTopic(t.Source, t.Name)
		out[name] = map[int32]int64{}
		for p, m := range t.Marks {
			out[name][p] = m.Next
		}
	}
	return out
}

// ledgerText writes a ledger as scenario files do: {topic: {0: 4}}.
func ledgerText(topics map[string]map[int32]int64) string {
	var out []string
	for _, topic := range slices.Sorted(maps.Keys(topics)) {
		var next []string
		for _, p := range slices.Sorted(maps.Keys(topics[topic])) {
			next = append(next, fmt.Sprintf("%d: %d", p, topics[topic][p]))
		}
		out = append(out, topic+": {"+strings.Join(next, ", ")+"}")
	}
	return "{" + strings.Join(out, ", ") + "}"
}

// compareRows names the rows that only one side has.
func compareRows(table string, columns []lake.Column, got, want []lake.Row) (differences []string) {
	count := map[string]int{}
	for _, r := range want {
		count[line(columns, r)]++
	}
	for _, r := range got {
		count[line(columns, r)]--
	}
	for _, row := range slices.Sorted(maps.Keys(count)) {
		switch n := count[row]; {
		case n > 0:
			differences = append(differences, fmt.Sprintf("%s: missing%s %s", table, times(n), row))
		case n < 0:
			differences = append(differences, fmt.Sprintf("%s: unexpected%s %s", table, times(-n), row))
		}
	}
	return differences
}

func times(n int) string {
	if n == 1 {
		return ""
	}
	return fmt.Sprintf(" %d times", n)
}

func line(columns []lake.Column, r lake.Row) string {
	var parts []string
	for _, c := range columns {
		v, ok := r[c.Name]
		switch {
		case !ok:
			v = "NULL"
		case c.Type == "string":
			v = fmt.Sprintf("%q", v)
		}
		parts = append(parts, c.Name+": "+v)
	}
	return "{" + strings.Join(parts, ", ") + "}"
}
