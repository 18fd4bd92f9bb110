// Package parts runs the real programs that tests of .ci/interop need, as long as a test lasts. A test whose part is missing
// fails.
package parts

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"
)

// startTime is how long a part may take until it answers: machines of continuous integration are busy.
const startTime = 3 * time.Minute

// Part is a running program.
type Part struct {
	t     *testing.T
	run   *exec.Cmd
	said  output
	ended chan struct{}
}

// Start runs a program until the test ends, or Stop, and waits until it answers. Of the environment it inherits only the path.
func Start(t *testing.T, c *exec.Cmd, answers func(context.Context) error) *Part {
	t.Helper()
	if c.Err != nil {
		t.Fatalf("a part is not installed: %v", c.Err)
	}
	p := &Part{t: t, run: c, ended: make(chan struct{})}
	c.Stdout, c.Stderr = &p.said, &p.said
	if c.Dir == "" {
		c.Dir = t.TempDir()
	}
	c.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + c.Dir}, c.Env...)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = c.Wait()
		close(p.ended)
	}()
	t.Cleanup(func() {
		p.Stop(os.Kill)
		if t.Failed() {
			t.Logf("%s said:\n%s", c.Path, p.said.tail())
		}
	})
	Await(t, c.Path, func(ctx context.Context) error {
		select {
		case <-p.ended:
			t.Fatalf("%s ended before it answered: %v", c.Path, c.ProcessState)
		default:
		}
		return answers(ctx)
	})
	return p
}

// Stop ends the program by a signal. It waits until it has.
func (p *Part) Stop(by os.Signal) {
	p.t.Helper()
	_ = p.run.Process.Signal(by)
	select {
	case <-p.ended:
	case <-time.After(startTime):
		_ = p.run.Process.Kill()
		<-p.ended
		p.t.Errorf("%s did not end by the signal %v", p.run.Path, by)
	}
}

// Run runs a program to its end.
func Run(t *testing.T, c *exec.Cmd) {
	t.Helper()
	if text, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", c.Path, err, text)
	}
}

// As makes a program run as another user, and gives that one a folder to work in, where the test is root's: servers of databases
// refuse to be.
func As(t *testing.T, name string, c *exec.Cmd) *exec.Cmd {
	t.Helper()
	if c.Dir == "" {
		c.Dir = t.TempDir()
	}
	if os.Getuid() != 0 {
		return c
	}
	owner, err := user.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	uid, err1 := strconv.Atoi(owner.Uid)
	gid, err2 := strconv.Atoi(owner.Gid)
	if err := errors.Join(err1, err2, os.Chown(c.Dir, uid, gid), os.Chmod(filepath.Dir(c.Dir), 0o711)); err != nil {
		t.Fatal(err)
	}
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	return c
}

// Await tries again and again until it succeeds.
func Await(t *testing.T, what string, try func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startTime)
	defer cancel()
	last := errors.New("it was not asked")
	for tick := time.NewTicker(100 * time.Millisecond); ; {
		err := try(ctx)
		if err == nil {
			return
		}
		if ctx.Err() == nil {
			last = err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("%s: not in time: %v", what, last)
		}
	}
}

// Answers asks an address, which may refuse but not fail, nor be unknown as it is in a server's first seconds.
func Answers(address string) func(context.Context) error {
	return func(ctx context.Context) error {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			return err
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			return err
		}
		_ = answer.Body.Close()
		if answer.StatusCode >= http.StatusInternalServerError || answer.StatusCode == http.StatusNotFound {
			return fmt.Errorf("%s answers %s", address, answer.Status)
		}
		return nil
	}
}

// output is what a program says.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(b)
}

func (o *output) tail() string {
	const most = 4000
	o.mu.Lock()
	defer o.mu.Unlock()
	text := o.b.Bytes()
	return string(text[max(0, len(text)-most):])
}

// Ports finds n consecutive free ones.
func Ports(t *testing.T, n int) (first int) {
	t.Helper()
	for range 100 {
		var taken []net.Listener
		for i := range n {
			port := 0
			if i > 0 {
				port = first + i
			}
			l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
			if err != nil {
				break
			}
			if taken = append(taken, l); i == 0 {
				first = l.Addr().(*net.TCPAddr).Port
			}
		}
		for _, l := range taken {
			_ = l.Close()
		}
		if len(taken) == n {
			return first
		}
	}
	t.Fatal("there are no free ports")
	return 0
}
