package scenario

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/frazil/frazil/internal/local/catalog"
	"github.com/frazil/frazil/internal/local/lake"
)

// fault makes the catalog or the store answer one request of the next invocation wrongly.
func (w *world) fault(f *Fault) error {
	missing := fmt.Errorf("fault: at %s with kind %s does not exist (yet)", f.At, f.Kind)
	var once sync.Once
	switch f.At {
	case "commit", "reload":
		op := map[string]catalog.Op{"commit": catalog.OpCommitTable, "reload": catalog.OpLoadTable}[f.At]
		fault, ok := map[string]catalog.Fault{
			"refused":            catalog.Refuse(map[string]int{"commit": http.StatusConflict, "reload": http.StatusServiceUnavailable}[f.At]),
			"applied-then-504":   catalog.ApplyThenStatus(http.StatusGatewayTimeout),
			"applied-then-reset": catalog.ApplyThenDrop(),
		}[f.Kind]
		if !ok {
			return missing
		}
		w.Catalog.SetFault(func(at catalog.Op, _ *http.Request) (answer catalog.Fault) {
			if at == op {
				once.Do(func() { answer = fault })
			}
			return answer
		})
	case "data", "deletes", "manifest", "list", "dead_letter":
		answer, ok := map[string]func() (int, string){
			"refused":            func() (int, string) { return http.StatusForbidden, "AccessDenied" },
			"applied-then-504":   func() (int, string) { return http.StatusGatewayTimeout, "InternalError" },
			"applied-then-reset": func() (int, string) { panic(http.ErrAbortHandler) },
		}[f.Kind]
		if !ok {
			return missing
		}
		hook := func(r *http.Request) (status int, code string) {
			if r.Method == http.MethodPut && kindOf(r.URL.Path) == f.At {
				once.Do(func() { status, code = answer() })
			}
			return status, code
		}
		if f.Kind == "refused" {
			w.Objects.SetFault(hook)
		} else {
			w.Objects.SetFaultAfter(hook)
		}
	default:
		return missing
	}
	return nil
}

// kindOf tells what an object of a commit is by its name.
func kindOf(path string) string {
	switch name := path[strings.LastIndexByte(path, '/')+1:]; {
	case strings.HasSuffix(name, "-deletes.parquet"), strings.HasSuffix(name, ".puffin"):
		return "deletes"
	case strings.HasSuffix(name, ".parquet"):
		return "data"
	case strings.HasPrefix(name, "snap-"):
		return "list"
	case strings.HasSuffix(name, ".avro"):
		return "manifest"
	case strings.HasSuffix(name, ".jsonl"):
		return "dead_letter"
	}
	return ""
}

// alter does what the table's owner does.
func (w *world) alter(ctx context.Context, a *Alter) error {
	var steps []func() error
	step := func(wanted bool, do func() error) {
		if wanted {
			steps = append(steps, do)
		}
	}
	step(a.FormatVersion != 0, func() error { return w.lake.Upgrade(ctx, a.Table, a.FormatVersion) })
	step(a.Properties != nil, func() error { return w.lake.SetProperties(ctx, a.Table, a.Properties) })
	step(a.Schema != nil, func() error { return w.lake.Alter(ctx, a.Table, columns(a.Schema)) })
	step(a.PartitionBy != nil, func() error { return w.lake.Repartition(ctx, a.Table, *a.PartitionBy) })
	step(a.SortBy != nil, func() error { return w.lake.Resort(ctx, a.Table, *a.SortBy) })
	if len(steps) == 0 {
		return fmt.Errorf("alter: table %s: nothing to change", a.Table)
	}
	for _, do := range steps {
		if err := do(); err != nil {
			return fmt.Errorf("alter: %w", err)
		}
	}
	return nil
}

// foreign does what another writer does.
func (w *world) foreign(ctx context.Context, f *Foreign) (err error) {
	switch f.Action {
	case "append":
		err = w.withRows(ctx, f, func(rows []lake.Row) error { return w.lake.Append(ctx, f.Table, rows) })
	case "delete":
		err = w.withRows(ctx, f, func(rows []lake.Row) error { return w.lake.Delete(ctx, f.Table, rows, lake.Encoding(f.How)) })
	case "compact":
		err = w.lake.Compact(ctx, f.Table)
	case "expire":
		err = w.lake.Expire(ctx, f.Table, max(f.Keep, 1))
	case "rollback":
		err = w.lake.Rollback(ctx, f.Table, max(f.Steps, 1))
	default:
		return fmt.Errorf("foreign: the action %s does not exist (yet)", f.Action)
	}
	if err != nil {
		return fmt.Errorf("foreign: %s: %w", f.Action, err)
	}
	return nil
}

// withRows does something with the rows of an entry in canonical form.
func (w *world) withRows(ctx context.Context, f *Foreign, do func([]lake.Row) error) error {
	columns, err := w.lake.Columns(ctx, f.Table)
	if err != nil {
		return err
	}
	rows, err := literals(columns, f.Rows)
	if err != nil {
		return err
	}
	return do(rows)
}
