package catalog

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	iceio "github.com/apache/iceberg-go/io"
)

// A Store holds metadata files by address. Any iceberg-go file IO that reads and writes whole files is one.
type Store interface {
	iceio.ReadFileIO
	iceio.WriteFileIO
}

// Server is an Iceberg REST catalog. It is safe for concurrent use.
//
// Entries are immutable: a change computes a new entry without a lock and then swaps it in if the old one is still
// there, so writers of different tables do not wait for each other's files.
type Server struct {
	warehouse string
	store     Store

	handlers map[Op]func(*call) (reply, error)

	mu         sync.Mutex
	namespaces map[string]map[string]string
	tables     map[string]*entry
	requests   map[Op]int
	fault      FaultFunc
	profile    Profile
}

// New returns an empty catalog that places tables without a location of their own under warehouse
// ("s3://bucket/prefix") and keeps metadata files in store.
func New(warehouse string, store Store) *Server {
	s := &Server{
		warehouse:  strings.TrimRight(warehouse, "/"),
		store:      store,
		namespaces: map[string]map[string]string{},
		tables:     map[string]*entry{},
		requests:   map[Op]int{},
	}
	s.handlers = s.handlersByOp()
	return s
}

// SetFault installs f, which is asked about each request; nil removes it.
func (s *Server) SetFault(f FaultFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = f
}

// Stats returns how many requests were received, by operation.
func (s *Server) Stats() map[Op]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.requests)
}

// call is a routed request with its body read.
type call struct {
	*http.Request
	op        Op
	namespace namespace
	table     string
	body      []byte
}

func (c *call) identifier() identifier { return identifier{c.namespace, c.table} }

// decode reads the JSON body into v.
func (c *call) decode(v any) error {
	if err := json.Unmarshal(c.body, v); err != nil {
		return badRequest("decode request: " + err.Error())
	}
	return nil
}

// ServeHTTP answers one catalog request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// The body goes first: only after it does net/http notice that a client went away, which ends a hanging request.
	body, err := io.ReadAll(r.Body)
	if err != nil {
		writeReply(w, r, errorReply(badRequest("read request: "+err.Error())))
		return
	}
	c, ok := route(r)
	if !ok {
		writeReply(w, r, failure(http.StatusNotFound, "NotFoundException", "no such route"))
		return
	}
	c.body = body
	fault := s.count(c)
	if fault.status != 0 && !fault.applied {
		fault.answer(w, r)
		return
	}
	rep := s.serve(c)
	// A request that was refused anyway has not been applied: its own answer stands.
	if fault.status != 0 && rep.status < http.StatusBadRequest {
		fault.answer(w, r)
		return
	}
	writeReply(w, r, rep)
}

func (s *Server) count(c *call) Fault {
	s.mu.Lock()
	s.requests[c.op]++
	f := s.fault
	s.mu.Unlock()
	if f == nil {
		return Fault{}
	}
	return f(c.op, c.Request)
}

func (s *Server) serve(c *call) reply {
	err := s.is().refuses(c)
	var rep reply
	if err == nil {
		rep, err = s.handlers[c.op](c)
	}
	if err != nil {
		return errorReply(err)
	}
	return rep
}

func (s *Server) handlersByOp() map[Op]func(*call) (reply, error) {
	return map[Op]func(*call) (reply, error){
		OpConfig:          s.config,
		OpListNamespaces:  s.listNamespaces,
		OpCreateNamespace: s.createNamespace,
		OpLoadNamespace:   s.loadNamespace,
		OpNamespaceExists: s.loadNamespace,
		OpUpdateNamespace: s.updateNamespace,
		OpDropNamespace:   s.dropNamespace,
		OpListTables:      s.listTables,
		OpCreateTable:     s.createTable,
		OpRegisterTable:   s.registerTable,
		OpLoadTable:       s.loadTable,
		OpTableExists:     s.tableExists,
		OpCommitTable:     s.commitTable,
		OpDropTable:       s.dropTable,
		OpRenameTable:     s.renameTable,
		OpTransaction:     s.transaction,
		OpMetrics:         func(*call) (reply, error) { return noContent(), nil },
	}
}

// routes maps a method and the shape of a path below /v1 to an operation; * stands for one escaped segment, first
// the namespace, then the table.
var routes = map[string]Op{
	"GET config":                         OpConfig,
	"GET namespaces":                     OpListNamespaces,
	"POST namespaces":                    OpCreateNamespace,
	"GET namespaces/*":                   OpLoadNamespace,
	"HEAD namespaces/*":                  OpNamespaceExists,
	"DELETE namespaces/*":                OpDropNamespace,
	"POST namespaces/*/properties":       OpUpdateNamespace,
	"GET namespaces/*/tables":            OpListTables,
	"POST namespaces/*/tables":           OpCreateTable,
	"POST namespaces/*/register":         OpRegisterTable,
	"GET namespaces/*/tables/*":          OpLoadTable,
	"HEAD namespaces/*/tables/*":         OpTableExists,
	"POST namespaces/*/tables/*":         OpCommitTable,
	"DELETE namespaces/*/tables/*":       OpDropTable,
	"POST namespaces/*/tables/*/metrics": OpMetrics,
	"POST tables/rename":                 OpRenameTable,
	"POST transactions/commit":           OpTransaction,
}

func route(r *http.Request) (*call, bool) {
	path, ok := strings.CutPrefix(r.URL.EscapedPath(), "/v1/")
	if !ok {
		return nil, false
	}
	segments := strings.Split(strings.TrimSuffix(path, "/"), "/")
	c := &call{Request: r}
	if segments[0] == "namespaces" && len(segments) > 1 {
		levels, err := url.PathUnescape(segments[1])
		if err != nil || levels == "" {
			return nil, false
		}
		c.namespace, segments[1] = strings.Split(levels, separator), "*"
	}
	if segments[0] == "namespaces" && len(segments) > 3 {
		name, err := url.PathUnescape(segments[3])
		if err != nil || name == "" {
			return nil, false
		}
		c.table, segments[3] = name, "*"
	}
	c.op, ok = routes[r.Method+" "+strings.Join(segments, "/")]
	return c, ok
}

func (s *Server) config(*call) (reply, error) {
	return answer(map[string]any{
		"defaults": map[string]string{}, "overrides": map[string]string{}, "endpoints": endpoints(s.is().Lacks),
	}), nil
}

// endpoints lists the routes in the specification's notation; clients use what is listed only.
func endpoints(lacks []Op) []string {
	var list []string
	for shape, op := range routes {
		method, path, _ := strings.Cut(shape, " ")
		if path == "config" || slices.Contains(lacks, op) {
			continue
		}
		path = strings.Replace(path, "*", "{namespace}", 1)
		path = strings.Replace(path, "*", "{table}", 1)
		list = append(list, method+" /v1/{prefix}/"+path)
	}
	return list
}
