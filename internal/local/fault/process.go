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

// Process is a process of frazil, without a binary: a pipeline at the end of a line. It takes one invocation at a time.
type Process struct {
	*Line
	pipeline *ingest.Pipeline

	life context.Context
	end  context.CancelCauseFunc
}

// ErrKilled is an invocation whose process ended.
var ErrKilled = errors.New("the process was killed")

// Unmet is an invocation that came to its end without all of its faults.
type Unmet struct {
	Faults []Fault
	Result error // its own
}

func (e *Unmet) Error() string {
	return fmt.Sprintf("the invocation met no such request: %v (its result: %v)", e.Faults, e.Result)
}

// Start begins a process with a configuration whose catalog main is that of the parts, as CatalogConfig says it.
func Start(parts *stack.Stack, c *config.Config) (*Process, error) {
	p := &Process{}
	p.life, p.end = context.WithCancelCause(context.Background())
	line, err := NewLine(parts, p.Kill)
	if err != nil {
		return nil, err
	}
	p.Line = line
	if p.pipeline, err = ingest.New(line.Config(c), slog.New(slog.DiscardHandler)); err != nil {
		line.Cut()
		return nil, err
	}
	return p, nil
}

// Kill ends the process. Nothing that it still does gets to the parts.
func (p *Process) Kill() {
	p.Cut()
	p.end(ErrKilled)
}

// Dead reports whether the process was killed.
func (p *Process) Dead() bool { return p.life.Err() != nil }

// Invoke does what the function does with an event, and meets faults on the way. It is ErrKilled where one of them ended
// the process, and an *Unmet where the invocation came to its end without all of them.
func (p *Process) Invoke(ctx context.Context, event []byte, faults ...Fault) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for _, f := range faults {
		if f.patient() {
			ctx, cancel = context.WithTimeout(ctx, Patience)
			defer cancel()
		}
	}
	defer context.AfterFunc(p.life, cancel)()
	p.Meet(cancel, faults...)
	err := p.pipeline.Event(ctx, bytes.Clone(event))
	p.Settle()
	p.Arrive()
	if p.Dead() {
		return ErrKilled
	}
	if left := p.Left(); len(left) > 0 {
		return &Unmet{left, err}
	}
	return err
}
