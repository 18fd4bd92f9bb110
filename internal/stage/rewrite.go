package stage

import "github.com/frazil/frazil/internal/tablefile"

// carry puts the live rows of the files that lose some on the pile, and takes the files out of the table, with the
// delete files that speak of them alone.
func (w *writer) carry(p *pile) error {
	schema := w.outcome.Batch.Schema
	for _, t := range w.touched() {
		r, err := tablefile.Rows(w.ctx, w.store, t.File.File, schema.Arrow(), w.live.Table.Defaults)
		if err != nil {
			return err
		}
		d := w.outcome.Found.Deleted[t.FilePath()]
		p.add(t.File, r, func(pos int64) bool { return d.Has(pos) || t.kills.Contains(uint64(pos)) })
		w.Removed = append(append(w.Removed, t.File), d.Own...)
	}
	return nil
}
