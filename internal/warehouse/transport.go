package warehouse

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// patient asks a catalog again where that cannot do harm: after an answer that says that nothing was done (throttling),
// and, of requests that change nothing, after any answer or failure that another try may better. What else a request that
// changes something comes to is for its caller to find out (package commit).
type patient struct{ next http.RoundTripper }

// tries bounds the requests that one may become; the caller's deadline usually comes first.
const tries = 6

func (p patient) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := drain(r.Body)
	if err != nil {
		return nil, err
	}
	for n := 1; ; n++ {
		next := r.Clone(r.Context())
		if body != nil {
			next.Body = io.NopCloser(bytes.NewReader(body))
		}
		answer, err := p.next.RoundTrip(next)
		if n == tries || !again(r, answer, err) {
			return answer, err
		}
		if !pause(r.Context(), wait(answer, n)) {
			return answer, err
		}
		if answer != nil {
			_ = answer.Body.Close()
		}
	}
}

// drain reads a request's body, which has to be sent anew with each try; RoundTrip has to close it.
func drain(body io.ReadCloser) (data []byte, err error) {
	if body == nil || body == http.NoBody {
		return nil, nil
	}
	defer func() { err = errors.Join(err, body.Close()) }()
	return io.ReadAll(body)
}

func again(r *http.Request, answer *http.Response, err error) bool {
	changesNothing := r.Method == http.MethodGet || r.Method == http.MethodHead
	if err != nil {
		var final *finalError
		return changesNothing && r.Context().Err() == nil && !errors.As(err, &final)
	}
	switch answer.StatusCode {
	case http.StatusTooManyRequests:
		return true
	case http.StatusBadRequest: // Glue's way to say it (apache/iceberg#17824)
		return strings.Contains(answer.Header.Get("x-amzn-ErrorType"), "Throttling")
	case http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return changesNothing
	}
	return false
}

// wait is how long the n-th try lets the catalog rest: as it asks, else longer each time, and never the same for two.
func wait(answer *http.Response, n int) time.Duration {
	if answer != nil {
		asked := answer.Header.Get("Retry-After")
		if seconds, err := strconv.Atoi(asked); err == nil && seconds >= 0 {
			return time.Duration(seconds)*time.Second + rand.N(100*time.Millisecond)
		}
		if at, err := http.ParseTime(asked); err == nil {
			return max(time.Until(at), 0) + rand.N(100*time.Millisecond)
		}
	}
	longest := 40 * time.Millisecond << n
	return longest/2 + rand.N(longest/2)
}

// pause reports false, at once, where the caller's time would be over before.
func pause(ctx context.Context, d time.Duration) bool {
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < d {
		return false
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
