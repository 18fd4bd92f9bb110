// Package shop makes a table of a shop's orders, as large as wanted, and changes of it: what is measured everywhere is
// the same. A row has 13 columns and takes about 86 bytes of a file. The orders are scattered over all files: bounds of
// files prune nothing where keys are drawn at random.
package shop

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"
	"github.com/frazil/frazil/internal/local/lake"
)

// Key is what a table's key is made of.
type Key string

// The keys.
const (
	Long      Key = "long"
	UUID      Key = "uuid"
	Composite Key = "composite" // country and number
)

// Fields are the columns of the key.
func (k Key) Fields() []string {
	if k == Composite {
		return []string{"country", "order_id"}
	}
	return []string{"order_id"}
}

func (k Key) spec(name string, version int) lake.Spec {
	s := lake.Spec{Name: name, Version: version, Key: k.Fields(), Columns: append([]lake.Column{}, columns...)}
	s.Columns[0].Type = "long"
	if k == UUID {
		s.Columns[0].Type = "uuid"
	}
	if k == Composite {
		s.Columns[3].Required = true
	}
	return s
}

// Base is the data files of a table before its changes. Several tables may begin with them.
type Base struct {
	Rows  int
	Key   Key
	files []iceberg.DataFile
}

// Write makes the data files of a base, which are those of a table of the given name as well.
func Write(ctx context.Context, l *lake.Lake, name string, rows, files int, key Key) (*Base, error) {
	if err := l.Create(ctx, key.spec(name, 2)); err != nil {
		return nil, err
	}
	t, err := l.Load(ctx, name)
	if err != nil {
		return nil, err
	}
	base := &Base{Rows: rows, Key: key, files: make([]iceberg.DataFile, files)}
	var wg sync.WaitGroup
	errs := make(chan error, files)
	for i := range files {
		wg.Go(func() {
			file, err := write(ctx, t, rows, files, i)
			base.files[i] = file
			errs <- err
		})
	}
	wg.Wait()
	for range files {
		if err := <-errs; err != nil {
			return nil, err
		}
	}
	return base, base.add(ctx, t)
}

// write makes file n of a base.
func write(ctx context.Context, t *table.Table, rows, files, n int) (iceberg.DataFile, error) {
	schema, err := table.SchemaToArrowSchema(t.Schema(), nil, true, false)
	if err != nil {
		return nil, err
	}
	var made []iceberg.DataFile
	for file, err := range table.WriteRecords(ctx, t, schema, batches(schema, rows, files, n), table.WithMaxWriteWorkers(1), table.WithTargetFileSize(1<<40)) {
		if err != nil {
			return nil, err
		}
		made = append(made, file)
	}
	if len(made) != 1 {
		return nil, fmt.Errorf("%d data files were made of one", len(made))
	}
	return made[0], nil
}

func batches(schema *arrow.Schema, rows, files, n int) iter.Seq2[arrow.RecordBatch, error] {
	const perBatch = 8192
	return func(yield func(arrow.RecordBatch, error) bool) {
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		var o order
		shuffled := rand.New(rand.NewPCG(uint64(n), 3)).Perm((rows - n + files - 1) / files) // as they changed last
		for k, i := range shuffled {
			o.draw(int64(n+i*files), 0)
			o.appendTo(b)
			if (k+1)%perBatch == 0 || k+1 == len(shuffled) {
				if !yield(b.NewRecordBatch(), nil) {
					return
				}
			}
		}
	}
}

// Create makes a table of a base: one snapshot of its files, none if it has no rows.
func (base *Base) Create(ctx context.Context, l *lake.Lake, name string, version int, properties map[string]string) error {
	s := base.Key.spec(name, version)
	s.Properties = properties
	if err := l.Create(ctx, s); err != nil {
		return err
	}
	t, err := l.Load(ctx, name)
	if err != nil {
		return err
	}
	return base.add(ctx, t)
}

func (base *Base) add(ctx context.Context, t *table.Table) error {
	if len(base.files) == 0 {
		return nil
	}
	tx := t.NewTransaction()
	if err := tx.NewRowDelta(nil).AddRows(base.files...).Commit(ctx); err != nil {
		return err
	}
	_, err := tx.Commit(ctx)
	return err
}
