package fault

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/ingest"
	"github.com/frazil/frazil/internal/local/stack"
)

// Life is that of a process without a binary, at the end of a line. It does one piece of work at a time.
type Life struct {
	*Line
	life context.Context
	end  context.CancelCauseFunc
}

// Process is a process of merge's: a pipeline.
type Process struct {
	*Life
	pipeline *ingest.Pipeline
}

// ErrKilled is an invocation whose process ended.
var ErrKilled = errors.New("the process was killed")

// Unmet is work that came to its end without all of its faults.
type Unmet struct {
	Faults []Fault
	Result error // its own
}

func (e *Unmet) Error() string {
	return fmt.Sprintf("the invocation met no such request: %v (its result: %v)", e.Faults, e.Result)
}

// Start begins a process with a configuration whose catalog main is that of the parts, as CatalogConfig says it.
func Start(parts *stack.Stack, c *config.Config) (*Process, error) {
	life, err := Begin(parts)
	if err != nil {
		return nil, err
	}
	p := &Process{Life: life}
	if p.pipeline, err = ingest.New(life.Config(c), slog.New(slog.DiscardHandler)); err != nil {
		life.Cut()
		return nil, err
	}
	return p, nil
}

// Invoke does what the function does with an event, as Work.
func (p *Process) Invoke(ctx context.Context, event []byte, faults ...Fault) error {
	return p.Work(ctx, func(ctx context.Context) error { return p.pipeline.Event(ctx, bytes.Clone(event)) }, faults...)
}

// Begin begins a life.
func Begin(parts *stack.Stack) (l *Life, err error) {
	l = &Life{}
	l.life, l.end = context.WithCancelCause(context.Background())
	l.Line, err = NewLine(parts, l.Kill)
	return l, err
}

// Kill ends the process. Nothing that it still does gets to the parts.
func (l *Life) Kill() {
	l.Cut()
	l.end(ErrKilled)
}

// Dead reports whether the process was killed.
func (l *Life) Dead() bool { return l.life.Err() != nil }

// Work works, and meets faults on the way. It is ErrKilled where one of them ended the process, and an *Unmet where the work came to
// its end without all of them.
func (l *Life) Work(ctx context.Context, work func(context.Context) error, faults ...Fault) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for _, f := range faults {
		if f.patient() {
			ctx, cancel = context.WithTimeout(ctx, Patience)
			defer cancel()
		}
	}
	defer context.AfterFunc(l.life, cancel)()
	l.Meet(cancel, faults...)
	err := work(ctx)
	l.Settle()
	l.Arrive()
	if l.Dead() {
		return ErrKilled
	}
	if left := l.Left(); len(left) > 0 {
		return &Unmet{left, err}
	}
	return err
}
