package ingest

import (
	"cmp"
	"runtime"
	"sync"

	"github.com/apache/iceberg-go/table"
	"github.com/frazil/frazil/internal/rows"
)

// leastPart is how many records are worth a core of their own. Tests have fewer.
var leastPart = 1000

// cores is how many a delivery may decode on for each of so many tables: those that no delivery which is being applied needs.
func (p *Pipeline) cores(tables int) int {
	return max(1, (runtime.GOMAXPROCS(0)-int(p.applying.Load()))/max(1, tables))
}

// decodeFor decodes records for a head of the table. Those that cannot be applied are gathered in rejected.
func (s *share) decodeFor(head *table.Table, records []routed) (*decoded, error) {
	parts := max(1, min(s.cores, len(records)/leastPart))
	made, errs := make([]*decoded, parts), make([]error, parts)
	var wg sync.WaitGroup
	for i := range parts {
		part := records[len(records)*i/parts : len(records)*(i+1)/parts]
		wg.Go(func() { made[i], errs[i] = s.decodePart(head, part) })
	}
	wg.Wait()
	if err := cmp.Or(errs...); err != nil {
		return nil, err
	}
	all := made[0]
	for i, part := range made[1:] {
		if err := all.join(part); err != nil {
			return nil, err
		}
		made[i+1] = nil
	}
	return all, nil
}

// join adds what the records behind those of d say.
func (d *decoded) join(o *decoded) error {
	if err := d.agrees(o.route, o.batch.Schema, o.encoding); err != nil {
		return err
	}
	keys, first := d.batch.Join(o.batch)
	for row, r := range o.leaning {
		d.leaning[first+row] = r
	}
	for control, n := range o.controls {
		d.controls[control] += n
	}
	d.sharing.join(&o.sharing, keys)
	d.rejected = append(d.rejected, o.rejected...)
	d.made = max(d.made, o.made)
	return nil
}

// join takes in the changes of another part of a delivery, whose keys are those given.
func (s *sharing) join(o *sharing, keys []rows.Key) {
	for k, part := range o.of {
		if part != nil {
			s.meet(keys[k], part)
		}
	}
}
