package stage

import (
	"fmt"
	"maps"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/frazil/frazil/internal/locate"
	"github.com/frazil/frazil/internal/tablefile"
	"golang.org/x/sync/errgroup"
)

// state is a live data file, and what is to become of it.
type state struct {
	locate.File
	kills *tablefile.Positions // rows that go; nil: none
	// All positions that delete files have to hold from now on, of a file that loses rows: those that are deleted already, and
	// its kills.
	positions *tablefile.Positions
	dead      int64 // rows that are dead afterwards, as far as is known
	fate      fate
	must      bool // it has to be carried
}

// fate is what becomes of a file.
type fate int

const (
	kept    fate = iota // it stays; rows go by position
	carried             // its live rows are written again, with the commit's own
	removed             // it has none
)

// touched begins the state of a data file that loses rows.
func (w *writer) touched(path string) *state {
	s := &state{File: w.outcome.Found.Files[path], kills: tablefile.NewPositions(), positions: tablefile.NewPositions()}
	if before := w.outcome.Found.Deleted[path].Positions; before != nil {
		s.positions.Or(before)
	}
	return s
}

// count counts the dead rows: those deleted by position, and those of equality deletes.
func (s *state) count(positions, equal *tablefile.Positions) {
	all := positions
	if equal != nil {
		all = tablefile.NewPositions()
		all.Or(equal)
		if positions != nil {
			all.Or(positions)
		}
	}
	if s.dead = 0; all == nil {
		return
	}
	if s.dead = all.Cardinality(); s.dead < s.Count() {
		return
	}
	s.dead = 0
	for pos := range all.Positions() {
		if pos >= uint64(s.Count()) { // of no row: whoever wrote it
			return
		}
		s.dead++
	}
}

// takeAway takes the rows that go out of the table: by position, or with their files, whose other rows are written again.
// A commit that changes no row, as of dead letters alone, changes no file either (P1).
func (w *writer) takeAway(p *pile, e Encoding) error {
	if !w.outcome.Changes() {
		return nil
	}
	c := &chooser{writer: w, care: w.target.Layout.care, encoding: e, files: w.states()} // the budget is its own
	if err := c.choose(p); err != nil {
		return err
	}
	if err := w.carry(p, c.files); err != nil {
		return err
	}
	w.gone = map[string]bool{}
	var by []state
	for _, f := range c.files {
		switch {
		case f.fate == kept && f.kills != nil:
			by = append(by, *f)
		case f.fate != kept:
			w.Removed = append(w.Removed, f.File)
			w.gone[f.FilePath()] = true
		}
	}
	w.tally(c.files)
	w.goneDeletes()
	switch {
	case len(by) == 0:
		return nil
	case w.target.Version < 3:
		return w.addPositions(by)
	}
	return w.addVectors(by)
}

func (w *writer) tally(files []*state) {
	for _, f := range files {
		switch {
		case f.fate == removed:
			w.Care.Dead++
		case f.fate == carried && f.kills != nil:
			w.Care.Rewritten++
		case f.fate == carried:
			w.Care.Merged++
		case f.kills != nil:
			w.Care.ByPosition++
		}
	}
}

// carry puts the live rows of the carried files on the pile. One that cannot be read stays, unless it must be carried.
func (w *writer) carry(p *pile, files []*state) error {
	return w.put(p, files, w.deletions(files))
}

// put puts them there, by what is known of their dead rows.
func (w *writer) put(p *pile, files []*state, deleted map[string]locate.Deleted) error {
	var chosen []*state
	for _, f := range files {
		if f.fate == carried {
			chosen = append(chosen, f)
		}
	}
	read := make([]*tablefile.FileRows, len(chosen))
	errs := make([]error, len(chosen))
	var g errgroup.Group
	g.SetLimit(tablefile.Requests)
	for i, f := range chosen {
		g.Go(func() error {
			read[i], errs[i] = tablefile.Rows(w.ctx, w.store, f.File.File, w.outcome.Batch.Schema.Arrow(), w.live.Table.Defaults)
			return nil
		})
	}
	_ = g.Wait() // the errors are in errs
	for i, f := range chosen {
		switch {
		case errs[i] != nil && f.must:
			return errs[i]
		case errs[i] != nil:
			w.neglect(f, errs[i])
		default:
			d := deleted[f.FilePath()]
			p.add(f.File, read[i], w.columns(f, read[i]), func(pos int64) bool { return d.Has(pos) || f.kills != nil && f.kills.Contains(uint64(pos)) })
		}
	}
	return nil
}

// columns reads the columns of a file that is written again. One that lacks values which today's schema requires cannot be written by
// it.
func (w *writer) columns(f *state, r *tablefile.FileRows) func(i int, from, to int64) (arrow.Array, int64, error) {
	schema := w.outcome.Batch.Schema.Arrow()
	read := func(i int, from, to int64) (arrow.Array, int64, error) {
		out, first, err := r.Column(w.ctx, i, from, to)
		if field := schema.Field(i); err == nil && !field.Nullable && out.NullN() > 0 {
			err = fmt.Errorf("%s has nulls in the column %s, which is required", f.FilePath(), field.Name)
		}
		if err != nil && !f.must {
			err = &unreadable{f.FilePath(), err}
		}
		return out, first, err
	}
	if w.target.Spec.IsUnpartitioned() || int(f.SpecID()) == w.target.Spec.ID() {
		return read
	}
	columns := make([]arrow.Array, len(schema.Fields())) // its rows may go to many partitions
	return func(i int, _, _ int64) (_ arrow.Array, _ int64, err error) {
		if columns[i] == nil {
			columns[i], _, err = read(i, 0, f.Count())
		}
		return columns[i], 0, err
	}
}

// unreadable says that a file cannot be written again that need not be.
type unreadable struct {
	path string
	error
}

// deletions are what the snapshot's deletes say of the files that do not stay. Of those that lose rows the search has
// told. Others are asked for, also if a manifest says that all of their rows are dead: it may be wrong.
func (w *writer) deletions(files []*state) map[string]locate.Deleted {
	out := map[string]locate.Deleted{}
	var ask []locate.File
	for _, f := range files {
		if f.kills != nil {
			out[f.FilePath()] = w.outcome.Found.Deleted[f.FilePath()]
		} else if f.fate != kept {
			ask = append(ask, f.File)
		}
	}
	found, err := w.live.Deletions(w.ctx, w.store, ask)
	maps.Copy(out, found)
	for _, f := range files {
		if f.kills != nil || f.fate == kept {
			continue
		}
		if err != nil {
			w.neglect(f, err)
			continue
		}
		if f.count(found[f.FilePath()].Positions, found[f.FilePath()].Equal); f.fate == removed && f.rest() > 0 {
			f.fate = kept
		}
	}
	return out
}

// neglect leaves a file that care picked as it is.
func (w *writer) neglect(f *state, reason error) {
	f.fate = kept
	w.Care.Neglected = careFailed(reason)
}

func careFailed(reason error) error { return fmt.Errorf("care for files: %w", reason) }
