package catalogs_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/frazil/frazil/internal/local/catalog"
	"github.com/frazil/frazil/internal/local/objects"
)

// Where the parts are, which the Makefile installs.
var (
	fixtureJars = flag.String("fixture", "", "the folder of the jars of Apache's REST catalog and what it needs")
	nessieJar   = flag.String("nessie", "", "the jar of Nessie's server")
	java21      = flag.String("java21", "", "a java of version 21 or newer, which Nessie needs")
	weedBinary  = flag.String("weed", "", "SeaweedFS")
	motoServer  = flag.String("moto", "", "moto_server")
)

const region, accessKey, secretKey = "us-east-1", "test", "testtest"

// bucket is where the catalogs keep tables.
const bucket = "lake"

// startTime is how long a part may take until it answers: machines of continuous integration are busy.
const startTime = 3 * time.Minute

// store is the embedded object store, and its address.
func store(t *testing.T) string {
	t.Helper()
	web := httptest.NewServer(objects.New(bucket))
	t.Cleanup(web.Close)
	return web.URL
}

// start runs a program until the test ends, and waits until it answers at an address.
func start(t *testing.T, answers string, environment []string, program string, args ...string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Fatalf("a part is not installed: %v", err)
	}
	c := exec.Command(program, args...)
	var out output
	c.Stdout, c.Stderr, c.Dir = &out, &out, t.TempDir()
	c.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + c.Dir, "AWS_REGION=" + region, "AWS_ACCESS_KEY_ID=" + accessKey, "AWS_SECRET_ACCESS_KEY=" + secretKey}, environment...)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	t.Cleanup(func() {
		_ = c.Process.Kill()
		<-ended
		if t.Failed() {
			t.Logf("%s said:\n%s", program, out.tail())
		}
	})
	await(t, program, func(ctx context.Context) error {
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("%s ended before it answered: %v", program, err)
		default:
		}
		return answered(ctx, answers)
	})
}

// await tries again and again until it succeeds.
func await(t *testing.T, what string, try func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startTime)
	defer cancel()
	for tick := time.NewTicker(100 * time.Millisecond); ; {
		err := try(ctx)
		if err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("%s is not ready: %v", what, err)
		}
	}
}

func answered(ctx context.Context, address string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	_ = answer.Body.Close()
	if answer.StatusCode >= http.StatusInternalServerError {
		return fmt.Errorf("%s answers %s", address, answer.Status)
	}
	return nil
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

// ports finds n consecutive free ones.
func ports(t *testing.T, n int) (first int) {
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

// proxied is a proxy that answers wrongly when it is told to, and its address in place of the catalog's.
func proxied(t *testing.T, uri string) (string, *catalog.Proxy) {
	t.Helper()
	at, err := url.Parse(uri)
	if err != nil {
		t.Fatal(err)
	}
	path := at.Path
	at.Path = ""
	p := catalog.NewProxy(at)
	web := httptest.NewServer(p)
	t.Cleanup(web.Close)
	return web.URL + path, p
}
