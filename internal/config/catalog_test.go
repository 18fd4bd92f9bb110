package config_test

import (
	"strings"
	"testing"

	"github.com/frazil/frazil/internal/config"
	"github.com/google/go-cmp/cmp"
)

// withCatalog is the smallest document with more keys of its catalog.
func withCatalog(keys string) (*config.Config, error) {
	return config.Parse([]byte(strings.Replace(smallest, `"http://localhost:8181"`, `"http://localhost:8181", `+keys, 1)))
}

func TestCatalogsShowWhoAsks(t *testing.T) {
	t.Parallel()
	for keys, want := range map[string]config.Auth{
		`auth: {type: none}`: {Type: "none"},
		`auth: {type: bearer, token: "secretsmanager:lake/token#value"}`: {Type: "bearer", Token: "secretsmanager:lake/token#value"},
		`auth: {type: bearer, token: "ssm:/lake/token"}`:                 {Type: "bearer", Token: "ssm:/lake/token"},
		`auth: {type: oauth2, credential: "ssm:/lake/client"}`:           {Type: "oauth2", Credential: "ssm:/lake/client", Scope: "catalog"},
		`auth: {type: oauth2, credential: "ssm:/c", token_url: "https://login.example.com/t", scope: "PRINCIPAL_ROLE:ALL"}`: {
			Type: "oauth2", Credential: "ssm:/c", TokenURL: "https://login.example.com/t", Scope: "PRINCIPAL_ROLE:ALL"},
		`auth: {type: sigv4, service: glue, region: eu-west-1}`: {Type: "sigv4", Service: "glue", Region: "eu-west-1"},
	} {
		c, err := withCatalog(keys)
		if err != nil {
			t.Errorf("%s: %v", keys, err)
			continue
		}
		if diff := cmp.Diff(want, c.Catalogs["main"].Auth); diff != "" {
			t.Errorf("%s: %s", keys, diff)
		}
	}
}

func TestParseRefusesWhatAnAuthDoesNotRead(t *testing.T) {
	t.Parallel()
	for keys, want := range map[string]string{
		`auth: {token: "ssm:/t"}`:                                        "auth.token: is not read with type none",
		`auth: {type: bearer}`:                                           "auth.token: must say where the secret is kept",
		`auth: {type: oauth2, scope: x}`:                                 "auth.credential: must say where the secret is kept",
		`auth: {type: oauth2, credential: "ssm:/c", token_url: "login"}`: "auth.token_url: is not an http",
		`auth: {type: bearer, token: "ssm:/t", region: x}`:               "auth.region: is not read with type bearer",
		`auth: {type: basic}`:                                            "auth.type: must be none, bearer, oauth2 or sigv4",
		`locations: [lake]`:                                              "locations: must be s3://bucket/prefix",
		`locations: ["s3://"]`:                                           "locations: must be s3://bucket/prefix",
		`locations: ["s3://lake/../a"]`:                                  "locations: must be s3://bucket/prefix",
		`role: lake-writer`:                                              "role: must be the ARN of an IAM role",
		`properties: {token: "ssm:/t"}`:                                  "properties.token: is said by catalogs.main.auth",
		`properties: {warehouse: x}`:                                     "properties.warehouse: is said by catalogs.main.warehouse",
	} {
		if _, err := withCatalog(keys); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", keys, err, want)
		}
	}
	if _, err := withCatalog(`role: "arn:aws:iam::123456789012:role/lake/writer", locations: ["s3://lake", "s3://other/silver/"]`); err != nil {
		t.Error(err)
	}
}

// A secret that stands in the document is in the environment of the function, in its deployment and in whoever reads
// either: it is refused, and not repeated (P10).
func TestSecretsAreReferences(t *testing.T) {
	t.Parallel()
	const secret = "hunter2hunter2"
	for _, keys := range []string{
		"auth: {type: bearer, token: %}", "auth: {type: oauth2, credential: %}", "auth: {type: oauth2, credential: 'client:%'}", "auth: {type: bearer, token: 'ssm:%'}",
		"properties: {s3.secret-access-key: %}", "properties: {s3.session-token: %}", "properties: {header.X-Api-Key: %}", "properties: {token: %}",
		"properties: {header.Authorization: 'Bearer %'}", "properties: {adls.sas-token.lake: %}", "properties: {gcs.oauth2.token: %}",
		"properties: {adls.auth.shared-key.account.key: %}", "properties: {credential: %}", "properties: {proxy.password: %}",
	} {
		_, err := withCatalog(strings.Replace(keys, "%", secret, 1))
		if err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: got %v", keys, err)
		}
	}
	c, err := withCatalog(`properties: {s3.secret-access-key: "secretsmanager:arn:aws:secretsmanager:eu-west-1:1:secret:lake-x#key", s3.access-key-id: AKIA, s3.region: eu-west-1, token-expires-in-ms: "5"}`)
	if err != nil || len(c.Catalogs["main"].Properties) != 4 {
		t.Errorf("references and what is no secret: %v", err)
	}
}

func TestReferencesNameServiceSecretAndKey(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]config.Reference{
		"secretsmanager:lake":                                   {Service: "secretsmanager", Name: "lake"},
		"secretsmanager:lake/a#token":                           {Service: "secretsmanager", Name: "lake/a", Key: "token"},
		"secretsmanager:arn:aws:secretsmanager:x:1:secret:a-B1": {Service: "secretsmanager", Name: "arn:aws:secretsmanager:x:1:secret:a-B1"},
		"ssm:/lake/token":                                       {Service: "ssm", Name: "/lake/token"},
		"ssm:arn:aws:ssm:eu-west-1:1:parameter/a":               {Service: "ssm", Name: "arn:aws:ssm:eu-west-1:1:parameter/a"},
	} {
		if got, ok := config.ParseReference(text); !ok || got != want {
			t.Errorf("%s: %+v %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "lake", "secretsmanager:", "secretsmanager:a#", "secretsmanager:a b", "ssm:token", "ssm:/a#key", "env:A"} {
		if _, ok := config.ParseReference(text); ok {
			t.Errorf("%q is taken for a reference", text)
		}
	}
}
