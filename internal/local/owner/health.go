package owner

import (
	"context"
	"fmt"

	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/maintain"
)

// Health prints what a table's readers pay, and how an engine compacts it where that is worth something.
func (o *Owner) Health(ctx context.Context, table string) error {
	name := TableName(table)
	c, known := o.config.Catalogs[name.Catalog]
	if !known {
		return fmt.Errorf("there is no catalog %s", name.Catalog)
	}
	h, err := maintain.Examine(ctx, c, name)
	if err != nil {
		return fmt.Errorf("table %s: %w", name, err)
	}
	const kb = 1000
	_, _ = fmt.Fprintf(o.out, "  data files    %d, %d of them small, %d KB; about %d of %d rows are dead (%d %%)\n", h.DataFiles, h.SmallFiles, h.Bytes/kb, h.DeadRows, h.Rows, h.DeadPercent())
	_, _ = fmt.Fprintf(o.out, "  delete files  %d; a data file has %.1f opened for it\n", h.DeleteFiles, h.DeletesPerFile())
	_, _ = fmt.Fprintf(o.out, "  manifests     %d, %d KB\n", h.Manifests, h.MetadataBytes/kb)
	_, _ = fmt.Fprintf(o.out, "  a scan costs  %d %% of what it would if the table were compacted\n", h.CostPercent())
	if h.CostPercent() < worthwhile {
		return nil
	}
	policy := config.DefaultCompact()
	if u, ok := o.config.UpkeepOf(name); ok && u.Compact != nil {
		policy = *u.Compact
	}
	for _, line := range maintain.Advice(c, name, policy) {
		_, _ = fmt.Fprintf(o.out, "  %s\n", line)
	}
	return nil
}

// worthwhile is the cost of a scan, in percent, from which on to compact the table pays.
const worthwhile = 120
