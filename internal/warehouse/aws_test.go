package warehouse_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// keeper answers as Secrets Manager, Parameter Store and STS do, over what it keeps.
type keeper struct {
	mu      sync.Mutex
	kept    map[string]string // secrets by name, parameters by name with a slash in front
	assumed int
}

// keep starts a keeper that the AWS SDK finds by its environment variables, so that the test cannot run beside others.
func keep(t *testing.T, kept map[string]string) *keeper {
	t.Helper()
	k := &keeper{kept: kept}
	server := httptest.NewServer(k)
	t.Cleanup(server.Close)
	for _, service := range []string{"SECRETS_MANAGER", "SSM", "STS"} {
		t.Setenv("AWS_ENDPOINT_URL_"+service, server.URL)
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "AKIDFUNCTION")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	t.Setenv("AWS_REGION", "eu-west-1")
	return k
}

func (k *keeper) set(name, value string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.kept[name] = value
}

func (k *keeper) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !strings.Contains(r.Header.Get("Authorization"), "AKIDFUNCTION/") { // the function's own credentials, no role's
		w.WriteHeader(http.StatusForbidden)
		return
	}
	service, action, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	if service == "" {
		k.assumeRole(w)
		return
	}
	var in struct {
		SecretId, Name string
		WithDecryption bool
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	value, there := k.kept[in.SecretId+in.Name]
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	var out any
	switch {
	case !there:
		w.WriteHeader(http.StatusBadRequest)
		out = map[string]string{"__type": "ResourceNotFoundException", "message": "there is none"}
	case action == "GetSecretValue":
		out = map[string]string{"Name": in.SecretId, "SecretString": value}
	case action == "GetParameter" && in.WithDecryption:
		out = map[string]any{"Parameter": map[string]string{"Name": in.Name, "Type": "SecureString", "Value": value}}
	default:
		w.WriteHeader(http.StatusBadRequest)
	}
	_ = json.NewEncoder(w).Encode(out)
}

// assumeRole gives each time other credentials, which end within the minute in which they are renewed.
func (k *keeper) assumeRole(w http.ResponseWriter) {
	k.assumed++
	_, _ = fmt.Fprintf(w, `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials>
		<AccessKeyId>AKIDROLE%d</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken><Expiration>%s</Expiration>
		</Credentials></AssumeRoleResult></AssumeRoleResponse>`, k.assumed, time.Now().Add(30*time.Second).UTC().Format(time.RFC3339))
}
