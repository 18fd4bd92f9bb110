package warehouse_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/local/stack"
	"github.com/frazil/frazil/internal/warehouse"
)

// guard lets requests with its token through to a catalog, and gives tokens for its credential.
type guard struct {
	*httptest.Server
	mu      sync.Mutex
	token   string
	tokens  int    // given
	form    string // of the last request for one
	expires int    // seconds, as it says
	config  string // the catalog's settings; empty: its own
	moved   bool   // they are behind a redirection
	refused int
}

func (p *parts) guard(t *testing.T) *guard {
	t.Helper()
	g := &guard{expires: 3600}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/oauth/tokens", g.give)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		g.mu.Lock()
		if r.Header.Get("X-Amz-Date")+r.Header.Get("X-Other") != "" {
			t.Error("the catalog's settings have added to a request")
		}
		pass, settings, moved := r.Header.Get("Authorization") == "Bearer "+g.token, g.config, g.moved
		if !pass {
			g.refused++
		}
		g.mu.Unlock()
		switch {
		case !pass:
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = w.Write([]byte(`{"error":{"message":"who are you","type":"NotAuthorizedException","code":401}}`))
		case r.URL.Path == "/v1/config" && moved:
			http.Redirect(w, r, "/settings", http.StatusFound)
		case settings != "" && (r.URL.Path == "/v1/config" || r.URL.Path == "/settings"):
			_, _ = w.Write([]byte(settings))
		default:
			p.catalog.ServeHTTP(w, r)
		}
	})
	g.Server = httptest.NewServer(mux)
	t.Cleanup(g.Close)
	p.config.URI = g.URL
	return g
}

// give is a token endpoint for the client frazil with the secret s3cr:t.
func (g *guard) give(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	_ = r.ParseForm()
	g.form = r.PostForm.Encode()
	if r.PostForm.Get("grant_type") != "client_credentials" || r.PostForm.Get("client_id") != "frazil" || r.PostForm.Get("client_secret") != "s3cr:t" {
		w.WriteHeader(http.StatusUnauthorized) // which repeats the secret, as a careless one might
		_ = json.NewEncoder(w).Encode(map[string]string{"error": "invalid_client", "error_description": r.PostForm.Get("client_secret")})
		return
	}
	g.tokens++
	g.token = fmt.Sprint("token-", g.tokens)
	_ = json.NewEncoder(w).Encode(map[string]any{"access_token": g.token, "token_type": "bearer", "expires_in": g.expires})
}

// revoke ends the token, and says which one is right from now on.
func (g *guard) revoke(next string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.token = next
}

func (g *guard) seen() (tokens, refused int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.tokens, g.refused
}

func TestOAuth2TokensAreFetchedAndRenewed(t *testing.T) {
	keep(t, map[string]string{"lake/client": `{"credential":"frazil:s3cr:t"}`})
	p := start(t)
	g := p.guard(t)
	p.config.Auth = config.Auth{Type: "oauth2", Credential: "secretsmanager:lake/client#credential", Scope: "PRINCIPAL_ROLE:ALL"}
	w := p.open(t)
	loaded := create(t, w, nil)
	if tokens, refused := g.seen(); tokens != 1 || refused != 0 || !strings.Contains(g.form, "scope=PRINCIPAL_ROLE%3AALL") {
		t.Errorf("%d tokens for some requests, %d refused, form %s", tokens, refused, g.form)
	}
	g.revoke("another") // the token ends while a commit is under way
	if _, err := w.Commit(t.Context(), loaded, nil, setA); err != nil {
		t.Error(err)
	}
	if tokens, refused := g.seen(); tokens != 2 || refused != 1 {
		t.Errorf("%d tokens, %d refused requests; want one more of each", tokens, refused)
	}
}

// A token that is about to end is not used any more: no request is refused.
func TestOAuth2TokensAreRenewedBeforeTheyEnd(t *testing.T) {
	keep(t, map[string]string{"/lake/client": "frazil:s3cr:t"})
	p := start(t)
	g := p.guard(t)
	g.expires = 20
	p.config.Auth = config.Auth{Type: "oauth2", Credential: "ssm:/lake/client", TokenURL: g.URL + "/v1/oauth/tokens", Scope: "catalog"}
	w := p.open(t)
	create(t, w, nil)
	if tokens, refused := g.seen(); tokens < 3 || refused != 0 {
		t.Errorf("%d tokens, %d refused requests", tokens, refused)
	}
}

func TestAWrongSecretIsSaidWithoutTheSecret(t *testing.T) {
	for _, kept := range []string{"frazil:wr0ng", "wr0ng"} {
		keep(t, map[string]string{"/lake/client": kept})
		p := start(t)
		g := p.guard(t)
		p.config.Auth = config.Auth{Type: "oauth2", Credential: "ssm:/lake/client"}
		_, err := warehouse.Open(t.Context(), "main", p.config)
		if err == nil || !strings.Contains(err.Error(), "401 Unauthorized invalid_client") || strings.Contains(err.Error(), "wr0ng") {
			t.Errorf("got %v", err)
		}
		if tokens, refused := g.seen(); tokens+refused != 0 {
			t.Errorf("%d tokens, %d requests without one", tokens, refused)
		}
	}
}

func TestBearerTokensAreReadAgainWhenTheyAreRefused(t *testing.T) {
	k := keep(t, map[string]string{"/lake/token": "first"})
	p := start(t)
	g := p.guard(t)
	g.revoke("first")
	p.config.Auth = config.Auth{Type: "bearer", Token: "ssm:/lake/token"}
	w := p.open(t)
	loaded := create(t, w, nil)
	k.set("/lake/token", "second")
	g.revoke("second")
	if _, err := w.Commit(t.Context(), loaded, nil, setA); err != nil {
		t.Error(err)
	}
	g.revoke("third")
	_, before := g.seen()
	_, err := w.Load(t.Context(), ident)
	if _, refused := g.seen(); err == nil || !strings.Contains(err.Error(), "who are you") || strings.Contains(err.Error(), "second") || refused != before+1 {
		t.Errorf("a token that stays wrong: %v, asked %d times", err, refused-before)
	}
}

func TestSecretsThatCannotBeReadAreNamed(t *testing.T) {
	keep(t, map[string]string{"text": "s3cret", "list": `["s3cret"]`, "object": `{"number":7,"null":null}`, "empty": ""})
	p := start(t)
	for reference, want := range map[string]string{
		"secretsmanager:none": "ResourceNotFoundException", "ssm:/none": "ResourceNotFoundException", "secretsmanager:text#a": "no JSON object with a text a",
		"secretsmanager:list#a": "no JSON object", "secretsmanager:object#number": "a text number", "secretsmanager:object#null": "a text null",
		"secretsmanager:object#none": "a text none", "secretsmanager:empty": "it is empty",
	} {
		c := p.config
		c.Properties = map[string]string{"s3.secret-access-key": reference}
		_, err := warehouse.Open(t.Context(), "main", c)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), reference) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: got %v, want %q", reference, err, want)
		}
	}
}

// The role signs for catalog and storage; secrets are read by the function itself.
func TestARoleSignsForCatalogAndStorage(t *testing.T) {
	k := keep(t, map[string]string{"/lake/header": "h"})
	p := start(t)
	catalogSeen, storeSeen := &signatures{next: p.catalog}, &signatures{next: p.objects}
	for _, s := range []*signatures{catalogSeen, storeSeen} {
		server := httptest.NewServer(s)
		t.Cleanup(server.Close)
		s.url = server.URL
	}
	p.config.URI, p.config.Role = catalogSeen.url, "arn:aws:iam::123456789012:role/lake"
	p.config.Auth = config.Auth{Type: "sigv4", Service: "glue", Region: "eu-west-1"}
	p.config.Properties = map[string]string{"s3.endpoint": storeSeen.url, "header.X-Api-Key": "ssm:/lake/header"}
	w := p.open(t)
	if err := w.Write(t.Context(), "s3://"+stack.Bucket+"/warehouse/x", []byte("x")); err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]string{"catalog": catalogSeen.last, "store": storeSeen.last} {
		if !strings.Contains(got, "Credential=AKIDROLE") {
			t.Errorf("the %s's request is signed by %s", name, got)
		}
	}
	if k.assumed < 2 {
		t.Error("credentials that end were not renewed")
	}
}

// signatures notes who has signed.
type signatures struct {
	next      http.Handler
	url, last string
}

func (s *signatures) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.last = cmp.Or(r.Header.Get("Authorization"), "nobody")
	s.next.ServeHTTP(w, r)
}

// What a catalog says of itself moves neither requests nor what they carry (P10).
func TestACatalogCannotRedirectRequestsOrCredentials(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("%s %s went elsewhere", r.Method, r.URL)
	}))
	t.Cleanup(elsewhere.Close)
	keep(t, map[string]string{"/lake/token": "right"})
	p := start(t)
	g := p.guard(t)
	g.revoke("right")
	p.config.Auth = config.Auth{Type: "bearer", Token: "ssm:/lake/token"}
	for _, layer := range []string{"defaults", "overrides", "Overrides", "moved"} {
		if g.moved = layer == "moved"; g.moved {
			layer = "overrides"
		}
		g.config = fmt.Sprintf(`{%q: {"token":"other","credential":"a:b","oauth2-server-uri":"%[2]s/t","rest.sigv4-enabled":"true","rest.signing-region":"x",
			"header.Authorization":"Bearer other","header.X-Other":"1","s3.endpoint":"%[2]s","s3.access-key-id":"other","client.region":"other","warehouse":"other"}}`, layer, elsewhere.URL)
		w := p.open(t)
		if layer == "defaults" {
			create(t, w, nil)
		}
		if _, err := w.Load(t.Context(), ident); err != nil {
			t.Errorf("%s: %v", layer, err)
		}
		if err := w.Write(t.Context(), "s3://"+stack.Bucket+"/warehouse/"+layer, nil); err != nil {
			t.Errorf("%s: %v", layer, err)
		}
	}
	g.config = `null`
	if _, err := warehouse.Open(t.Context(), "main", p.config); err == nil || !strings.Contains(err.Error(), "no JSON object") {
		t.Errorf("no settings: %v", err)
	}
	g.config = fmt.Sprintf(`{"overrides": {"uri":%q}}`, elsewhere.URL)
	if _, err := p.open(t).Load(t.Context(), ident); err == nil || !strings.Contains(err.Error(), "only its uri is asked") {
		t.Errorf("another uri: %v", err)
	}
}

func TestARedirectionIsNotFollowed(t *testing.T) {
	t.Parallel()
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it was followed") }))
	t.Cleanup(elsewhere.Close)
	p := start(t)
	server := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	t.Cleanup(server.Close)
	p.config.URI = server.URL
	if _, err := warehouse.Open(t.Context(), "main", p.config); err == nil || !strings.Contains(err.Error(), "only its uri is asked") {
		t.Errorf("got %v", err)
	}
}
