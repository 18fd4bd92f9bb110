package meter_test

import (
	"io"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/frazil/frazil/internal/local/meter"
	"github.com/frazil/frazil/internal/local/stack"
)

func TestRequestsAreCountedByKindAndRound(t *testing.T) {
	t.Parallel()
	parts, err := stack.StartLake()
	if err != nil {
		t.Fatal(err)
	}
	defer parts.Close()
	m, err := meter.Start(parts)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	var together sync.WaitGroup // the writes wait for each other
	together.Add(3)
	parts.Objects.SetFault(func(r *http.Request) (int, string) {
		if r.Method == http.MethodPut {
			together.Done()
			together.Wait()
		}
		return 0, ""
	})
	send := func(method, url, body string) {
		r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
		if err != nil {
			t.Error(err)
			return
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Error(err)
			return
		}
		if _, err := io.Copy(io.Discard, answer.Body); err != nil || answer.StatusCode != http.StatusOK {
			t.Error(answer.Status, err)
		}
		_ = answer.Body.Close()
	}
	send(http.MethodGet, m.Catalog+"/v1/config", "")
	var wg sync.WaitGroup
	for _, name := range []string{"a", "b", "c"} {
		wg.Go(func() { send(http.MethodPut, m.Store+"/"+stack.Bucket+"/"+name, "12345") })
	}
	wg.Wait()
	send(http.MethodGet, m.Store+"/"+stack.Bucket+"/a", "")
	got := m.Take()
	if want := map[string]int{"CATALOG": 1, "PUT": 3, "GET": 1}; !maps.Equal(got.Requests, want) {
		t.Errorf("requests %v, want %v", got.Requests, want)
	}
	if got.Written != 15 || got.Read < 5 || got.Rounds != 3 {
		t.Errorf("%d bytes written, %d read, %d rounds; want 15, at least 5, 3", got.Written, got.Read, got.Rounds)
	}
	if again := m.Take(); again.Sum() != 0 || again.Rounds != 0 {
		t.Errorf("counted twice: %+v", again)
	}
}
