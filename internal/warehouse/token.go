package warehouse

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// token is one that catalogs are shown.
type token struct {
	text string
	ends time.Time // zero: it is not known
}

// tokens shows a token with each request, and fetches another when it ends or was refused.
type tokens struct {
	fetch   func(context.Context) (token, error)
	busy    chan struct{} // holds one element: whoever has put it there may touch current
	current token
}

func newTokens(fetch func(context.Context) (token, error)) *tokens {
	return &tokens{fetch: fetch, busy: make(chan struct{}, 1)}
}

const bearer = "Bearer "

func (t *tokens) sign(ctx context.Context, r *http.Request, _ []byte) error {
	text, err := t.get(ctx, "")
	r.Header.Set("Authorization", bearer+text)
	return err
}

func (t *tokens) renew(ctx context.Context, refused *http.Request) (bool, error) {
	old := strings.TrimPrefix(refused.Header.Get("Authorization"), bearer)
	text, err := t.get(ctx, old)
	return text != old, err
}

// early is how long before its end a token is fetched again.
const early = 30 * time.Second

// get gives a token that is another one than the refused, where there is one.
func (t *tokens) get(ctx context.Context, refused string) (string, error) {
	select {
	case t.busy <- struct{}{}:
		defer func() { <-t.busy }()
	case <-ctx.Done():
		return "", ctx.Err()
	}
	ended := !t.current.ends.IsZero() && time.Until(t.current.ends) < early
	if t.current.text == refused || ended {
		next, err := t.fetch(ctx)
		if err != nil {
			return "", err
		}
		t.current = next
	}
	return t.current.text, nil
}

// oauth2 fetches tokens for a client's credential.
type oauth2 struct {
	client     *http.Client
	url        string
	scope      string
	credential func(context.Context) (string, error) // CLIENT-ID:SECRET, or the secret alone; it may be another one later
}

func (o oauth2) fetch(ctx context.Context) (token, error) {
	secret, err := o.credential(ctx)
	if err != nil {
		return token{}, err
	}
	form := url.Values{"grant_type": {"client_credentials"}, "scope": {o.scope}}
	if id, rest, ok := strings.Cut(secret, ":"); ok {
		secret = rest
		form.Set("client_id", id)
	}
	form.Set("client_secret", secret)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, o.url, strings.NewReader(form.Encode()))
	if err != nil {
		return token{}, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer, err := o.client.Do(r)
	if err != nil {
		return token{}, fmt.Errorf("ask for a token: %w", err)
	}
	defer func() { _ = answer.Body.Close() }()
	return readToken(answer)
}

// errorCode is the form of OAuth's error codes; anything else in an answer may repeat the secret.
var errorCode = regexp.MustCompile(`^[a-z_]{1,40}$`)

func readToken(answer *http.Response) (token, error) {
	var got struct {
		Token   string  `json:"access_token"`
		Type    string  `json:"token_type"`
		Expires float64 `json:"expires_in"` // seconds
		Error   string  `json:"error"`
	}
	readable := json.NewDecoder(io.LimitReader(answer.Body, 1<<20)).Decode(&got) == nil
	switch {
	case answer.StatusCode != http.StatusOK:
		if !errorCode.MatchString(got.Error) {
			got.Error = ""
		}
		err := fmt.Errorf("ask for a token: the token endpoint answers %s %s", answer.Status, got.Error)
		if answer.StatusCode < http.StatusInternalServerError {
			err = &finalError{err}
		}
		return token{}, err
	case !readable || got.Token == "" || !strings.EqualFold(cmp.Or(got.Type, "bearer"), "bearer"):
		return token{}, &finalError{fmt.Errorf("ask for a token: the token endpoint's answer has no bearer token")}
	}
	t := token{text: got.Token}
	if got.Expires > 0 {
		t.ends = time.Now().Add(time.Duration(got.Expires * float64(time.Second)))
	}
	return t, nil
}
