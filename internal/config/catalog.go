package config

import (
	"cmp"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Catalog is an Iceberg REST catalog.
type Catalog struct {
	URI       string
	Warehouse string
	Auth      Auth
	Role      string // the ARN of the role that signs for catalog and storage; empty: the function's own
	// Locations are the prefixes that tables have to be under; empty: each may be where it is.
	Locations []string
	// Properties are Iceberg REST and FileIO properties, handed on as they are (s3.endpoint, s3.region …); those that
	// IsSecret names hold references.
	Properties map[string]string
}

// Auth says how requests to the catalog show who asks. Token and Credential are references to secrets.
type Auth struct {
	Type       string // none, bearer, oauth2 or sigv4
	Token      string // of bearer
	Credential string // of oauth2: CLIENT-ID:SECRET, or the secret alone
	TokenURL   string // of oauth2; empty: the catalog's own v1/oauth/tokens
	Scope      string // of oauth2
	Service    string // of sigv4: glue or s3tables
	Region     string // of sigv4; empty: the function's own
}

// prefix is a folder in S3.
var prefix = regexp.MustCompile(`^s3://[a-z0-9.-]+(/\S*)?$`)

var roleARN = regexp.MustCompile(`^arn:[a-z-]+:iam::\d{12}:role/\S+$`)

func (d catalogDoc) check(at string, p *problems) Catalog {
	c := Catalog{URI: d.URI, Warehouse: d.Warehouse, Role: d.Role, Locations: d.Locations, Properties: d.Properties}
	if d.URI == "" {
		p.add("%s.uri: is not given", at)
	} else if u := checkURL(at+".uri", d.URI, p); u != nil {
		c.Auth = awsAuth(u.Hostname())
	}
	if d.Role != "" && !roleARN.MatchString(d.Role) {
		p.add("%s.role: must be the ARN of an IAM role", at)
	}
	for _, location := range d.Locations {
		if !prefix.MatchString(location) || slices.ContainsFunc(strings.Split(location, "/"), func(s string) bool { return s == "." || s == ".." }) {
			p.add("%s.locations: must be s3://bucket/prefix, without steps of dots", at)
		}
	}
	d.Auth.check(&c.Auth, at+".auth", p)
	checkProperties(at, d.Properties, p)
	return c
}

func checkURL(at, text string, p *problems) *url.URL {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		p.add("%s: is not an http or https address", at)
	case u.User != nil:
		p.add("%s: holds a user or password; credentials do not belong in the address", at)
	default:
		return u
	}
	return nil
}

// authKeys are the keys of auth beside type, by the type that reads them.
var authKeys = map[string][]string{"none": nil, "bearer": {"token"}, "oauth2": {"credential", "token_url", "scope"}, "sigv4": {"service", "region"}}

// check lays what is written over the signing that the address asks for.
func (d authDoc) check(a *Auth, at string, p *problems) {
	kind := cmp.Or(d.Type, a.Type, "none")
	keys, known := authKeys[kind]
	if !known {
		p.add("%s.type: must be none, bearer, oauth2 or sigv4", at)
		return
	}
	for _, given := range [][2]string{
		{"token", d.Token}, {"credential", d.Credential}, {"token_url", d.TokenURL}, {"scope", d.Scope}, {"service", d.Service}, {"region", d.Region},
	} {
		if given[1] != "" && !slices.Contains(keys, given[0]) {
			p.add("%s.%s: is not read with type %s", at, given[0], kind)
		}
	}
	own := *a // what the address asks for
	*a = Auth{Type: kind}
	switch kind {
	case "bearer":
		a.Token = d.Token
		checkSecret(at+".token", a.Token, p)
	case "oauth2":
		a.Credential, a.TokenURL, a.Scope = d.Credential, d.TokenURL, cmp.Or(d.Scope, "catalog")
		checkSecret(at+".credential", a.Credential, p)
		if a.TokenURL != "" {
			checkURL(at+".token_url", a.TokenURL, p)
		}
	case "sigv4":
		a.Service, a.Region = cmp.Or(d.Service, own.Service), cmp.Or(d.Region, own.Region)
		if a.Service != "glue" && a.Service != "s3tables" {
			p.add("%s.service: must be glue or s3tables", at)
		}
	}
}

// awsAuth is the signing that AWS's own Iceberg endpoints (glue.REGION.amazonaws.com, s3tables.REGION…) ask for.
func awsAuth(host string) Auth {
	service, rest, _ := strings.Cut(host, ".")
	region, domain, _ := strings.Cut(rest, ".")
	if strings.HasPrefix(domain, "amazonaws.com") && (service == "glue" || service == "s3tables") {
		return Auth{Type: "sigv4", Service: service, Region: region}
	}
	return Auth{Type: "none"}
}
