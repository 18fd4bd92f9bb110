package lambda_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/frazil/frazil/internal/local/lambda"
	"github.com/google/go-cmp/cmp"
)

var bootstrap string

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

// run builds the test function once for all tests.
func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "function")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	bootstrap = filepath.Join(dir, "bootstrap")
	build := exec.Command("go", "build", "-trimpath", "-tags", "lambda.norpc", "-o", bootstrap, "./testdata/function")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as the released function, which may be compiled already
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// buffer is a log that may be read while processes write to it.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func start(t *testing.T, change ...func(*lambda.Options)) (*lambda.Function, *buffer) {
	t.Helper()
	log := &buffer{}
	options := lambda.Options{Bootstrap: bootstrap, Name: "orders", Timeout: time.Minute, MemoryMB: 256, Log: log}
	for _, f := range change {
		f(&options)
	}
	f, err := lambda.Start(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return f, log
}

func invoke(t *testing.T, f *lambda.Function, payload string) lambda.Result {
	t.Helper()
	result, err := f.Invoke(t.Context(), []byte(payload))
	if err != nil {
		t.Fatal(err)
	}
	return result
}

type description struct {
	Deadline  int64
	Remaining time.Duration
	ID, ARN   string
	Env       []string
	PID       int
}

func describe(t *testing.T, f *lambda.Function) (description, lambda.Result) {
	t.Helper()
	result := invoke(t, f, `{"do":"describe"}`)
	var d description
	if err := json.Unmarshal(result.Body, &d); err != nil {
		t.Fatalf("%s: %v", result.Body, err)
	}
	return d, result
}

func TestProcessStartsOnceAndIsReused(t *testing.T) {
	t.Parallel()
	f, _ := start(t)
	first, cold := describe(t, f)
	second, warm := describe(t, f)
	if first.PID != second.PID || first.ID == second.ID {
		t.Errorf("%+v then %+v", first, second)
	}
	if cold.InitDuration <= 0 || warm.InitDuration != 0 {
		t.Errorf("init took %v, then %v", cold.InitDuration, warm.InitDuration)
	}
	if f.Peak() <= 0 {
		t.Errorf("peak %d", f.Peak())
	}
	if busy := invoke(t, f, `{"do":"work"}`); busy.CPU < 30*time.Millisecond {
		t.Errorf("it took %v of 50 ms", busy.CPU)
	}
}

func TestContextCarriesDeadlineAndName(t *testing.T) {
	t.Parallel()
	before := time.Now()
	f, _ := start(t)
	d, _ := describe(t, f)
	deadline := time.UnixMilli(d.Deadline)
	if deadline.Before(before.Add(time.Minute).Truncate(time.Millisecond)) || d.Remaining <= 0 || d.Remaining > time.Minute {
		t.Errorf("deadline %v, remaining %v", deadline, d.Remaining)
	}
	if d.ARN != "arn:aws:lambda:us-east-1:000000000000:function:orders" {
		t.Error(d.ARN)
	}
}

func TestEnvironmentIsTheRuntimesAndTheConfiguredOne(t *testing.T) {
	t.Parallel()
	f, _ := start(t, func(o *lambda.Options) { o.Env = []string{"FRAZIL_CONFIG=x", "AWS_REGION=eu-west-1"} })
	d, _ := describe(t, f)
	var names []string
	for _, setting := range d.Env {
		name, _, _ := strings.Cut(setting, "=")
		names = append(names, name)
	}
	slices.Sort(names)
	want := []string{
		"AWS_DEFAULT_REGION", "AWS_EXECUTION_ENV", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "AWS_LAMBDA_FUNCTION_NAME",
		"AWS_LAMBDA_FUNCTION_TIMEOUT", "AWS_LAMBDA_FUNCTION_VERSION", "AWS_LAMBDA_INITIALIZATION_TYPE",
		"AWS_LAMBDA_LOG_GROUP_NAME", "AWS_LAMBDA_LOG_STREAM_NAME", "AWS_LAMBDA_RUNTIME_API", "AWS_REGION",
		"FRAZIL_CONFIG", "LAMBDA_TASK_ROOT", "PATH", "TZ", "_HANDLER", "_X_AMZN_TRACE_ID",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
	if !slices.Contains(d.Env, "AWS_REGION=eu-west-1") || !slices.Contains(d.Env, "AWS_LAMBDA_FUNCTION_MEMORY_SIZE=256") {
		t.Errorf("%q", d.Env)
	}
}

func TestFunctionErrorsNameTheirType(t *testing.T) {
	t.Parallel()
	f, _ := start(t)
	for payload, want := range map[string]lambda.FunctionError{
		`{"do":"error"}`: {Type: "errorString", Message: "it went wrong"},
		`{"do":"panic"}`: {Type: "string", Message: "boom"},
	} {
		result := invoke(t, f, payload)
		if diff := cmp.Diff(&want, result.FunctionError); diff != "" {
			t.Errorf("%s: %s", payload, diff)
		}
		if ok := invoke(t, f, `{"do":"echo"}`); ok.FunctionError != nil || string(ok.Body) != `{"do":"echo"}` {
			t.Errorf("after %s: %s", payload, ok.Body)
		}
	}
}

func TestExitFailsTheEventAndTheNextGetsANewProcess(t *testing.T) {
	t.Parallel()
	f, _ := start(t)
	first, _ := describe(t, f)
	result := invoke(t, f, `{"do":"exit"}`)
	if e := result.FunctionError; e == nil || e.Type != "Runtime.ExitError" || !strings.Contains(e.Message, "exit status 3") {
		t.Errorf("%s", result.Body)
	}
	if second, _ := describe(t, f); second.PID == first.PID {
		t.Error("the same process answers")
	}
}

func TestKillFailsTheEventThatRuns(t *testing.T) {
	t.Parallel()
	f, _ := start(t)
	arrived := make(chan struct{})
	web := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(arrived)
		<-r.Context().Done()
	}))
	t.Cleanup(web.Close)
	go func() {
		<-arrived
		f.Kill()
	}()
	result := invoke(t, f, `{"do":"get","url":"`+web.URL+`"}`)
	if e := result.FunctionError; e == nil || e.Type != "Runtime.ExitError" || !strings.Contains(e.Message, "signal: killed") {
		t.Errorf("%s", result.Body)
	}
}

func TestTimeoutKillsTheProcess(t *testing.T) {
	t.Parallel()
	f, _ := start(t, func(o *lambda.Options) { o.Timeout = 250 * time.Millisecond })
	result := invoke(t, f, `{"do":"block"}`)
	if e := result.FunctionError; e == nil || e.Type != "Sandbox.Timedout" || !strings.HasSuffix(e.Message, "Task timed out after 0.25 seconds") {
		t.Errorf("%s", result.Body)
	}
	if next := invoke(t, f, `{"do":"echo"}`); next.InitDuration == 0 {
		t.Error("the process survived its timeout")
	}
}

func TestCancelledInvocationKillsTheProcess(t *testing.T) {
	t.Parallel()
	f, _ := start(t)
	ctx, cancel := context.WithCancel(t.Context())
	web := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	}))
	t.Cleanup(web.Close)
	_, err := f.Invoke(ctx, []byte(`{"do":"get","url":"`+web.URL+`"}`))
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if next := invoke(t, f, `{"do":"echo"}`); next.InitDuration == 0 {
		t.Error("the process survived")
	}
}

func TestPayloadLimitIsExact(t *testing.T) {
	t.Parallel()
	f, _ := start(t)
	largest := append(bytes.Repeat([]byte(" "), lambda.MaxPayload-len(`{"do":"print"}`)), `{"do":"print"}`...)
	result, err := f.Invoke(t.Context(), largest)
	if err != nil || result.FunctionError != nil {
		t.Errorf("%v %s", err, result.Body)
	}
	if _, err := f.Invoke(t.Context(), append([]byte(" "), largest...)); !errors.Is(err, lambda.ErrPayloadTooLarge) {
		t.Error(err)
	}
	if _, err := f.Invoke(t.Context(), []byte("{")); !errors.Is(err, lambda.ErrInvalidPayload) {
		t.Error(err)
	}
}

func TestResponseLimitIsExact(t *testing.T) {
	t.Parallel()
	f, _ := start(t)
	if result := invoke(t, f, fmt.Sprintf(`{"do":"large","size":%d}`, lambda.MaxPayload)); result.FunctionError != nil || len(result.Body) != lambda.MaxPayload {
		t.Errorf("%d bytes, %v", len(result.Body), result.FunctionError)
	}
	result := invoke(t, f, fmt.Sprintf(`{"do":"large","size":%d}`, lambda.MaxPayload+1))
	if e := result.FunctionError; e == nil || e.Type != "Function.ResponseSizeTooLarge" {
		t.Errorf("%d bytes, %v", len(result.Body), e)
	}
}

func TestInstancesRunAtOnceUpToTheirNumber(t *testing.T) {
	t.Parallel()
	f, _ := start(t, func(o *lambda.Options) { o.Instances = 2 })
	var met sync.WaitGroup
	met.Add(2)
	web := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		met.Done()
		met.Wait() // answers only when both are here
	}))
	t.Cleanup(web.Close)
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			if _, err := f.Invoke(t.Context(), []byte(`{"do":"get","url":"`+web.URL+`"}`)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	pids := map[int]bool{}
	var mu sync.Mutex
	for range 8 {
		all.Go(func() {
			d, _ := describe(t, f)
			mu.Lock()
			defer mu.Unlock()
			pids[d.PID] = true
		})
	}
	all.Wait()
	if len(pids) > 2 {
		t.Errorf("%d processes", len(pids))
	}
}

func TestFailedInitIsAFunctionError(t *testing.T) {
	t.Parallel()
	f, _ := start(t, func(o *lambda.Options) { o.Env = []string{"FAIL_INIT=1"} })
	result := invoke(t, f, `{}`)
	if e := result.FunctionError; e == nil || e.Type != "Runtime.ExitError" || !strings.Contains(e.Message, "exit status 4") {
		t.Errorf("%s", result.Body)
	}
}

func TestCloseTerminatesAndFlushesTheLog(t *testing.T) {
	t.Parallel()
	f, log := start(t)
	invoke(t, f, `{"do":"print","text":"hello"}`)
	f.Close()
	if got := log.String(); got != "hello\nterminated\n" {
		t.Errorf("log %q", got)
	}
	if _, err := f.Invoke(t.Context(), []byte(`{}`)); !errors.Is(err, lambda.ErrClosed) {
		t.Error(err)
	}
}

func TestMissingBootstrapIsRefusedAtStart(t *testing.T) {
	t.Parallel()
	if _, err := lambda.Start(t.Context(), lambda.Options{Bootstrap: filepath.Join(t.TempDir(), "none")}); err == nil {
		t.Error("started")
	}
}
