package stage

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/iceberg-go"
)

// addKeys writes an equality-delete file with all keys of the plan. It speaks of the whole table, whatever its
// partitions: a key does not say where its row is, nor by which spec it was written.
func (w *writer) addKeys() error {
	b := w.outcome.Batch
	all := b.Schema.Arrow()
	var fields []arrow.Field
	var columns []arrow.Array
	modes := map[int]mode{}
	var ids []int
	for n, c := range b.Schema.Key {
		fields = append(fields, all.Field(c))
		columns = append(columns, b.Keys.Column(b.Schema, n, w.outcome.Keys))
		id := b.Schema.Columns[c].FieldID
		ids = append(ids, id)
		modes[id] = truncated(truncateTo)
	}
	f := fileOf(fields, columns)
	f.path, f.modes = w.name("", "-deletes.parquet"), modes
	built, err := w.build(f, w.target.Global, iceberg.EntryContentEqDeletes, nil)
	if err != nil {
		return fmt.Errorf("write equality-delete file: %w", err)
	}
	w.Deletes = append(w.Deletes, built.EqualityFieldIDs(ids).Build())
	return nil
}
