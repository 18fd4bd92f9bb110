package catalog

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
)

// reply is an answer that is not written yet, so that a fault can take its place.
type reply struct {
	status int
	body   any // nil: no content
}

func answer(body any) reply { return reply{http.StatusOK, body} }
func noContent() reply      { return reply{http.StatusNoContent, nil} }

// statusError is a refusal of the specification's error form.
type statusError struct {
	status  int
	kind    string
	message string
}

func (e *statusError) Error() string { return e.message }

func badRequest(message string) error {
	return &statusError{http.StatusBadRequest, "BadRequestException", message}
}

func noSuchTable(id identifier) error {
	return &statusError{http.StatusNotFound, "NoSuchTableException", "table does not exist: " + id.String()}
}

func noSuchNamespace(ns namespace) error {
	return &statusError{http.StatusNotFound, "NoSuchNamespaceException", "namespace does not exist: " + ns.String()}
}

func alreadyExists(name string) error {
	return &statusError{http.StatusConflict, "AlreadyExistsException", "already exists: " + name}
}

func failure(status int, kind, message string) reply {
	type body struct {
		Message string `json:"message"`
		Type    string `json:"type"`
		Code    int    `json:"code"`
	}
	return reply{status, map[string]body{"error": {message, kind, status}}}
}

func errorReply(err error) reply {
	var refusal *statusError
	if errors.As(err, &refusal) {
		return failure(refusal.status, refusal.kind, refusal.message)
	}
	return failure(http.StatusInternalServerError, "InternalServerError", err.Error())
}

func writeReply(w http.ResponseWriter, r *http.Request, rep reply) {
	if rep.body == nil || r.Method == http.MethodHead {
		w.WriteHeader(rep.status)
		return
	}
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(rep.body); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(body.Len()))
	w.WriteHeader(rep.status)
	// The client went away: there is nobody left to tell.
	_, _ = w.Write(body.Bytes())
}
