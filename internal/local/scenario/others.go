package scenario

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/frazil/frazil/internal/local/catalog"
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
	case "data", "deletes", "manifest", "list":
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
	case strings.HasSuffix(name, "-deletes.parquet"):
		return "deletes"
	case strings.HasSuffix(name, ".parquet"):
		return "data"
	case strings.HasPrefix(name, "snap-"):
		return "list"
	case strings.HasSuffix(name, ".avro"):
		return "manifest"
	}
	return ""
}

// alter does what the table's owner does.
func (w *world) alter(ctx context.Context, a *Alter) error {
	if a.Properties != nil {
		if err := w.lake.SetProperties(ctx, a.Table, a.Properties); err != nil {
			return fmt.Errorf("alter: %w", err)
		}
	}
	if a.Schema == nil {
		return nil
	}
	if err := w.lake.Alter(ctx, a.Table, (&Table{Schema: a.Schema}).Spec().Columns); err != nil {
		return fmt.Errorf("alter: %w", err)
	}
	return nil
}

// foreign does what another writer does.
func (w *world) foreign(ctx context.Context, f *Foreign) (err error) {
	switch f.Action {
	case "append":
		err = w.append(ctx, f)
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

func (w *world) append(ctx context.Context, f *Foreign) error {
	columns, _, err := w.lake.Rows(ctx, f.Table)
	if err != nil {
		return err
	}
	rows, err := literals(columns, f.Rows)
	if err != nil {
		return err
	}
	return w.lake.Append(ctx, f.Table, rows)
}
