package lambda

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// runtimeAPI serves the process its Runtime API (version 2018-06-01) and as much of the Extensions API (2020-01-01)
// as an internal extension needs: to register and to wait for events that never come.
func (i *instance) runtimeAPI() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /2018-06-01/runtime/invocation/next", i.serveNext)
	mux.HandleFunc("POST /2018-06-01/runtime/invocation/{id}/response", i.serveResponse)
	mux.HandleFunc("POST /2018-06-01/runtime/invocation/{id}/error", i.serveError)
	mux.HandleFunc("POST /2018-06-01/runtime/init/error", i.serveInitError)
	mux.HandleFunc("POST /2020-01-01/extension/register", i.serveRegister)
	mux.HandleFunc("GET /2020-01-01/extension/event/next", func(_ http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
	})
	return mux
}

func (i *instance) serveNext(w http.ResponseWriter, r *http.Request) {
	i.becomeReady()
	select {
	case e := <-i.events:
		i.mu.Lock()
		i.current = e
		i.mu.Unlock()
		h := w.Header()
		h.Set("Content-Type", "application/json")
		h.Set("Lambda-Runtime-Aws-Request-Id", e.id)
		h.Set("Lambda-Runtime-Deadline-Ms", strconv.FormatInt(e.deadline.UnixMilli(), 10))
		h.Set("Lambda-Runtime-Invoked-Function-Arn", fmt.Sprintf("arn:aws:lambda:%s:%s:function:%s", region, account, i.options.Name))
		h.Set("Lambda-Runtime-Trace-Id", traceID(e))
		_, _ = w.Write(e.payload) // a process that is gone shows by its exit
	case <-r.Context().Done():
	}
}

func (i *instance) becomeReady() {
	i.mu.Lock()
	defer i.mu.Unlock()
	select {
	case <-i.ready:
	default:
		close(i.ready)
	}
}

// traceID is an X-Ray root made of the event's time and id.
func traceID(e *event) string {
	return fmt.Sprintf("Root=1-%08x-%s;Sampled=0", e.deadline.Unix(), strings.ReplaceAll(e.id, "-", "")[:24])
}

func (i *instance) serveResponse(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, MaxPayload+1))
	if err != nil {
		refuse(w, http.StatusBadRequest, "InvalidRequest")
		return
	}
	if len(body) > MaxPayload {
		refuse(w, http.StatusRequestEntityTooLarge, "RequestEntityTooLarge")
		i.settle(r.PathValue("id"), outcome{failed: true, body: []byte(
			`{"errorType":"Function.ResponseSizeTooLarge","errorMessage":"Response payload size exceeded maximum allowed payload size (6291456 bytes)."}`)})
		return
	}
	i.accept(w, r.PathValue("id"), outcome{body: body})
}

func (i *instance) serveError(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, MaxPayload))
	if err != nil {
		refuse(w, http.StatusBadRequest, "InvalidRequest")
		return
	}
	i.accept(w, r.PathValue("id"), outcome{body: body, failed: true})
}

func (i *instance) accept(w http.ResponseWriter, id string, o outcome) {
	if !i.settle(id, o) {
		refuse(w, http.StatusBadRequest, "InvalidRequestID")
		return
	}
	w.WriteHeader(http.StatusAccepted)
}

// settle ends the current event, if it has that id.
func (i *instance) settle(id string, o outcome) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.current == nil || i.current.id != id {
		return false
	}
	i.current.done <- o
	i.current = nil
	return true
}

func (i *instance) serveInitError(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, MaxPayload))
	if err != nil {
		refuse(w, http.StatusBadRequest, "InvalidRequest")
		return
	}
	i.mu.Lock()
	i.initErr = body
	i.mu.Unlock()
	w.WriteHeader(http.StatusAccepted)
}

func (i *instance) serveRegister(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Lambda-Extension-Identifier", uuid.NewString())
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"functionName":%q,"functionVersion":"$LATEST","handler":"bootstrap"}`, i.options.Name)
}

func refuse(w http.ResponseWriter, status int, kind string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `{"errorType":%q,"errorMessage":%q}`, kind, kind)
}
