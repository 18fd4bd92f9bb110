package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/frazil/frazil/internal/lease"
	"github.com/frazil/frazil/internal/local/broker"
	"github.com/frazil/frazil/internal/local/catalog"
	"github.com/frazil/frazil/internal/local/demo"
	"github.com/frazil/frazil/internal/local/lake"
	"github.com/frazil/frazil/internal/local/lambda"
	"github.com/frazil/frazil/internal/local/stack"
	"github.com/frazil/frazil/internal/local/trial"
	"github.com/twmb/franz-go/pkg/kgo"
)

// world is the function's binary, with a topic orders and a table shop.orders.
type world struct {
	testing.TB
	parts     *stack.Stack
	lake      *lake.Lake
	kafka     *broker.Client
	bootstrap string
}

func newWorld(t *testing.T, bootstrap string) *world {
	t.Helper()
	parts, err := stack.Start(false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(parts.Close)
	w := &world{TB: t, parts: parts, bootstrap: bootstrap}
	w.lake, err = lake.Open(t.Context(), parts.CatalogConfig())
	w.must(err)
	w.must(w.lake.Create(t.Context(), lake.Spec{Name: "shop.orders", Columns: []lake.Column{{Name: "id", Type: "long", Required: true}}, Key: []string{"id"}}))
	w.kafka, err = broker.NewClient(parts.Kafka)
	w.must(err)
	t.Cleanup(w.kafka.Close)
	w.must(w.kafka.CreateTopic(t.Context(), "orders", 2))
	return w
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) put(ids ...int) {
	w.Helper()
	for _, id := range ids {
		_, err := w.kafka.Produce(w.Context(), &kgo.Record{Topic: "orders", Partition: int32(id % 2), Value: fmt.Appendf(nil, `{"id":%d}`, id)})
		w.must(err)
	}
}

func (w *world) env() []string {
	main := w.parts.CatalogConfig()
	return append(w.parts.Env(), fmt.Sprintf("FRAZIL_CONFIG={catalogs: {main: {uri: %q, warehouse: %q}}, sources: {main: {brokers: [%q]}}, "+
		"drain: {commit_interval: 1s}, routes: [{topics: [orders], format: flat, table: \"main:shop.orders\"}]}", main.URI, main.Warehouse, w.parts.Kafka))
}

// process is the binary outside Lambda.
func (w *world) process(args ...string) (*exec.Cmd, *bytes.Buffer) {
	w.Helper()
	cmd, said := exec.CommandContext(w.Context(), w.bootstrap, args...), &bytes.Buffer{}
	cmd.Env, cmd.Stdout, cmd.Stderr = w.env(), said, said
	w.must(cmd.Start())
	return cmd, said
}

func (w *world) wantRows(want ...string) {
	w.Helper()
	_, rows, err := w.lake.Rows(w.Context(), "shop.orders")
	w.must(err)
	var got []string
	for _, r := range rows {
		got = append(got, r["id"])
	}
	if slices.Sort(got); !slices.Equal(got, want) {
		w.Errorf("the table has %q, want %q", got, want)
	}
}

func (w *world) wantNoLease() {
	w.Helper()
	t, err := w.lake.Load(w.Context(), "shop.orders")
	w.must(err)
	for name := range t.Properties() {
		if strings.HasPrefix(name, lease.Prefix) {
			w.Errorf("%s is left", name)
		}
	}
}

// atCommit runs f when a commit has arrived, once.
func (w *world) atCommit(f func() catalog.Fault) {
	w.parts.Catalog.SetFault(catalog.Once(catalog.OpCommitTable, f))
}

func TestTheBinaryDrainsOnLambdaAndElsewhere(t *testing.T) {
	t.Parallel()
	bootstrap, err := demo.BuildFunction(t.Context(), "drain", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Run("on Lambda", func(t *testing.T) {
		w := newWorld(t, bootstrap)
		f, err := lambda.Start(context.WithoutCancel(t.Context()), lambda.Options{Bootstrap: bootstrap, Timeout: time.Minute, MemoryMB: 512, Env: w.env()})
		w.must(err)
		t.Cleanup(f.Close)
		for _, ids := range [][]int{{1, 2, 3}, {4}} {
			w.put(ids...)
			if r, err := f.Invoke(t.Context(), []byte(`{"source":"aws.scheduler"}`)); err != nil || r.FunctionError != nil || string(r.Body) != "null" {
				t.Fatalf("%s, %v, %v", r.Body, r.FunctionError, err)
			}
		}
		w.wantRows("1", "2", "3", "4")
		w.parts.Catalog.SetFault(func(catalog.Op, *http.Request) catalog.Fault { return catalog.Refuse(http.StatusForbidden) })
		if r, err := f.Invoke(t.Context(), []byte(`{}`)); err != nil || r.FunctionError == nil || r.FunctionError.Type != "NotDrained" {
			t.Errorf("%v, %v", r.FunctionError, err)
		}
	})
	t.Run("killed at every request", func(t *testing.T) {
		all := trial.Kills()
		for _, one := range all {
			one.Kafka = true
		}
		if err := trial.Play(4, all, func(one *trial.Trial) error { return one.Run(t.Context(), one.Deployed(bootstrap)) }); err != nil {
			t.Error(err)
		}
	})
	t.Run("killed during a commit", func(t *testing.T) {
		w := newWorld(t, bootstrap)
		w.put(1, 2, 3)
		var cmd *exec.Cmd
		started := make(chan struct{})
		w.atCommit(func() catalog.Fault {
			<-started
			_ = cmd.Process.Kill()
			return catalog.ApplyThenDrop()
		})
		cmd, _ = w.process()
		close(started)
		if err := cmd.Wait(); err == nil {
			t.Error("it was not killed")
		}
		w.put(4)
		again, said := w.process()
		if err := again.Wait(); err != nil {
			t.Errorf("%v\n%s", err, said)
		}
		w.wantRows("1", "2", "3", "4")
	})
	t.Run("until it is asked to end", func(t *testing.T) {
		w := newWorld(t, bootstrap)
		w.put(1)
		landed := make(chan struct{}, 9)
		w.parts.Catalog.SetFault(func(op catalog.Op, _ *http.Request) catalog.Fault {
			if op == catalog.OpCommitTable {
				landed <- struct{}{}
			}
			return catalog.Fault{}
		})
		cmd, said := w.process("-follow")
		<-landed
		w.put(2)
		<-landed // it may not be in yet, which ends in time all the same
		w.must(cmd.Process.Signal(syscall.SIGTERM))
		if err := cmd.Wait(); err != nil || strings.Contains(said.String(), "panic") {
			t.Errorf("%v\n%s", err, said)
		}
		w.wantRows("1", "2")
		w.wantNoLease()
	})
}

func TestAWrongConfigurationIsRefused(t *testing.T) {
	t.Parallel()
	noFiles := func(string) ([]byte, error) { return nil, fs.ErrNotExist }
	for document, want := range map[string]string{
		"": "FRAZIL_TOPICS is not set",
		`{catalogs: {main: {uri: "http://c"}}, routes: [{topics: [a], format: flat, table: "main:n.a"}]}`: "sources.main has to say the brokers",
	} {
		if _, err := newDrain(t.Context(), []string{"FRAZIL_CONFIG=" + document}, noFiles, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", document, err)
		}
	}
}
