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
	own, err := openOwner(o, f, args)
	if err != nil {
		return err
	}
	args = f.Args()
	switch {
	case len(args) == 1:
		return own.Ledger(ctx, args[0])
	case len(args) >= 4 && args[0] == "set":
		return own.SetLedger(ctx, args[1], args[2], args[3:])
	case len(args) == 2 && args[0] == "accept":
		return own.AcceptLedger(ctx, args[1])
	}
	f.Usage()
	return errReported
}

// openOwner takes the flags that say where the tables are.
func openOwner(o demo.Options, f *flag.FlagSet, args []string) (*owner.Owner, error) {
	at := endpoints(f)
	file := f.String("config", "", "the `FILE` of a configuration document whose catalogs have the TABLE, [CATALOG:]NAMESPACE.NAME, of main if it names none (default: the catalog of localstack up)")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	return owner.Open(*file, *at, o.Out)
}

// runHealth shows what a table's readers pay.
func runHealth(ctx context.Context, o demo.Options, _ io.Reader, f *flag.FlagSet, args []string) error {
	own, err := openOwner(o, f, args)
	switch {
	case err != nil:
		return err
	case f.NArg() != 1:
		f.Usage()
		return errReported
	}
	return own.Health(ctx, f.Arg(0))
}
