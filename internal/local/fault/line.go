package fault

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"

	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/local/catalog"
	"github.com/frazil/frazil/internal/local/stack"
)

// Line is the way of one process to the parts. Both are at one address.
type Line struct {
	stack.Endpoints

	server *http.Server
	kill   func()
	busy   sync.RWMutex // read-locked by each request that is being served

	mu      sync.Mutex
	script  []Fault
	expire  func()            // the deadline of the invocation under way has come
	between func(path string) // what happens when the next commit has arrived and is not served yet
	late    func()            // a commit that is on its way still
	last    func()            // serves the last request to the catalog once more
}

// NewLine lays a line. kill ends the process at its end, at once and without a last word; it need not wait.
func NewLine(parts *stack.Stack, kill func()) (*Line, error) {
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	parts.Catalog.SetFault(atCatalog)
	parts.Objects.SetFault(beforeStore)
	parts.Objects.SetFaultAfter(afterStore)
	address := "http://" + listener.Addr().String()
	l := &Line{Endpoints: stack.Endpoints{Store: address, Catalog: address}, kill: kill, expire: func() {}}
	l.server = &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			l.busy.RLock()
			defer l.busy.RUnlock()
			if !strings.HasPrefix(r.URL.Path, "/v1/") {
				parts.Objects.ServeHTTP(w, r)
				return
			}
			if body, err := io.ReadAll(r.Body); err == nil {
				l.doAgain(parts.Catalog, r, body)
				r.Body = io.NopCloser(bytes.NewReader(body))
				parts.Catalog.ServeHTTP(w, r)
			}
		}),
		BaseContext: func(net.Listener) context.Context { return context.WithValue(context.Background(), end{}, l) },
	}
	go func() { _ = l.server.Serve(listener) }() // ends by Cut
	return l, nil
}

// end is the key under which a request's context has its line.
type end struct{}

func lineOf(r *http.Request) *Line {
	l, _ := r.Context().Value(end{}).(*Line)
	return l
}

// Config is a configuration by which a process is at the end of the line: its catalog main is that of the parts.
func (l *Line) Config(c *config.Config) *config.Config {
	own, main := *c, c.Catalogs["main"]
	main.URI, main.Properties = l.Catalog, maps.Clone(main.Properties)
	main.Properties["s3.endpoint"] = l.Store
	own.Catalogs = maps.Clone(c.Catalogs)
	own.Catalogs["main"] = main
	return &own
}

// Cut ends the line: what has not arrived yet never will.
func (l *Line) Cut() { _ = l.server.Close() }

// Settle waits until what has arrived is done. The process may be gone by then.
func (l *Line) Settle() {
	l.busy.Lock()
	defer l.busy.Unlock()
}

// Meet chooses the faults of the next requests, in the order in which they come about, and expire, which is called when a
// request hangs that the invocation shall not outlive.
func (l *Line) Meet(expire func(), faults ...Fault) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.script, l.expire = slices.Clone(faults), expire
}

// Between has something happen when the next commit has arrived and nothing is done about it yet. Its path ends with the
// table's name.
func (l *Line) Between(do func(path string)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.between = do
}

// arrived has a late commit be done, and runs what Between was given, once.
func (l *Line) arrived(r *http.Request, at Point) {
	if at != Commit {
		return
	}
	l.Arrive()
	l.mu.Lock()
	do := l.between
	l.between = nil
	l.mu.Unlock()
	if do != nil {
		do(r.URL.Path)
	}
}

// doAgain makes last of a request.
func (l *Line) doAgain(c *catalog.Server, r *http.Request, body []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = func() {
		late := r.Clone(context.Background()) // which is on no line
		late.Body = io.NopCloser(bytes.NewReader(body))
		c.ServeHTTP(httptest.NewRecorder(), late)
	}
}

// delay has the request at hand be done when the next commit arrives, or at Arrive.
func (l *Line) delay() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.late = l.last
}

// Arrive has a commit that is late be done.
func (l *Line) Arrive() {
	l.mu.Lock()
	late := l.late
	l.late = nil
	l.mu.Unlock()
	if late != nil {
		late()
	}
}

// Left are the faults that were not met.
func (l *Line) Left() []Fault {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.script)
}

// meet takes the next fault, if it is about that point and one of those kinds. When it kills the process, that is dead when
// meet returns.
func (l *Line) meet(r *http.Request, at Point, kinds ...Kind) Kind {
	f, expire := l.take(at, kinds)
	switch {
	case f.Kills():
		l.kill()
		<-r.Context().Done() // its connections are closed
	case f.hangs() && !f.patient():
		expire()
	}
	return f.Kind
}

func (l *Line) take(at Point, kinds []Kind) (f Fault, expire func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.script) == 0 || l.script[0].At != at || !slices.Contains(kinds, l.script[0].Kind) {
		return Fault{}, l.expire
	}
	if l.script[0].Skip > 0 {
		l.script[0].Skip--
		return Fault{}, l.expire
	}
	f, l.script = l.script[0], l.script[1:]
	return f, l.expire
}
