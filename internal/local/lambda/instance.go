package lambda

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/google/uuid"
)

const (
	region       = "us-east-1"
	account      = "000000000000"
	initTimeout  = 10 * time.Second       // the service's limit of the init phase
	graceTimeout = 500 * time.Millisecond // between SIGTERM and SIGKILL, as in the service
)

// errGone is an instance that ended before it took the event.
var errGone = errors.New("instance has ended")

// instance is one process with a Runtime API of its own.
type instance struct {
	options Options
	command *exec.Cmd
	server  *http.Server
	began   time.Time

	ready  chan struct{} // closed when the process asks for its first event
	events chan *event   // taken by the process's request for the next event
	exited chan struct{} // closed when the process has ended and its output is written

	mu      sync.Mutex
	current *event // the event that the process has
	initErr []byte // what the process reported as the reason why it cannot start
}

// event is one invocation.
type event struct {
	id       string
	payload  []byte
	deadline time.Time
	done     chan outcome // of capacity 1
}

// outcome is what the process posted.
type outcome struct {
	body   []byte
	failed bool
}

// start runs the binary without waiting for it to become ready.
func start(options Options, log *lines) (*instance, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	i := &instance{
		options: options,
		began:   time.Now(),
		ready:   make(chan struct{}),
		events:  make(chan *event),
		exited:  make(chan struct{}),
	}
	i.server = &http.Server{Handler: i.runtimeAPI()}
	stdout, stderr := log.stream(), log.stream()
	i.command = exec.Command(options.Bootstrap)
	i.command.Dir = filepath.Dir(options.Bootstrap)
	i.command.Env = environment(options, listener.Addr().String())
	i.command.Stdout, i.command.Stderr = stdout, stderr
	i.command.WaitDelay = graceTimeout // a grandchild may keep the pipes open
	if err := i.command.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("start bootstrap: %w", err), listener.Close())
	}
	go func() { _ = i.server.Serve(listener) }()
	go func() {
		_ = i.command.Wait() // how it ended is read from ProcessState
		stdout.flush()
		stderr.flush()
		_ = i.server.Close()
		close(i.exited)
	}()
	return i, nil
}

// environment is what the service sets, then what the function is configured with.
func environment(o Options, api string) []string {
	return append([]string{
		"AWS_LAMBDA_RUNTIME_API=" + api,
		"AWS_LAMBDA_FUNCTION_NAME=" + o.Name,
		"AWS_LAMBDA_FUNCTION_VERSION=$LATEST",
		"AWS_LAMBDA_FUNCTION_MEMORY_SIZE=" + strconv.Itoa(o.MemoryMB),
		"AWS_LAMBDA_FUNCTION_TIMEOUT=" + strconv.Itoa(int((o.Timeout+time.Second-1)/time.Second)),
		"AWS_LAMBDA_INITIALIZATION_TYPE=on-demand",
		"AWS_LAMBDA_LOG_GROUP_NAME=/aws/lambda/" + o.Name,
		"AWS_LAMBDA_LOG_STREAM_NAME=" + uuid.NewString(),
		"AWS_EXECUTION_ENV=AWS_Lambda_provided.al2023",
		"AWS_REGION=" + region,
		"AWS_DEFAULT_REGION=" + region,
		"LAMBDA_TASK_ROOT=" + filepath.Dir(o.Bootstrap),
		"_HANDLER=bootstrap",
		"PATH=/usr/local/bin:/usr/bin:/bin:/opt/bin",
		"TZ=:UTC",
	}, o.Env...)
}

// run gives the process one event and waits for the end of it.
func (i *instance) run(ctx context.Context, payload []byte, cold bool) (Result, error) {
	var init time.Duration
	if cold {
		failed, err := i.awaitReady(ctx)
		if err != nil || failed != nil {
			return Result{Body: body(failed), FunctionError: failed, InitDuration: time.Since(i.began)}, err
		}
		init = time.Since(i.began)
	}
	began, cpu := time.Now(), i.cpu()
	e := &event{id: uuid.NewString(), payload: payload, deadline: began.Add(i.options.Timeout), done: make(chan outcome, 1)}
	result, err := i.hand(ctx, e, cold)
	result.Duration, result.CPU, result.InitDuration = time.Since(began), max(0, i.cpu()-cpu), init
	return result, err
}

// awaitReady waits for the end of the init phase.
func (i *instance) awaitReady(ctx context.Context) (*FunctionError, error) {
	timer := time.NewTimer(initTimeout)
	defer timer.Stop()
	select {
	case <-i.ready:
		return nil, nil
	case <-i.exited:
		return i.initError(), nil
	case <-timer.C:
		i.end()
		return &FunctionError{"Sandbox.Timedout", "Error: init phase timed out after 10.00 seconds"}, nil
	case <-ctx.Done():
		i.end()
		return nil, ctx.Err()
	}
}

func (i *instance) initError() *FunctionError {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.initErr == nil {
		return i.exitError("")
	}
	return functionError(i.initErr)
}

// hand gives e to the process and waits for its outcome. The deadline runs from here on, as in the service: a
// process that does not come for the event has timed out too.
func (i *instance) hand(ctx context.Context, e *event, cold bool) (Result, error) {
	timer := time.NewTimer(time.Until(e.deadline))
	defer timer.Stop()
	events := i.events
	for {
		select {
		case events <- e:
			events = nil
		case o := <-e.done:
			return o.result(), nil
		case <-i.exited:
			if events != nil && !cold {
				return Result{}, errGone
			}
			return i.afterExit(e), nil
		case <-timer.C:
			i.end()
			return errorResult(i.timedOut(e)), nil
		case <-ctx.Done():
			i.end()
			return Result{}, ctx.Err()
		}
	}
}

// afterExit prefers an answer that the process gave before it ended: a function that panics reports, then exits.
func (i *instance) afterExit(e *event) Result {
	select {
	case o := <-e.done:
		return o.result()
	default:
		return errorResult(i.exitError(e.id))
	}
}

func (i *instance) exitError(id string) *FunctionError {
	reason := "Runtime exited without providing a reason"
	if state := i.command.ProcessState; state != nil && !state.Success() {
		reason = "Runtime exited with error: " + state.String()
	}
	return &FunctionError{"Runtime.ExitError", withID(id, "Error: "+reason)}
}

func (i *instance) timedOut(e *event) *FunctionError {
	return &FunctionError{"Sandbox.Timedout", withID(e.id, fmt.Sprintf("Error: Task timed out after %.2f seconds", i.options.Timeout.Seconds()))}
}

func withID(id, message string) string {
	if id == "" {
		return message
	}
	return "RequestId: " + id + " " + message
}

func (o outcome) result() Result {
	if !o.failed {
		return Result{Body: o.body}
	}
	return Result{Body: o.body, FunctionError: functionError(o.body)}
}

func errorResult(e *FunctionError) Result { return Result{Body: body(e), FunctionError: e} }

func body(e *FunctionError) []byte {
	if e == nil {
		return nil
	}
	data, _ := json.Marshal(e) // two strings
	return data
}

// functionError reads the service's error form; a body of another form is still an error.
func functionError(data []byte) *FunctionError {
	e := &FunctionError{}
	if json.Unmarshal(data, e) != nil || e.Type == "" {
		e.Type = "Runtime.Unknown"
	}
	return e
}

func (i *instance) dead() bool {
	select {
	case <-i.exited:
		return true
	default:
		return false
	}
}

// kill kills the process without waiting. One that has ended already is no error.
func (i *instance) kill() { _ = i.command.Process.Kill() }

// end kills the process and waits for it.
func (i *instance) end() {
	i.kill()
	<-i.exited
}

// terminate asks the process to end and kills it when it does not.
func (i *instance) terminate() {
	_ = i.command.Process.Signal(syscall.SIGTERM)
	timer := time.NewTimer(graceTimeout)
	defer timer.Stop()
	select {
	case <-i.exited:
	case <-timer.C:
		i.end()
	}
}

// peakMemory returns the high-water mark of the process's resident memory in bytes, 0 when it is not known.
func (i *instance) peakMemory() int64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", i.command.Process.Pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	kilobytes, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil {
		return 0
	}
	return kilobytes << 10
}

// cpu returns the processor time that the process has taken, 0 when it is not known.
func (i *instance) cpu() time.Duration {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", i.command.Process.Pid))
	if err != nil {
		return 0
	}
	const user, system, tick = 11, 12, 10 * time.Millisecond // proc(5): the 14th and 15th, counted behind the name
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) <= system {
		return 0
	}
	u, errU := strconv.ParseInt(fields[user], 10, 64)
	s, errS := strconv.ParseInt(fields[system], 10, 64)
	if errU != nil || errS != nil {
		return 0
	}
	return time.Duration(u+s) * tick
}
