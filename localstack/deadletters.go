package main

import (
	"context"
	"flag"
	"io"

	"github.com/frazil/frazil/internal/local/demo"
	"github.com/frazil/frazil/internal/local/stack"
)

func runDeadLetters(ctx context.Context, o demo.Options, _ io.Reader, f *flag.FlagSet, args []string) error {
	store := f.String("store", stack.Fixed().Store, "the S3 endpoint; empty: AWS's, as the environment says")
	from := f.String("from", "s3://"+stack.Bucket+"/dead", "where the letters are, as dead_letter says")
	record := f.String("show", "", "print the letter of one record, topic/partition/offset, with key and value")
	if err := parse(f, args, false); err != nil {
		return err
	}
	return demo.Letters(ctx, o, *store, *from, *record)
}
