package warehouse_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/local/catalog"
	"github.com/frazil/frazil/internal/local/stack"
	"github.com/frazil/frazil/internal/warehouse"
)

// hang takes requests and never ends the answer: it sends nothing, or a part of what it says that it sends.
func hang(t *testing.T, part string) (url string) {
	t.Helper()
	end := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if part != "" {
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, part)
			w.(http.Flusher).Flush()
		}
		select {
		case <-end:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(end) })
	return server.URL
}

// deaf takes connections and reads nothing.
func deaf(t *testing.T) (url string) {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return "http://" + l.Addr().String()
}

func TestRequestsOfWhichNothingMovesEnd(t *testing.T) {
	t.Parallel()
	client := &http.Client{Transport: warehouse.Moving(http.DefaultTransport.RoundTrip, 50*time.Millisecond)}
	for name, url := range map[string]string{"no answer": hang(t, ""), "half an answer": hang(t, "half"), "nothing is read": deaf(t)} {
		body := bytes.NewReader(make([]byte, 64<<20)) // more than sockets hold
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, url, body)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := client.Do(r)
		if err == nil {
			_, err = io.ReadAll(answer.Body)
			_ = answer.Body.Close()
		}
		var timeout net.Error
		if !errors.As(err, &timeout) || !timeout.Timeout() || !strings.Contains(err.Error(), "nothing of the request has moved") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// slow is a body of so many bytes, each of which takes a while.
type slow struct {
	ctx    context.Context
	bytes  int
	pauses time.Duration
}

func (s *slow) Read(p []byte) (int, error) {
	if s.bytes == 0 {
		return 0, io.EOF
	}
	select {
	case <-time.After(s.pauses):
		s.bytes--
		return 1, nil
	case <-s.ctx.Done():
		return 0, context.Cause(s.ctx)
	}
}

func (s *slow) Close() error { return nil }

// What moves slowly may take as long as the caller has time for.
func TestRequestsThatMoveGoOn(t *testing.T) {
	t.Parallel()
	for pause, ends := range map[time.Duration]bool{29 * time.Second: true, 31 * time.Second: false} {
		synctest.Test(t, func(t *testing.T) {
			send := func(r *http.Request) (*http.Response, error) {
				_, err := io.Copy(io.Discard, r.Body)
				return &http.Response{Body: &slow{r.Context(), 10, pause}}, err
			}
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "http://store", &slow{t.Context(), 10, 29 * time.Second})
			if err != nil {
				t.Fatal(err)
			}
			answer, err := warehouse.Moving(send, 30*time.Second).RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(answer.Body)
			if ends != (err == nil && len(got) == 10) {
				t.Errorf("a byte each %s: %d bytes, %v", pause, len(got), err)
			}
			_ = answer.Body.Close()
		})
	}
}

// at is the configuration with the store elsewhere.
func at(c config.Catalog, store string) config.Catalog {
	c.Properties = map[string]string{"s3.endpoint": store, "s3.region": stack.Region, "s3.access-key-id": "a", "s3.secret-access-key": "b"}
	return c
}

// No hanging part outlives the invocation: every request ends with its caller's time.
func TestHangingPartsEndWithTheCallersTime(t *testing.T) {
	t.Parallel()
	p := start(t)
	w := p.open(t)
	loaded := create(t, w, nil)
	silent, half := parts{config: at(p.config, hang(t, ""))}.open(t), parts{config: at(p.config, hang(t, "half"))}.open(t)
	p.catalog.SetFault(func(catalog.Op, *http.Request) catalog.Fault { return catalog.Hang() })
	const path = "s3://" + stack.Bucket + "/warehouse/x"
	for name, do := range map[string]func(context.Context) error{
		"open":   func(ctx context.Context) error { _, err := warehouse.Open(ctx, "main", p.config); return err },
		"load":   func(ctx context.Context) error { _, err := w.Load(ctx, ident); return err },
		"commit": func(ctx context.Context) error { _, err := w.Commit(ctx, loaded, nil, setA); return err },
		"write":  func(ctx context.Context) error { return silent.Write(ctx, path, make([]byte, 1<<20)) },
		"delete": func(ctx context.Context) error { return silent.Delete(ctx, path) },
		"read":   func(ctx context.Context) error { _, err := silent.Read(ctx, path); return err },
		"body":   func(ctx context.Context) error { _, err := half.Read(ctx, path); return err },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if err := do(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v", err)
			}
		})
	}
}
