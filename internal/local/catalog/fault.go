package catalog

import (
	"net/http"
	"strconv"
	"sync/atomic"
)

// An Op names what a request asks for.
type Op string

// The operations that Stats counts and a FaultFunc sees.
const (
	OpConfig          Op = "config"
	OpListNamespaces  Op = "list-namespaces"
	OpCreateNamespace Op = "create-namespace"
	OpLoadNamespace   Op = "load-namespace"
	OpNamespaceExists Op = "namespace-exists"
	OpUpdateNamespace Op = "update-namespace"
	OpDropNamespace   Op = "drop-namespace"
	OpListTables      Op = "list-tables"
	OpCreateTable     Op = "create-table"
	OpRegisterTable   Op = "register-table"
	OpLoadTable       Op = "load-table"
	OpTableExists     Op = "table-exists"
	OpCommitTable     Op = "commit-table"
	OpDropTable       Op = "drop-table"
	OpRenameTable     Op = "rename-table"
	OpTransaction     Op = "transaction"
	OpMetrics         Op = "metrics"
)

// A FaultFunc chooses what goes wrong with a request. It is called concurrently.
type FaultFunc func(Op, *http.Request) Fault

// Once has the first request of an operation meet a fault. The function that chooses it may send others of its own.
func Once(op Op, choose func() Fault) FaultFunc {
	var met atomic.Bool
	return func(at Op, _ *http.Request) Fault {
		if at != op || met.Swap(true) {
			return Fault{}
		}
		return choose()
	}
}

// A Fault is one request answered wrongly. The zero Fault is none.
type Fault struct {
	applied bool
	status  int
	header  [2]string // of the answer: name and value
}

const (
	statusDrop = -1
	statusHang = -2
)

// Refuse answers with an HTTP status instead of serving the request.
func Refuse(status int) Fault { return Fault{status: status} }

// RefuseUntil answers with an HTTP status, and that the client shall wait so many seconds.
func RefuseUntil(status, seconds int) Fault {
	return Fault{status: status, header: [2]string{"Retry-After", strconv.Itoa(seconds)}}
}

// Throttle refuses a request as Glue does when there are too many: with 400, like a wrong one, and a header that tells the
// two apart.
func Throttle() Fault {
	return Fault{status: http.StatusBadRequest, header: [2]string{"x-amzn-ErrorType", "ThrottlingException"}}
}

// ApplyThenStatus serves the request and then answers with an HTTP status as if it had failed.
func ApplyThenStatus(status int) Fault { return Fault{applied: true, status: status} }

// ApplyThenDrop serves the request and then drops the connection without an answer.
func ApplyThenDrop() Fault { return Fault{applied: true, status: statusDrop} }

// Hang never serves the request: the client waits until it gives up.
func Hang() Fault { return Fault{status: statusHang} }

// ApplyThenHang serves the request and then lets the client wait until it gives up.
func ApplyThenHang() Fault { return Fault{applied: true, status: statusHang} }

// answer writes the wrong answer. A dropped connection unwinds through net/http by its own sentinel.
func (f Fault) answer(w http.ResponseWriter, r *http.Request) {
	switch f.status {
	case statusDrop:
		panic(http.ErrAbortHandler)
	case statusHang:
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	default:
		if f.header[0] != "" {
			w.Header().Set(f.header[0], f.header[1])
		}
		writeReply(w, r, failure(f.status, faultType(f.status), "injected fault"))
	}
}

// faultType is the error type that the specification gives a status where it has one.
func faultType(status int) string {
	switch status {
	case http.StatusBadRequest:
		return "BadRequestException"
	case http.StatusUnauthorized:
		return "NotAuthorizedException"
	case http.StatusForbidden:
		return "ForbiddenException"
	case http.StatusConflict:
		return "CommitFailedException"
	case http.StatusTooManyRequests:
		return "TooManyRequestsException"
	case http.StatusServiceUnavailable:
		return "ServiceUnavailableException"
	}
	return "CommitStateUnknownException"
}
