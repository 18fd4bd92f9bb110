package config

import (
	"cmp"
	"maps"
	"net"
	"slices"
)

// Source is a Kafka cluster.
type Source struct {
	Brokers []string // host:port
	TLS     bool
	Auth    SourceAuth
}

// SourceAuth says how a cluster is shown who asks. Secret is a reference to JSON of the form that Lambda's event source
// mappings read: {"username", "password"} of plain and scram, {"certificate", "privateKey"} of mtls.
type SourceAuth struct {
	Type   string // none, plain, scram (SHA-512), iam or mtls
	Secret string
}

type sourceDoc struct {
	Brokers []string `yaml:"brokers"`
	TLS     bool     `yaml:"tls"`
	Auth    struct {
		Type   string `yaml:"type"`
		Secret string `yaml:"secret"`
	} `yaml:"auth"`
}

// checkSources finds the cluster of dead letters, the only one that something is done with so far.
func (d document) checkSources(c *Config, p *problems) {
	c.Sources = map[string]Source{}
	for _, name := range slices.Sorted(maps.Keys(d.Sources)) {
		c.Sources[name] = d.Sources[name].check("sources."+name, p)
	}
	_, main := c.Sources[MainSource]
	switch kafka := c.DeadLetter.Topic() != ""; {
	case kafka && !main:
		p.add("dead_letter: kafka:// is a topic of sources.%s, which is not given", MainSource)
	case len(c.Sources) > 1 || len(c.Sources) == 1 && !main:
		p.add("sources: there may be %s only", MainSource)
	case main && !kafka:
		p.add("sources: nothing reads it but a dead_letter of kafka://")
	}
}

// MainSource is the name of the source where only one is configured.
const MainSource = "main"

func (d sourceDoc) check(at string, p *problems) Source {
	s := Source{Brokers: d.Brokers, TLS: d.TLS, Auth: SourceAuth{Type: cmp.Or(d.Auth.Type, "none"), Secret: d.Auth.Secret}}
	if len(s.Brokers) == 0 {
		p.add("%s.brokers: none is given", at)
	}
	for _, broker := range s.Brokers {
		if host, port, err := net.SplitHostPort(broker); err != nil || host == "" || port == "" {
			p.add("%s.brokers: %q is not host:port", at, broker)
		}
	}
	switch s.Auth.Type {
	case "none", "iam":
		if s.Auth.Secret != "" {
			p.add("%s.auth.secret: is not read with type %s", at, s.Auth.Type)
		}
	case "plain", "scram", "mtls":
		checkSecret(at+".auth.secret", s.Auth.Secret, p)
	default:
		p.add("%s.auth.type: must be none, plain, scram, iam or mtls", at)
	}
	if !s.TLS && s.Auth.Type != "none" && s.Auth.Type != "scram" {
		p.add("%s.tls: must be true with auth of type %s", at, s.Auth.Type)
	}
	return s
}
