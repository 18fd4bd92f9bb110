// Package meter counts what a process asks of the embedded store and catalog, and can make them as far away as they are
// in a region.
//
// Both are at one address, over HTTP. What code in this process does with the objects directly is not counted.
package meter

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/frazil/frazil/internal/local/stack"
)

// Counts is what was asked for.
type Counts struct {
	// Requests by what they are: the store's by method, LIST, and MULTIPART for the parts of an upload; CATALOG.
	Requests map[string]int `json:"requests"`
	Read     int64          `json:"read"`    // bytes of answers by the store
	Written  int64          `json:"written"` // bytes of requests to the store
	// Rounds is the length of the longest chain of requests of which each began after the one before it was answered.
	// Without latency, requests that were sent together may count as a chain: one may be over before the next begins.
	Rounds int `json:"rounds"`
}

// Sum is the number of all requests.
func (c Counts) Sum() (n int) {
	for _, k := range c.Requests {
		n += k
	}
	return n
}

// Meter stands before the parts.
type Meter struct {
	stack.Endpoints
	parts  *stack.Stack
	server *http.Server

	mu      sync.Mutex
	latency time.Duration
	counts  Counts
}

// Start puts a meter before parts, at a free port.
func Start(parts *stack.Stack) (*Meter, error) {
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := "http://" + l.Addr().String()
	m := &Meter{Endpoints: stack.Endpoints{Store: address, Catalog: address}, parts: parts}
	m.server = &http.Server{Handler: m}
	m.Take()
	go func() { _ = m.server.Serve(l) }() // ends by Close
	return m, nil
}

// Close ends the meter, not the parts.
func (m *Meter) Close() { _ = m.server.Close() }

// SetLatency is how long each request waits before it is served.
func (m *Meter) SetLatency(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.latency = d
}

// Take returns what was counted since it was called last.
func (m *Meter) Take() Counts {
	m.mu.Lock()
	defer m.mu.Unlock()
	taken := m.counts
	m.counts = Counts{Requests: map[string]int{}}
	return taken
}

// ServeHTTP passes one request on.
func (m *Meter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	catalog := strings.HasPrefix(r.URL.Path, "/v1/")
	a := &answer{ResponseWriter: w, meter: m}
	var wait time.Duration
	a.round, wait = m.begin(kind(r, catalog))
	if wait > 0 {
		select {
		case <-time.After(wait):
		case <-r.Context().Done():
		}
	}
	if catalog {
		m.parts.Catalog.ServeHTTP(a, r)
		return
	}
	body := &counted{ReadCloser: r.Body}
	r.Body = body
	m.parts.Objects.ServeHTTP(a, r)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.counts.Read += a.n
	m.counts.Written += body.n
}

func kind(r *http.Request, catalog bool) string {
	_, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	switch q := r.URL.Query(); {
	case catalog:
		return "CATALOG"
	case q.Has("uploads") || q.Has("uploadId"):
		return "MULTIPART"
	case r.Method == http.MethodPost && q.Has("delete"):
		return http.MethodDelete
	case r.Method == http.MethodGet && key == "":
		return "LIST"
	}
	return r.Method
}

// begin counts a request and returns the round that it is of.
func (m *Meter) begin(kind string) (round int, wait time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.counts.Requests[kind]++
	return m.counts.Rounds + 1, m.latency
}

// answer ends its request's round before the first byte of the answer leaves: what the client sends after it is of a
// later one.
type answer struct {
	http.ResponseWriter
	meter *Meter
	round int
	n     int64
}

func (a *answer) WriteHeader(status int) {
	a.end()
	a.ResponseWriter.WriteHeader(status)
}

func (a *answer) Write(b []byte) (int, error) {
	a.end()
	n, err := a.ResponseWriter.Write(b)
	a.n += int64(n)
	return n, err
}

func (a *answer) end() {
	a.meter.mu.Lock()
	defer a.meter.mu.Unlock()
	a.meter.counts.Rounds = max(a.meter.counts.Rounds, a.round)
}

type counted struct {
	io.ReadCloser
	n int64
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.ReadCloser.Read(b)
	c.n += int64(n)
	return n, err
}
