package main

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/frazil/frazil/internal/local/catalog"
	"github.com/frazil/frazil/internal/local/demo"
	"github.com/frazil/frazil/internal/local/lake"
	"github.com/frazil/frazil/internal/local/lambda"
	"github.com/frazil/frazil/internal/local/scenario"
	"github.com/frazil/frazil/internal/local/stack"
)

// process is the function's binary behind a Runtime API, with a table shop.orders.
type process struct {
	parts    *stack.Stack
	lake     *lake.Lake
	function *lambda.Function
	log      strings.Builder
}

func startProcess(t *testing.T, bootstrap string, timeout time.Duration) *process {
	t.Helper()
	parts, err := stack.StartLake()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(parts.Close)
	p := &process{parts: parts}
	if p.lake, err = lake.Open(t.Context(), parts.CatalogConfig()); err != nil {
		t.Fatal(err)
	}
	if err := p.lake.Create(t.Context(), lake.Spec{Name: "shop.orders", Columns: []lake.Column{{Name: "id", Type: "long", Required: true}}, Key: []string{"id"}}); err != nil {
		t.Fatal(err)
	}
	text, err := scenario.Document(parts.CatalogConfig(), "")
	if err != nil {
		t.Fatal(err)
	}
	text = strings.Replace(text, "routes: []", `routes: [{topics: [orders], format: flat, table: "main:shop.orders"}]`, 1)
	p.function, err = lambda.Start(context.WithoutCancel(t.Context()), lambda.Options{
		Bootstrap: bootstrap, Timeout: timeout, MemoryMB: 512, Env: append(parts.Env(), "FRAZIL_CONFIG="+text), Log: &p.log,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.function.Close)
	return p
}

const oneOrder = `{"eventSource":"aws:kafka","records":{"orders-0":[{"topic":"orders","partition":0,"offset":7,"timestamp":1,"value":"eyJpZCI6MX0="}]}}`

// terminate sends SIGTERM, and says what became of the invocation that ran. The local runtime kills a process that has
// not ended after 500 ms, and says so.
func (p *process) terminate(t *testing.T, result <-chan lambda.Result) (said string) {
	t.Helper()
	p.function.Close()
	r := <-result
	if r.FunctionError != nil {
		said = r.FunctionError.Message
	}
	if strings.Contains(said, "Runtime exited with error") {
		t.Errorf("it did not exit with 0: %s", said)
	}
	return said
}

func (p *process) invoke(t *testing.T) <-chan lambda.Result {
	t.Helper()
	result := make(chan lambda.Result, 1)
	go func() {
		r, err := p.function.Invoke(context.WithoutCancel(t.Context()), []byte(oneOrder))
		if err != nil {
			t.Error(err)
		}
		result <- r
	}()
	return result
}

// await waits until the invocation has come to a place.
func (p *process) await(t *testing.T, here <-chan struct{}, result <-chan lambda.Result) {
	t.Helper()
	select {
	case <-here:
	case r := <-result:
		t.Fatalf("the invocation is over: %v, log:\n%s", r.FunctionError, p.log.String())
	}
}

func (p *process) rows(t *testing.T) int {
	t.Helper()
	_, rows, err := p.lake.Rows(t.Context(), "shop.orders")
	if err != nil {
		t.Fatal(err)
	}
	return len(rows)
}

func build(t *testing.T) string {
	t.Helper()
	bootstrap, err := demo.Build(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return bootstrap
}

// Lambda kills a process whose time is over; who looks for the reason finds it in the log all the same, and in the metrics.
func TestAnInvocationThatHangsSaysSoBeforeItIsKilled(t *testing.T) {
	t.Parallel()
	p := startProcess(t, build(t), 3*time.Second)
	p.parts.Catalog.SetFault(func(op catalog.Op, _ *http.Request) catalog.Fault {
		if op == catalog.OpLoadTable {
			return catalog.Hang()
		}
		return catalog.Fault{}
	})
	r := <-p.invoke(t)
	p.function.Close()
	if said := p.log.String(); r.FunctionError == nil || !strings.Contains(said, `"msg":"failed"`) || !strings.Contains(said, "deadline exceeded") {
		t.Errorf("%v, log:\n%s", r.FunctionError, said)
	}
}

func TestSIGTERMEndsTheProcessCleanly(t *testing.T) {
	t.Parallel()
	bootstrap := build(t)
	t.Run("before a commit", func(t *testing.T) {
		p := startProcess(t, bootstrap, time.Minute)
		here, commits := make(chan struct{}), make(chan struct{}, 9)
		terminated := make(chan struct{})
		p.parts.Objects.SetFault(func(r *http.Request) (int, string) {
			if r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, ".parquet") {
				close(here)
				<-terminated // the file is written after SIGTERM
			}
			return 0, ""
		})
		p.parts.Catalog.SetFault(func(op catalog.Op, _ *http.Request) catalog.Fault {
			if op == catalog.OpCommitTable {
				commits <- struct{}{}
			}
			return catalog.Fault{}
		})
		result := p.invoke(t)
		p.await(t, here, result)
		time.AfterFunc(50*time.Millisecond, func() { close(terminated) })
		p.terminate(t, result)
		if len(commits) > 0 || p.rows(t) > 0 {
			t.Errorf("%d commits began", len(commits))
		}
	})
	t.Run("during a commit that is answered", func(t *testing.T) {
		p := startProcess(t, bootstrap, time.Minute)
		here, answer := make(chan struct{}), make(chan struct{})
		p.parts.Catalog.SetFault(func(op catalog.Op, _ *http.Request) catalog.Fault {
			if op == catalog.OpCommitTable {
				close(here)
				<-answer
			}
			return catalog.Fault{}
		})
		result := p.invoke(t)
		p.await(t, here, result)
		time.AfterFunc(100*time.Millisecond, func() { close(answer) })
		p.terminate(t, result)
		if p.rows(t) != 1 || !strings.Contains(p.log.String(), `"msg":"committed"`) {
			t.Errorf("%d rows, log:\n%s", p.rows(t), p.log.String())
		}
	})
	t.Run("during a commit that hangs", func(t *testing.T) {
		p := startProcess(t, bootstrap, time.Minute)
		here := make(chan struct{})
		p.parts.Catalog.SetFault(func(op catalog.Op, _ *http.Request) catalog.Fault {
			if op == catalog.OpCommitTable {
				close(here)
				return catalog.Hang()
			}
			return catalog.Fault{}
		})
		result := p.invoke(t)
		p.await(t, here, result)
		p.terminate(t, result)
		if p.rows(t) != 0 {
			t.Error("it landed")
		}
	})
	t.Run("between invocations", func(t *testing.T) {
		p := startProcess(t, bootstrap, time.Minute)
		if r := <-p.invoke(t); r.FunctionError != nil {
			t.Fatal(r.FunctionError)
		}
		p.function.Close()
		if got := p.log.String(); strings.Contains(got, "panic") {
			t.Error(got)
		}
	})
}
