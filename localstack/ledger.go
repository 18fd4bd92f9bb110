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
	at := endpoints(f)
	file := f.String("config", "", "the `FILE` of a configuration document whose catalogs have the TABLE, [CATALOG:]NAMESPACE.NAME, of main if it names none (default: the catalog of localstack up)")
	if err := f.Parse(args); err != nil {
		return err
	}
	own, err := owner.Open(*file, *at, o.Out)
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
