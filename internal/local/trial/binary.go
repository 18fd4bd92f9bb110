package trial

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/frazil/frazil/internal/local/fault"
	"github.com/frazil/frazil/internal/local/lambda"
)

// binary is a function behind a Runtime API, whose processes are killed by SIGKILL.
type binary struct {
	*lambda.Function
	trial *Trial
	line  *fault.Line
}

// Deployed starts functions of a built binary: merge's, which get events, or, with a broker, drain's.
func (t *Trial) Deployed(bootstrap string) func(context.Context) (Process, error) {
	return func(ctx context.Context) (Process, error) {
		b := &binary{trial: t}
		var err error
		if b.line, err = fault.NewLine(t.Parts, func() { b.Function.Kill() }); err != nil {
			return nil, err
		}
		document := fmt.Sprintf("{catalogs: {main: {uri: %q, warehouse: %q}}, %s}", b.line.Catalog, t.Parts.CatalogConfig().Warehouse, strings.Join(t.document(), ", "))
		const memory = 512
		b.Function, err = lambda.Start(ctx, lambda.Options{
			Bootstrap: bootstrap, Timeout: time.Minute, MemoryMB: memory, Env: append(b.line.Env(), "FRAZIL_CONFIG="+document),
		})
		return b, err
	}
}

func (b *binary) Deliver(ctx context.Context, steps []Step, faults ...fault.Fault) error {
	event := Event(steps)
	if b.trial.Kafka {
		event = []byte("{}")
		if err := b.trial.Produce(ctx, steps); err != nil {
			return err
		}
	}
	b.line.Meet(func() {}, faults...)
	result, err := b.Function.Invoke(ctx, event)
	b.line.Settle()
	if err == nil && result.FunctionError != nil {
		err = result.FunctionError
	}
	if left := b.line.Left(); len(left) > 0 {
		return &fault.Unmet{Faults: left, Result: err}
	}
	return err
}

func (b *binary) Kill() {
	b.Function.Kill()
	b.Close()
	b.line.Cut()
}
