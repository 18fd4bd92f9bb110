package fault

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/frazil/frazil/internal/local/catalog"
)

// Point is the kind of request that a fault is about.
type Point string

// The points: uploads of a table's files, the commit and each load of the table, the upload of dead letters.
const (
	Data       Point = "data"
	Deletes    Point = "deletes"
	Manifest   Point = "manifest"
	List       Point = "list"
	Commit     Point = "commit"
	Reload     Point = "reload"
	DeadLetter Point = "dead_letter"

	// Of those who clean up: a page of a listing of files, and the removal of one.
	Listing Point = "listing"
	Removal Point = "removal"
)

// Kind is what happens to the request.
type Kind string

// The kinds. What is Then… is done before it seems to fail.
const (
	Refused     Kind = "refused"     // a commit by a conflict, all else as forbidden: proven not to be done
	Unavailable Kind = "unavailable" // 503: not done, as it happens
	Throttled   Kind = "throttled"   // as Glue throttles
	Late        Kind = "late"        // of commits: 504, and done all the same when the next commit arrives, or the invocation is over
	Then504     Kind = "applied-then-504"
	ThenReset   Kind = "applied-then-reset"
	Hang        Kind = "hang"
	ThenHang    Kind = "applied-then-hang"
	Kill        Kind = "kill" // the process ends when the request has arrived
	ThenKill    Kind = "applied-then-kill"
)

// Fault is one request answered wrongly.
type Fault struct {
	At   Point `yaml:"at"`
	Kind Kind  `yaml:"kind"`
	Skip int   `yaml:"-"` // so many such requests before it are answered as they should
}

// Points are those of a delivery, Kinds are all of them.
var (
	Points = []Point{Data, Deletes, Manifest, List, Commit, Reload, DeadLetter}
	Kinds  = []Kind{Refused, Unavailable, Throttled, Late, Then504, ThenReset, Hang, ThenHang, Kill, ThenKill}
)

// Check refuses faults that do not exist.
func (f Fault) Check() error {
	known := slices.Contains(Points, f.At) || f.At == Listing || f.At == Removal
	if !known || !slices.Contains(Kinds, f.Kind) || f.Kind == Late && f.At != Commit {
		return fmt.Errorf("a fault at %s of kind %s does not exist", f.At, f.Kind)
	}
	return nil
}

// Kills reports whether the process ends by it.
func (f Fault) Kills() bool { return f.Kind == Kill || f.Kind == ThenKill }

// Patience is the time of an invocation whose commit hangs. A commit starts with 6 seconds left and waits until 3 are.
const Patience = 12 * time.Second

// patient reports whether the invocation that meets the fault waits for its deadline.
func (f Fault) patient() bool { return f.At == Commit && f.hangs() }

func (f Fault) hangs() bool { return f.Kind == Hang || f.Kind == ThenHang }

var operations = map[catalog.Op]Point{catalog.OpCommitTable: Commit, catalog.OpLoadTable: Reload}

// atCatalog is the fault of a request to the catalog.
func atCatalog(op catalog.Op, r *http.Request) catalog.Fault {
	l, point := lineOf(r), operations[op]
	if l == nil || point == "" {
		return catalog.Fault{}
	}
	l.arrived(r, point)
	switch l.meet(r, point, Kinds...) {
	case Refused:
		return catalog.Refuse(map[Point]int{Commit: http.StatusConflict, Reload: http.StatusForbidden}[point])
	case Unavailable:
		return catalog.Refuse(http.StatusServiceUnavailable)
	case Throttled:
		return catalog.Throttle()
	case Late:
		l.delay()
		return catalog.Refuse(http.StatusGatewayTimeout)
	case Then504:
		return catalog.ApplyThenStatus(http.StatusGatewayTimeout)
	case ThenReset, ThenKill:
		return catalog.ApplyThenDrop()
	case Hang:
		return catalog.Hang()
	case ThenHang:
		return catalog.ApplyThenHang()
	case Kill:
		panic(http.ErrAbortHandler)
	}
	return catalog.Fault{}
}

// beforeStore and afterStore are the faults of an upload before and after it is done.
func beforeStore(r *http.Request) (status int, code string) {
	switch kind(r, Refused, Unavailable, Throttled, Hang, Kill, ThenKill) {
	case Refused:
		return http.StatusForbidden, "AccessDenied"
	case Unavailable, Throttled:
		return http.StatusServiceUnavailable, "SlowDown"
	case Hang:
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	case Kill:
		panic(http.ErrAbortHandler)
	}
	return 0, ""
}

func afterStore(r *http.Request) (status int, code string) {
	switch kind(r, Then504, ThenReset, ThenHang) {
	case Then504:
		return http.StatusGatewayTimeout, "InternalError"
	case ThenReset:
		panic(http.ErrAbortHandler)
	case ThenHang:
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	}
	return 0, ""
}

func kind(r *http.Request, those ...Kind) Kind {
	l := lineOf(r)
	if l == nil {
		return ""
	}
	return l.meet(r, pointOf(r), those...)
}

// pointOf tells what a request to the store is about.
func pointOf(r *http.Request) Point {
	switch {
	case r.Method == http.MethodDelete:
		return Removal
	case r.Method == http.MethodGet && r.URL.Query().Has("list-type"):
		return Listing
	case r.Method == http.MethodPut:
		return written(r.URL.Path)
	}
	return ""
}

// written tells what an object is by its name.
func written(path string) Point {
	switch name := path[strings.LastIndexByte(path, '/')+1:]; {
	case strings.HasSuffix(name, "-deletes.parquet"), strings.HasSuffix(name, ".puffin"):
		return Deletes
	case strings.HasSuffix(name, ".parquet"):
		return Data
	case strings.HasPrefix(name, "snap-"):
		return List
	case strings.HasSuffix(name, ".avro"):
		return Manifest
	case strings.HasSuffix(name, ".jsonl"):
		return DeadLetter
	}
	return ""
}
