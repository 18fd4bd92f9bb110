package main

import (
	"context"
	"os"
	"sync"
	"time"
)

// Lambda asks a process to end with SIGTERM and kills it 500 ms later. What runs then has grace to end, and the process
// what is left to exit.
const (
	grace = 400 * time.Millisecond
	leave = 50 * time.Millisecond
)

// lastWords is what is kept of an invocation's time for saying why it has failed: at its end Lambda kills the process.
const lastWords = 300 * time.Millisecond

// lifetime ends the process cleanly. An invocation that runs sees its deadline come near: it starts no commit any more, and
// one that is under way may still be answered.
type lifetime struct {
	busy sync.Mutex // held by the invocation that runs

	mu   sync.Mutex
	last time.Time     // when an invocation has to be over; zero: nobody has asked
	over chan struct{} // closed when somebody asks
}

func newLifetime() *lifetime { return &lifetime{over: make(chan struct{})} }

// during runs one invocation.
func (l *lifetime) during(ctx context.Context, invocation func(context.Context) error) error {
	l.busy.Lock()
	defer l.busy.Unlock()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if at, ok := ctx.Deadline(); ok {
		ctx, cancel = context.WithDeadline(ctx, at.Add(-lastWords))
		defer cancel()
	}
	go func() {
		select {
		case <-l.over:
			time.AfterFunc(grace, cancel)
		case <-ctx.Done():
		}
	}()
	return invocation(mortal{ctx, l})
}

// end is called on SIGTERM, and ends the process.
func (l *lifetime) end() {
	l.mu.Lock()
	l.last = time.Now().Add(grace)
	l.mu.Unlock()
	close(l.over)
	idle := make(chan struct{})
	go func() {
		l.busy.Lock() // for good: no further invocation begins
		close(idle)
	}()
	select {
	case <-idle:
	case <-time.After(grace + leave):
	}
	os.Exit(0)
}

// mortal is an invocation's context, whose deadline moves when the process has to end.
type mortal struct {
	context.Context
	life *lifetime
}

func (m mortal) Deadline() (time.Time, bool) {
	m.life.mu.Lock()
	last := m.life.last
	m.life.mu.Unlock()
	at, ok := m.Context.Deadline()
	if !last.IsZero() && (!ok || last.Before(at)) {
		return last, true
	}
	return at, ok
}
