package config

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Reference is where a secret is kept. Package warehouse reads it there; the document never holds the secret itself (P10).
type Reference struct {
	Service string // secretsmanager or ssm
	Name    string // name or ARN of a secret, or of a parameter
	Key     string // of secretsmanager: the member of the secret's JSON object; empty: the whole secret
}

var references = regexp.MustCompile(`^(?:secretsmanager:([^\s#]+)(?:#([^\s#]+))?|ssm:(/[^\s#]+|arn:[^\s#]+))$`)

// ParseReference reads secretsmanager:NAME#JSON-KEY and ssm:/NAME; ok is false for any other text.
func ParseReference(text string) (r Reference, ok bool) {
	m := references.FindStringSubmatch(text)
	switch {
	case m == nil:
		return r, false
	case m[1] != "":
		return Reference{Service: "secretsmanager", Name: m[1], Key: m[2]}, true
	}
	return Reference{Service: "ssm", Name: m[3]}, true
}

// checkSecret refuses the secret itself, which it does not repeat.
func checkSecret(at, text string, p *problems) {
	if _, ok := ParseReference(text); !ok {
		p.add("%s: must say where the secret is kept, as secretsmanager:NAME, secretsmanager:NAME#JSON-KEY or ssm:/NAME; a secret does not stand in the configuration", at)
	}
}

// secretWords are the last words of the names of properties that hold secrets.
var secretWords = []string{"secret", "token", "password", "credential", "credentials", "authorization", "cookie", "key"}

// IsSecret reports whether a catalog's property holds a secret, as s3.secret-access-key and header.Authorization do.
func IsSecret(property string) bool {
	property = strings.ToLower(property)
	words := strings.FieldsFunc(property, func(r rune) bool { return strings.ContainsRune(".-_", r) })
	return len(words) > 0 && slices.Contains(secretWords, words[len(words)-1]) ||
		strings.Contains(property, "sas-token") || strings.Contains(property, "connection-string")
}

// elsewhere are properties of Iceberg's that have keys of the document's own, which alone are read.
var elsewhere = map[string]string{
	"uri": "uri", "warehouse": "warehouse", "token": "auth", "credential": "auth", "scope": "auth", "oauth2-server-uri": "auth",
	"rest.authorization-url": "auth", "rest.sigv4-enabled": "auth", "rest.signing-region": "auth", "rest.signing-name": "auth",
	"header.authorization": "auth",
}

func checkProperties(at string, properties map[string]string, p *problems) {
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		key, has := elsewhere[strings.ToLower(name)]
		switch {
		case has:
			p.add("%s.properties.%s: is said by %s.%s", at, name, at, key)
		case IsSecret(name):
			checkSecret(at+".properties."+name, properties[name], p)
		}
	}
}
