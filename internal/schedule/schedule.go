// Package schedule is the life of work that is done again and again: by a function that a schedule of Lambda's invokes, or by a
// process of its own.
package schedule

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Work is what is done. It logs what fails.
type Work interface {
	// Run works as far as the time of ctx goes. It begins nothing more when stop is closed.
	Run(ctx context.Context, stop <-chan struct{}) error
	// Interval is the time from the beginning of one run to that of the next.
	Interval() time.Duration
}

// Flags reads the arguments of a process: whether it is to follow. On Lambda an image may name a handler there.
func Flags() (follow bool) {
	flag.BoolVar(&follow, "follow", false, "outside Lambda: run again and again until SIGTERM")
	flag.Usage = func() {
		fmt.Fprintf(flag.CommandLine.Output(), "usage: %s [-follow]\nWhat is to be done stands in the configuration that FRAZIL_CONFIG names.\n", os.Args[0])
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() > 0 && !OnLambda(os.Environ()) {
		fmt.Fprintf(os.Stderr, "there is no argument %q\n", flag.Arg(0))
		flag.Usage()
		os.Exit(2)
	}
	return follow
}

// OnLambda reports whether a process with this environment is one of Lambda's.
func OnLambda(environ []string) bool {
	return slices.ContainsFunc(environ, func(v string) bool { return strings.HasPrefix(v, "AWS_LAMBDA_RUNTIME_API=") })
}

// lastWords is what is kept of an invocation's time for saying why it has failed: at its end Lambda kills the process.
const lastWords = 300 * time.Millisecond

// Invocation works once, in the time of an invocation.
func Invocation(ctx context.Context, w Work) error {
	if at, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, at.Add(-lastWords))
		defer cancel()
	}
	return w.Run(ctx, nil)
}

// Process works once or, to follow, again and again. After a first SIGTERM it begins nothing more, a second one ends it.
func Process(w Work, follow bool) error {
	asked, forget := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer forget()
	context.AfterFunc(asked, forget)
	if follow {
		Follow(context.Background(), w, asked.Done())
		return nil
	}
	return w.Run(context.Background(), asked.Done())
}

// Follow works again and again until stop is closed. What fails the next run tries again.
func Follow(ctx context.Context, w Work, stop <-chan struct{}) {
	for {
		next := time.After(w.Interval())
		_ = w.Run(ctx, stop) // it has logged
		select {
		case <-next:
		case <-stop:
			return
		case <-ctx.Done():
			return
		}
	}
}
