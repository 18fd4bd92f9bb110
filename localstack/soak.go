package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"

	"github.com/frazil/frazil/internal/local/demo"
	"github.com/frazil/frazil/internal/local/soak"
)

func runSoak(ctx context.Context, o demo.Options, _ io.Reader, f *flag.FlagSet, args []string) error {
	s := soak.Options{Out: o.Out}
	f.IntVar(&s.Faulted, "n", 10_000, "how many invocations have to meet a fault")
	f.Uint64Var(&s.Seed, "seed", uint64(rand.Uint32()), "of the first round; each further one has the next")
	f.IntVar(&s.Rounds, "rounds", 0, "end after so many rounds (0: when enough faults were met)")
	if err := parse(f, args, false); err != nil {
		return err
	}
	fmt.Fprintf(o.Out, "soak of %d faulted invocations, seed %d\n", s.Faulted, s.Seed)
	err := soak.Run(ctx, s)
	switch {
	case errors.Is(err, soak.ErrDiffers):
		return errReported
	case err == nil:
		fmt.Fprintln(o.Out, "every table is as expected")
	}
	return err
}
