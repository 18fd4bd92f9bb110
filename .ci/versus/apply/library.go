package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"
	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/local/lake"
)

// library applies changes with what iceberg-go has for them: rows are deleted by a filter that names their keys, and the
// new ones appended, in one transaction. Its equality deletes cost less to write, but readers do not get through some
// hundred thousand of them. Objects are read and written by frazil's client of the store, each as a whole.
type library struct {
	table     *table.Table
	rows, key *arrow.Schema
}

func plain(ctx context.Context, c *config.Config) (func(context.Context, string) error, error) {
	l, err := lake.Open(ctx, c.Catalogs["main"])
	if err != nil {
		return nil, err
	}
	p := &library{}
	if p.table, err = l.Load(ctx, strings.Join(c.Routes[0].Table.Path, ".")); err != nil {
		return nil, err
	}
	if p.rows, err = table.SchemaToArrowSchema(p.table.Schema(), nil, true, false); err != nil {
		return nil, err
	}
	key, err := p.table.Schema().Select(true, p.rows.Field(0).Name)
	if err != nil {
		return nil, err
	}
	p.key, err = table.SchemaToArrowSchema(key, nil, true, false)
	return p.apply, err
}

func (p *library) apply(ctx context.Context, file string) error {
	rows, keys, err := p.read(file)
	if err != nil {
		return err
	}
	tx := p.table.NewTransaction()
	ids := keys.Column(0).(*array.Int64).Int64Values()
	if err := tx.Delete(ctx, iceberg.IsIn(iceberg.Reference(p.key.Field(0).Name), ids...), nil); err != nil {
		return err
	}
	reader, err := array.NewRecordReader(p.rows, []arrow.RecordBatch{rows})
	if err != nil {
		return err
	}
	if err := tx.Append(ctx, reader, nil); err != nil {
		return err
	}
	p.table, err = tx.Commit(ctx)
	return err
}

// read makes a change set's rows and keys of a file.
func (p *library) read(file string) (rows, keys arrow.RecordBatch, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, nil, err
	}
	r := array.NewRecordBuilder(memory.DefaultAllocator, p.rows)
	k := array.NewRecordBuilder(memory.DefaultAllocator, p.key)
	for line := range bytes.Lines(text) {
		var c struct{ Key, Row json.RawMessage }
		if err := json.Unmarshal(line, &c); err != nil {
			return nil, nil, err
		}
		if err := k.UnmarshalJSON(c.Key); err != nil {
			return nil, nil, err
		}
		if string(c.Row) != "null" {
			if err := r.UnmarshalJSON(c.Row); err != nil {
				return nil, nil, err
			}
		}
	}
	return r.NewRecordBatch(), k.NewRecordBatch(), nil
}
