package main

import (
	"context"
	"flag"
	"io"

	"github.com/frazil/frazil/internal/local/demo"
	"github.com/frazil/frazil/internal/local/owner"
)

// runLedger shows a table's ledger, or changes it on its owner's word.
func runLedger(ctx context.Context, o demo.Options, _ io.Reader, f *flag.FlagSet, args []string) error {
	open := owners(o, f)
	if err := f.Parse(args); err != nil {
		return err
	}
	verb := f.Arg(0)
	if verb != "set" && verb != "accept" {
		verb = ""
	} else if err := f.Parse(f.Args()[1:]); err != nil { // flags may stand before the verb and behind it
		return err
	}
	own, err := open()
	if err != nil {
		return err
	}
	switch args = f.Args(); {
	case verb == "" && len(args) == 1:
		return own.Ledger(ctx, args[0])
	case verb == "set" && len(args) >= 3:
		return own.SetLedger(ctx, args[0], args[1], args[2:])
	case verb == "accept" && len(args) == 1:
		return own.AcceptLedger(ctx, args[0])
	}
	f.Usage()
	return errReported
}

// owners defines the flags that say where the tables are. What it returns opens them, once the flags are parsed.
func owners(o demo.Options, f *flag.FlagSet) (open func() (*owner.Owner, error)) {
	at, file := configured(f)
	return func() (*owner.Owner, error) {
		c, err := owner.Configuration(*file, *at)
		if err != nil {
			return nil, err
		}
		return owner.Open(c, o.Out)
	}
}

// runHealth shows what a table's readers pay.
func runHealth(ctx context.Context, o demo.Options, _ io.Reader, f *flag.FlagSet, args []string) error {
	open := owners(o, f)
	if err := f.Parse(args); err != nil {
		return err
	}
	if f.NArg() != 1 {
		f.Usage()
		return errReported
	}
	own, err := open()
	if err != nil {
		return err
	}
	return own.Health(ctx, f.Arg(0))
}
