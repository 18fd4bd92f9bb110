package warehouse

import (
	"net/http"
	"time"
)

// Moving is what sends requests and gives them up when nothing of them moves.
func Moving(send func(*http.Request) (*http.Response, error), wait time.Duration) http.RoundTripper {
	return moving{send, wait}
}

var WithoutOldSnapshots = withoutOldSnapshots
