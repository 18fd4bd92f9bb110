package lambda

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// MaxPayload is the most bytes that an event or a response may have: 6 MB, as the service counts them.
const MaxPayload = 6 * 1024 * 1024

// Errors of Invoke: the service refuses the request, and no function runs.
var (
	ErrPayloadTooLarge = errors.New("payload exceeds 6291456 bytes")
	ErrInvalidPayload  = errors.New("payload is not JSON")
	ErrClosed          = errors.New("function is closed")
)

// Options describe a function.
type Options struct {
	// Bootstrap is the function's binary, built for this machine.
	Bootstrap string
	// Name is the function's name; default "function".
	Name string
	// Env is the configured environment ("KEY=value"). It overrides the runtime's own variables; nothing else is
	// inherited from this process.
	Env []string
	// Instances is how many events may run at once; default 1.
	Instances int
	// Timeout is the longest an event may run; default 3 seconds, as in the service.
	Timeout time.Duration
	// MemoryMB is what the function is told it has; default 128, as in the service.
	MemoryMB int
	// Log receives the processes' stdout and stderr, in whole lines; nil discards them.
	Log io.Writer
}

// FunctionError is a failed invocation: the function's own error, or that of the runtime (Runtime.ExitError,
// Sandbox.Timedout, …).
type FunctionError struct {
	Type    string `json:"errorType"`
	Message string `json:"errorMessage"`
}

func (e *FunctionError) Error() string { return e.Type + ": " + e.Message }

// Result is the outcome of an invocation that reached the function.
type Result struct {
	// Body is the response, or the error as JSON.
	Body []byte
	// FunctionError is nil when the function succeeded.
	FunctionError *FunctionError
	// Duration is the time from handing the event over to the answer.
	Duration time.Duration
	// CPU is the processor time that the process took for the event, to a hundredth of a second; 0 where the system does not
	// tell (it reads Linux's /proc).
	CPU time.Duration
	// InitDuration is the time the process took to start, 0 when it was running already.
	InitDuration time.Duration
}

// Function is a deployed function. It is safe for concurrent use.
type Function struct {
	options Options
	log     *lines
	tokens  chan struct{} // one per running event
	stop    func() bool

	mu        sync.Mutex
	idle      []*instance // the most recently used last
	instances map[*instance]struct{}
	peak      int64
	closed    bool
}

// Start deploys a function; no process runs before the first event. It is closed by Close or when ctx ends.
func Start(ctx context.Context, options Options) (*Function, error) {
	bootstrap, err := exec.LookPath(options.Bootstrap)
	if err != nil {
		return nil, fmt.Errorf("find bootstrap: %w", err)
	}
	if options.Bootstrap, err = filepath.Abs(bootstrap); err != nil {
		return nil, fmt.Errorf("find bootstrap: %w", err)
	}
	options.Name = cmp.Or(options.Name, "function")
	options.Instances = cmp.Or(options.Instances, 1)
	options.Timeout = cmp.Or(options.Timeout, 3*time.Second)
	options.MemoryMB = cmp.Or(options.MemoryMB, 128)
	if options.Log == nil {
		options.Log = io.Discard
	}
	f := &Function{
		options:   options,
		log:       &lines{out: options.Log},
		tokens:    make(chan struct{}, options.Instances),
		instances: map[*instance]struct{}{},
	}
	f.stop = context.AfterFunc(ctx, f.shutDown)
	return f, nil
}

// Invoke runs one event, waiting for a free instance. A function that failed is Result.FunctionError, not an error.
// When ctx ends the process that has the event is killed and ctx's error returned.
func (f *Function) Invoke(ctx context.Context, payload []byte) (Result, error) {
	if len(payload) > MaxPayload {
		return Result{}, ErrPayloadTooLarge
	}
	if !json.Valid(payload) {
		return Result{}, ErrInvalidPayload
	}
	select {
	case f.tokens <- struct{}{}:
	case <-ctx.Done():
		return Result{}, ctx.Err()
	}
	defer func() { <-f.tokens }()
	for {
		i, cold, err := f.acquire()
		if err != nil {
			return Result{}, err
		}
		result, err := i.run(ctx, payload, cold)
		f.release(i)
		if errors.Is(err, errGone) {
			continue // it died while it had nothing to do, which the service does not show either
		}
		return result, err
	}
}

// Kill kills all processes at once, as a crash would. Their events end with Runtime.ExitError; later events start
// new processes.
func (f *Function) Kill() {
	for _, i := range f.live() {
		i.kill()
	}
}

// Close refuses further events, asks all processes to end with SIGTERM, and kills those that do not.
func (f *Function) Close() {
	f.stop()
	f.shutDown()
}

func (f *Function) shutDown() {
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	var all sync.WaitGroup
	for _, i := range f.live() {
		all.Go(i.terminate)
	}
	all.Wait()
}

// Peak returns the largest resident memory in bytes that any process had at the end of an event; 0 where the system
// does not tell (it reads Linux's /proc).
func (f *Function) Peak() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.peak
}

func (f *Function) live() []*instance {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := make([]*instance, 0, len(f.instances))
	for i := range f.instances {
		all = append(all, i)
	}
	return all
}

// acquire takes the instance that was used last, or starts one.
func (f *Function) acquire() (i *instance, cold bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, false, ErrClosed
	}
	f.idle = slices.DeleteFunc(f.idle, (*instance).dead)
	if n := len(f.idle); n > 0 {
		i, f.idle = f.idle[n-1], f.idle[:n-1]
		return i, false, nil
	}
	if i, err = start(f.options, f.log); err != nil {
		return nil, false, err
	}
	f.instances[i] = struct{}{}
	return i, true, nil
}

func (f *Function) release(i *instance) {
	peak := i.peakMemory()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.peak = max(f.peak, peak)
	if i.dead() {
		delete(f.instances, i)
		return
	}
	f.idle = append(f.idle, i)
}
