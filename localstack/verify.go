package main

import (
	"context"
	"errors"
	"flag"
	"io"

	"github.com/frazil/frazil/internal/local/demo"
	"github.com/frazil/frazil/internal/local/owner"
	"github.com/frazil/frazil/internal/local/verify"
)

// runVerify compares a table with what it mirrors.
func runVerify(ctx context.Context, o demo.Options, _ io.Reader, f *flag.FlagSet, args []string) error {
	at := endpoints(f)
	file := f.String("config", "", "the `FILE` of a configuration document with the catalog of the TABLE and, for a replay, its routes and sources (without a replay the default is the catalog of localstack up)")
	dsn := f.String("dsn", "", "compare with a database: postgres://USER:PASSWORD@HOST:PORT/DATABASE or mysql://…")
	source := f.String("source", "", "with -dsn: the database's table, `SCHEMA.NAME`")
	if err := f.Parse(args); err != nil {
		return err
	}
	if f.NArg() != 1 || (*dsn == "") != (*source == "") {
		f.Usage()
		return errReported
	}
	if *file == "" && *dsn == "" {
		return errors.New("verify: a replay needs -config, for the routes of the table and the brokers of their sources; a comparison with a database needs -dsn and -source")
	}
	c, err := owner.Configuration(*file, *at)
	if err != nil {
		return err
	}
	equal, err := verify.Run(ctx, verify.Options{Config: c, Table: owner.TableName(f.Arg(0)), DSN: *dsn, Source: *source}, o.Out)
	if err == nil && !equal {
		err = errReported
	}
	return err
}
