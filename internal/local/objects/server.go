package objects

import (
	"encoding/xml"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A FaultFunc may answer a request in the server's place: with an HTTP status and an S3 error code, or with status
// 0 to let the request pass. It may block until the request's context ends, which is how a request hangs, and may
// panic with http.ErrAbortHandler, which drops the connection.
type FaultFunc func(*http.Request) (status int, code string)

// Server is an S3 endpoint in memory. It is safe for concurrent use.
type Server struct {
	mu         sync.Mutex
	buckets    map[string]map[string]*object
	uploads    map[string]*upload
	lastUpload int
	requests   map[string]int
	fault      FaultFunc
	faultAfter FaultFunc
	keeps      bool
}

// New returns a server with the named buckets, all empty.
func New(buckets ...string) *Server {
	s := &Server{
		buckets:  map[string]map[string]*object{},
		uploads:  map[string]*upload{},
		requests: map[string]int{},
	}
	for _, name := range buckets {
		s.buckets[name] = map[string]*object{}
	}
	return s
}

// SetFault installs f, which is asked about each request before it takes effect; nil removes it.
func (s *Server) SetFault(f FaultFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = f
}

// SetFaultAfter installs f, which is asked about each request after it took effect: a lost answer. Nil removes it.
func (s *Server) SetFaultAfter(f FaultFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faultAfter = f
}

// KeepAll makes the server refuse to delete and to list objects, as a table bucket of S3 Tables does.
func (s *Server) KeepAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keeps = true
}

// Stats returns how many requests were received over HTTP, by method; listings count as LIST instead of GET.
func (s *Server) Stats() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.requests)
}

// request is an HTTP request whose body has been read, unframed and verified.
type request struct {
	*http.Request
	bucket, key string
	query       url.Values
	body        []byte
	sums        map[string]string
}

func (r *request) has(parameter string) bool { return r.query.Has(parameter) }

// response is an answer that is written once the server's lock is released.
type response struct {
	status int
	header http.Header
	body   []byte
	xml    any
}

// apiError is an answer of S3's error form.
type apiError struct {
	status int
	code   string
	header http.Header
}

func (e *apiError) Error() string { return e.code }

func refuse(status int, code string) *apiError { return &apiError{status: status, code: code} }

// ServeHTTP answers one S3 request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// The body goes first: only after it does net/http notice that a client went away, which ends a hanging request.
	body, sums, err := readBody(r)
	req := parse(r, body, sums)
	fault, faultAfter := s.count(req)
	if refused(w, r, fault) {
		return
	}
	var resp *response
	if err == nil {
		resp, err = s.handle(req)
	}
	if refused(w, r, faultAfter) {
		return
	}
	if err != nil {
		writeError(w, r, err)
		return
	}
	resp.write(w, r)
}

func parse(r *http.Request, body []byte, sums map[string]string) *request {
	bucket, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	return &request{Request: r, bucket: bucket, key: key, query: r.URL.Query(), body: body, sums: sums}
}

func (s *Server) count(r *request) (fault, faultAfter FaultFunc) {
	kind := r.Method
	if kind == http.MethodGet && r.key == "" {
		kind = "LIST"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests[kind]++
	return s.fault, s.faultAfter
}

func refused(w http.ResponseWriter, r *http.Request, f FaultFunc) bool {
	if f == nil {
		return false
	}
	status, code := f(r)
	if status == 0 {
		return false
	}
	writeError(w, r, refuse(status, code))
	return true
}

func (s *Server) handle(r *request) (*response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case r.bucket == "":
		return s.listBuckets(), nil
	case r.key == "" && r.Method == http.MethodPut:
		return s.createBucket(r.bucket)
	}
	objects, ok := s.buckets[r.bucket]
	if !ok {
		return nil, refuse(http.StatusNotFound, "NoSuchBucket")
	}
	listing := r.key == "" && r.Method == http.MethodGet && !r.has("location")
	if s.keeps && (listing || r.Method == http.MethodDelete || r.key == "" && r.has("delete")) {
		return nil, refuse(http.StatusMethodNotAllowed, "MethodNotAllowed")
	}
	if r.key == "" {
		return s.handleBucket(r, objects)
	}
	return s.handleObject(r, objects)
}

func (s *Server) handleBucket(r *request, objects map[string]*object) (*response, error) {
	switch {
	case r.Method == http.MethodHead:
		return &response{status: http.StatusOK}, nil
	case r.Method == http.MethodDelete:
		return s.deleteBucket(r.bucket)
	case r.Method == http.MethodPost && r.has("delete"):
		return deleteMany(r, objects)
	case r.Method == http.MethodGet && r.has("uploads"):
		return s.listUploads(r.bucket), nil
	case r.Method == http.MethodGet && r.has("location"):
		return &response{xml: struct {
			XMLName xml.Name `xml:"LocationConstraint"`
		}{}}, nil
	case r.Method == http.MethodGet:
		return list(r, objects)
	}
	return nil, refuse(http.StatusNotImplemented, "NotImplemented")
}

func (s *Server) handleObject(r *request, objects map[string]*object) (*response, error) {
	switch {
	case r.Method == http.MethodPost && r.has("uploads"):
		return s.createUpload(r), nil
	case r.has("uploadId"):
		return s.handleUpload(r, objects)
	case r.Method == http.MethodPut && r.Header.Get("X-Amz-Copy-Source") != "":
		return s.copyObject(r, objects)
	case r.Method == http.MethodPut:
		return putObject(r, objects)
	case r.Method == http.MethodDelete:
		delete(objects, r.key)
		return &response{status: http.StatusNoContent}, nil
	case r.Method == http.MethodGet || r.Method == http.MethodHead:
		return getObject(r, objects[r.key])
	}
	return nil, refuse(http.StatusNotImplemented, "NotImplemented")
}

func (s *Server) listBuckets() *response {
	type bucket struct{ Name, CreationDate string }
	var result struct {
		XMLName xml.Name `xml:"ListAllMyBucketsResult"`
		Buckets struct{ Bucket []bucket }
	}
	for _, name := range slices.Sorted(maps.Keys(s.buckets)) {
		result.Buckets.Bucket = append(result.Buckets.Bucket, bucket{name, timestamp(time.Unix(0, 0))})
	}
	return &response{xml: result}
}

func (s *Server) createBucket(name string) (*response, error) {
	if _, ok := s.buckets[name]; ok {
		return nil, refuse(http.StatusConflict, "BucketAlreadyOwnedByYou")
	}
	s.buckets[name] = map[string]*object{}
	return &response{status: http.StatusOK}, nil
}

func (s *Server) deleteBucket(name string) (*response, error) {
	if len(s.buckets[name]) > 0 {
		return nil, refuse(http.StatusConflict, "BucketNotEmpty")
	}
	delete(s.buckets, name)
	return &response{status: http.StatusNoContent}, nil
}

func (resp *response) write(w http.ResponseWriter, r *http.Request) {
	maps.Copy(w.Header(), resp.header)
	if resp.xml != nil {
		writeXML(w, http.StatusOK, resp.xml)
		return
	}
	w.WriteHeader(resp.status)
	if r.Method != http.MethodHead {
		// The client went away: there is nobody left to tell.
		_, _ = w.Write(resp.body)
	}
}

func writeError(w http.ResponseWriter, r *http.Request, err error) {
	answer := refuse(http.StatusInternalServerError, "InternalError")
	errors.As(err, &answer)
	maps.Copy(w.Header(), answer.header)
	if answer.status == http.StatusNotModified || r.Method == http.MethodHead {
		w.WriteHeader(answer.status)
		return
	}
	writeXML(w, answer.status, struct {
		XMLName                 xml.Name `xml:"Error"`
		Code, Message, Resource string
	}{Code: answer.code, Message: answer.code, Resource: r.URL.Path})
}

func writeXML(w http.ResponseWriter, status int, v any) {
	body, err := xml.Marshal(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/xml")
	w.Header().Set("Content-Length", strconv.Itoa(len(xml.Header)+len(body)))
	w.WriteHeader(status)
	_, _ = io.WriteString(w, xml.Header)
	_, _ = w.Write(body)
}
