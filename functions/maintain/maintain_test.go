package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/frazil/frazil/internal/local/catalog"
	"github.com/frazil/frazil/internal/local/demo"
	"github.com/frazil/frazil/internal/local/lake"
	"github.com/frazil/frazil/internal/local/lambda"
	"github.com/frazil/frazil/internal/local/stack"
)

// world is the function's binary and a table shop.orders of six small files.
type world struct {
	testing.TB
	parts *stack.Stack
	lake  *lake.Lake
}

func newWorld(t *testing.T) *world {
	t.Helper()
	parts, err := stack.StartLake()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(parts.Close)
	w := &world{TB: t, parts: parts}
	w.lake, err = lake.Open(t.Context(), parts.CatalogConfig())
	w.must(err)
	w.must(w.lake.Create(t.Context(), lake.Spec{Name: "shop.orders", Columns: []lake.Column{{Name: "id", Type: "long", Required: true}}, Key: []string{"id"}}))
	for id := range 6 {
		w.must(w.lake.Append(t.Context(), "shop.orders", []lake.Row{{"id": strconv.Itoa(id)}}))
	}
	return w
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) env() []string {
	main := w.parts.CatalogConfig()
	return append(w.parts.Env(), fmt.Sprintf("FRAZIL_CONFIG={catalogs: {main: {uri: %q, warehouse: %q}}, "+
		"routes: [{topics: [orders], format: flat, table: \"main:shop.orders\"}], maintain: {\"*\": {compact: {}}}}", main.URI, main.Warehouse))
}

func (w *world) wantFiles(want int) {
	w.Helper()
	_, rows, err := w.lake.Rows(w.Context(), "shop.orders")
	w.must(err)
	files, _, err := w.lake.Files(w.Context(), "shop.orders")
	if err != nil || files != want || len(rows) != 6 {
		w.Errorf("%d rows in %d files, want %d; %v", len(rows), files, want, err)
	}
}

func TestTheBinaryMaintainsOnLambdaAndElsewhere(t *testing.T) {
	t.Parallel()
	bootstrap, err := demo.BuildFunction(t.Context(), "maintain", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Run("on Lambda", func(t *testing.T) {
		w := newWorld(t)
		f, err := lambda.Start(context.WithoutCancel(t.Context()), lambda.Options{Bootstrap: bootstrap, Timeout: time.Minute, MemoryMB: 512, Env: w.env()})
		w.must(err)
		t.Cleanup(f.Close)
		if r, err := f.Invoke(t.Context(), []byte(`{"source":"aws.scheduler"}`)); err != nil || r.FunctionError != nil || string(r.Body) != "null" {
			t.Fatalf("%s, %v, %v", r.Body, r.FunctionError, err)
		}
		w.wantFiles(1)
		w.parts.Catalog.SetFault(func(catalog.Op, *http.Request) catalog.Fault { return catalog.Refuse(http.StatusForbidden) })
		if r, err := f.Invoke(t.Context(), []byte(`{}`)); err != nil || r.FunctionError == nil || r.FunctionError.Type != "NotMaintained" {
			t.Errorf("%v, %v", r.FunctionError, err)
		}
	})
	t.Run("as a process", func(t *testing.T) {
		w := newWorld(t)
		cmd, said := exec.CommandContext(t.Context(), bootstrap), &bytes.Buffer{}
		cmd.Env, cmd.Stdout, cmd.Stderr = w.env(), said, said
		if err := cmd.Run(); err != nil || !strings.Contains(said.String(), `"scan_cost_percent":100`) {
			t.Errorf("%v\n%s", err, said)
		}
		w.wantFiles(1)
	})
	t.Run("until it is asked to end", func(t *testing.T) {
		w := newWorld(t)
		landed := make(chan struct{}, 9)
		w.parts.Catalog.SetFault(func(op catalog.Op, _ *http.Request) catalog.Fault {
			if op == catalog.OpCommitTable {
				landed <- struct{}{}
			}
			return catalog.Fault{}
		})
		cmd, said := exec.CommandContext(t.Context(), bootstrap, "-follow"), &bytes.Buffer{}
		cmd.Env, cmd.Stdout, cmd.Stderr = w.env(), said, said
		w.must(cmd.Start())
		<-landed // it may not be in yet, which ends in time all the same
		w.must(cmd.Process.Signal(syscall.SIGTERM))
		if err := cmd.Wait(); err != nil || strings.Contains(said.String(), "panic") {
			t.Errorf("%v\n%s", err, said)
		}
		w.wantFiles(1)
	})
}

func TestAWrongConfigurationIsRefused(t *testing.T) {
	t.Parallel()
	noFiles := func(string) ([]byte, error) { return nil, fs.ErrNotExist }
	for document, want := range map[string]string{
		"": "FRAZIL_TOPICS is not set",
		`{catalogs: {main: {uri: "http://c"}}, routes: [{topics: [a], format: flat, table: "main:n.a"}]}`: "no maintain for any table",
	} {
		if _, err := newMaintain(t.Context(), []string{"FRAZIL_CONFIG=" + document}, noFiles, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", document, err)
		}
	}
}
