package coerce

import (
	"fmt"

	"github.com/apache/iceberg-go"
	"github.com/frazil/frazil/internal/rows"
)

// InitialDefaults are the initial defaults of a schema's fields, at every depth, by id: what rows have in files that are
// older than the field (Iceberg spec, default values).
func InitialDefaults(s *iceberg.Schema) (map[int]*rows.Cell, error) {
	out := map[int]*rows.Cell{}
	return out, initialDefaults(s.Fields(), out)
}

func initialDefaults(fields []iceberg.NestedField, out map[int]*rows.Cell) error {
	for _, f := range fields {
		if f.InitialDefault != nil {
			c, err := defaultCell(f.Type, f.InitialDefault)
			if err != nil {
				return fmt.Errorf("column %s: %w", f.Name, err)
			}
			out[f.ID] = c
		}
		if t, ok := f.Type.(iceberg.NestedType); ok {
			if err := initialDefaults(t.Fields(), out); err != nil {
				return err
			}
		}
	}
	return nil
}
