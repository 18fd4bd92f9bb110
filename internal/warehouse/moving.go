package warehouse

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// moving gives a request up once nothing of it has moved for a while: no connection, no answer, or no byte of a body in
// either direction. How long the whole may take, the caller's deadline says.
type moving struct {
	send func(*http.Request) (*http.Response, error)
	wait time.Duration
}

// stall is how long a request waits for something to move. A catalog may take long for a commit.
const stall = 30 * time.Second

// RoundTrip makes it a transport, Do a client of the AWS SDK.
func (m moving) RoundTrip(r *http.Request) (*http.Response, error) { return m.Do(r) }

// errStalled is a time-out for those who ask, such as the AWS SDK, which repeats what timed out.
var errStalled error = stalledError{}

type stalledError struct{}

func (stalledError) Error() string   { return "nothing of the request has moved for too long" }
func (stalledError) Timeout() bool   { return true }
func (stalledError) Temporary() bool { return true }

// Do sends a request.
func (m moving) Do(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(r.Context())
	w := &watch{timer: time.AfterFunc(m.wait, func() { cancel(errStalled) }), wait: m.wait, ctx: ctx, stop: func() { cancel(nil) }}
	r = r.Clone(ctx)
	if r.Body != nil && r.Body != http.NoBody {
		r.Body = watched{r.Body, w, func() {}}
	}
	answer, err := m.send(r)
	if err != nil {
		w.end()
		return nil, w.cause(err)
	}
	w.moved()
	answer.Body = watched{answer.Body, w, w.end}
	return answer, nil
}

// watch is one request's.
type watch struct {
	wait  time.Duration
	timer *time.Timer
	ctx   context.Context
	stop  func()
}

func (w *watch) moved() { w.timer.Reset(w.wait) }

func (w *watch) end() {
	w.timer.Stop()
	w.stop()
}

// cause is errStalled where that is why the request has failed.
func (w *watch) cause(err error) error {
	if errors.Is(context.Cause(w.ctx), errStalled) {
		return errStalled
	}
	return err
}

// watched is a body whose bytes keep its request alive.
type watched struct {
	io.ReadCloser
	watch *watch
	end   func()
}

func (b watched) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		b.watch.moved()
	}
	if err != nil && err != io.EOF {
		err = b.watch.cause(err)
	}
	return n, err
}

func (b watched) Close() error {
	b.end()
	return b.ReadCloser.Close()
}
