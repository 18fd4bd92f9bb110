package catalog

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
)

// Proxy stands before a catalog of somebody else and answers some of its requests wrongly.
type Proxy struct {
	next http.Handler

	mu    sync.Mutex
	fault FaultFunc
}

// NewProxy is a proxy of the catalog at an address.
func NewProxy(catalog *url.URL) *Proxy {
	return &Proxy{next: &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(catalog)
		r.Out.Host = r.In.Host // signatures are about it, and some catalogs send their clients there
	}}}
}

// SetFault installs f, which is asked about each request; nil removes it.
func (p *Proxy) SetFault(f FaultFunc) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault = f
}

// ServeHTTP passes one request on.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body) // first: only after it does net/http notice that a client went away
	if err != nil {
		writeReply(w, r, errorReply(badRequest("read request: "+err.Error())))
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	fault := p.choose(r)
	if fault.status == 0 {
		p.next.ServeHTTP(w, r)
		return
	}
	if fault.applied {
		served := &held{header: http.Header{}, status: http.StatusOK}
		p.next.ServeHTTP(served, r)
		if served.status >= http.StatusBadRequest { // a request that was refused anyway has not been applied
			served.release(w)
			return
		}
	}
	fault.answer(w, r)
}

// choose asks about requests below some prefix of the catalog's own.
func (p *Proxy) choose(r *http.Request) Fault {
	p.mu.Lock()
	f := p.fault
	p.mu.Unlock()
	_, below, ok := strings.Cut(r.URL.EscapedPath(), "/namespaces/")
	if f == nil || !ok {
		return Fault{}
	}
	plain, err := http.NewRequest(r.Method, "http://catalog/v1/namespaces/"+below, nil)
	if err != nil {
		return Fault{}
	}
	c, ok := route(plain)
	if !ok {
		return Fault{}
	}
	return f(c.op, r)
}

// held is an answer that nobody has got yet.
type held struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (h *held) Header() http.Header         { return h.header }
func (h *held) WriteHeader(status int)      { h.status = status }
func (h *held) Write(b []byte) (int, error) { return h.body.Write(b) }

func (h *held) release(w http.ResponseWriter) {
	for name, values := range h.header {
		w.Header()[name] = values
	}
	w.WriteHeader(h.status)
	_, _ = w.Write(h.body.Bytes())
}
