package warehouse

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// finalError is one that no further try betters.
type finalError struct{ err error }

func (e *finalError) Error() string { return e.err.Error() }
func (e *finalError) Unwrap() error { return e.err }

// signer makes requests show who asks.
type signer interface {
	sign(ctx context.Context, r *http.Request, body []byte) error
	// renew is told of a request that was refused. It reports whether it would be signed otherwise now.
	renew(ctx context.Context, refused *http.Request) (bool, error)
}

// signed sends requests to the configured catalog and to nobody else, whatever redirections and the catalog itself say: they
// carry what shows who asks.
type signed struct {
	next   http.RoundTripper
	origin *url.URL
	signer signer // nil: nobody asks who
}

func (s signed) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := drain(r.Body)
	if err != nil {
		return nil, err
	}
	if r.URL.Scheme != s.origin.Scheme || r.URL.Host != s.origin.Host {
		return nil, &finalError{fmt.Errorf("the catalog sends its clients to %s://%s, where the configuration does not: only its uri is asked", r.URL.Scheme, r.URL.Host)}
	}
	answer, sent, err := s.send(r, body)
	if err != nil || s.signer == nil || !slices.Contains(refusals, answer.StatusCode) {
		return answer, err
	}
	renewed, err := s.signer.renew(r.Context(), sent)
	if err == nil && !renewed {
		return answer, nil
	}
	_ = answer.Body.Close()
	if err != nil {
		return nil, err
	}
	answer, _, err = s.send(r, body)
	return answer, err
}

// refusals are the answers to who asks with a token that has ended: nothing was done, so that even a commit may be sent
// again. 419 is Iceberg's.
var refusals = []int{http.StatusUnauthorized, http.StatusForbidden, 419}

func (s signed) send(r *http.Request, body []byte) (answer *http.Response, sent *http.Request, err error) {
	sent = r.Clone(r.Context())
	if body != nil {
		sent.Body = io.NopCloser(bytes.NewReader(body))
	}
	if s.signer != nil {
		if err := s.signer.sign(r.Context(), sent, body); err != nil {
			return nil, nil, err
		}
	}
	answer, err = s.next.RoundTrip(sent)
	return answer, sent, err
}

// sigV4 signs as AWS does. The credentials renew themselves.
type sigV4 struct {
	credentials     aws.CredentialsProvider
	region, service string
	v4              *v4.Signer
}

func (s sigV4) sign(ctx context.Context, r *http.Request, body []byte) error {
	credentials, err := s.credentials.Retrieve(ctx)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(body)
	hash := hex.EncodeToString(sum[:])
	r.Header.Set("X-Amz-Content-Sha256", hash)
	return s.v4.SignHTTP(ctx, credentials, r, hash, s.service, s.region, time.Now())
}

func (sigV4) renew(context.Context, *http.Request) (bool, error) { return false, nil }
