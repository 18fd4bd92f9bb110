package config

import (
	"cmp"
	"fmt"
	"maps"
	"net"
	"regexp"
	"slices"
	"strings"

	"github.com/frazil/frazil/internal/kafka"
)

// Source is a Kafka cluster.
type Source struct {
	Brokers []string // host:port
	ARN     string   // of an MSK cluster
	TLS     bool
	// CA is a reference to JSON of the form {"certificate": PEM}: who signs the brokers' certificates. Without it that are those
	// whom the system trusts.
	CA   string
	Auth SourceAuth
}

// SourceAuth says how a cluster is shown who asks. Secret is a reference to JSON of the form that Lambda's event source
// mappings read: {"username", "password"} of plain and scram, {"certificate", "privateKey"} of mtls.
type SourceAuth struct {
	Type   string // none, plain, scram (SHA-512), iam or mtls
	Secret string
}

type sourceDoc struct {
	Brokers []string      `yaml:"brokers"`
	ARN     string        `yaml:"arn"`
	TLS     bool          `yaml:"tls"`
	CA      string        `yaml:"ca"`
	Auth    sourceAuthDoc `yaml:"auth"`
}

type sourceAuthDoc struct {
	Type   string `yaml:"type"`
	Secret string `yaml:"secret"`
}

// sourceName is one that the names of a ledger's properties can hold.
var sourceName = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)

func (d document) checkSources(c *Config, p *problems) {
	c.Sources = map[string]Source{}
	for _, name := range slices.Sorted(maps.Keys(d.Sources)) {
		if !sourceName.MatchString(name) {
			p.add("sources.%s: a name has letters, digits, underscores and hyphens", name)
		}
		c.Sources[name] = d.Sources[name].check("sources."+name, p)
	}
	if main := c.Sources[kafka.MainSource]; c.DeadLetter.Topic() != "" && len(main.Brokers) == 0 {
		p.add("dead_letter: kafka:// is a topic of sources.%s, whose brokers are not given", kafka.MainSource)
	}
}

// source is a route's: the only one, unless the route says.
func (c *Config) source(given, at string, p *problems) string {
	_, known := c.Sources[given]
	names := slices.Sorted(maps.Keys(c.Sources))
	switch {
	case known:
		return given
	case given == kafka.MainSource && len(names) == 0:
		return given
	case given != "":
		p.add("%s.source: there is no source %q", at, given)
	case len(names) == 0:
		return kafka.MainSource
	case len(names) == 1:
		return names[0]
	default:
		p.add("%s.source: is not given, and there are %s", at, strings.Join(names, ", "))
	}
	return given
}

// SourceOf is the source of an event, by the ARN of the MSK cluster or the addresses of the brokers that it names, separated
// by commas. Where only one is configured it is that one, unless its ARN is another.
func (c *Config) SourceOf(arn, brokers string) (string, error) {
	names := slices.Sorted(maps.Keys(c.Sources))
	for _, name := range names {
		s := c.Sources[name]
		switch {
		case arn != "" && s.ARN != "":
			if arn == s.ARN {
				return name, nil
			}
			continue
		case len(names) == 1:
			return name, nil
		}
		for broker := range strings.SplitSeq(brokers, ",") {
			if slices.Contains(s.Brokers, strings.TrimSpace(broker)) {
				return name, nil
			}
		}
	}
	if len(names) == 0 {
		return kafka.MainSource, nil
	}
	return "", fmt.Errorf("the event is of the cluster %s, which is none of sources: %s", cmp.Or(arn, brokers), strings.Join(names, ", "))
}

func (d sourceDoc) check(at string, p *problems) Source {
	s := Source{Brokers: d.Brokers, ARN: d.ARN, TLS: d.TLS, CA: d.CA, Auth: SourceAuth{Type: cmp.Or(d.Auth.Type, "none"), Secret: d.Auth.Secret}}
	if len(s.Brokers) == 0 && s.ARN == "" {
		p.add("%s: neither brokers nor an arn is given", at)
	}
	if s.ARN != "" && !strings.HasPrefix(s.ARN, "arn:") {
		p.add("%s.arn: must be the ARN of an MSK cluster", at)
	}
	for i, broker := range s.Brokers {
		if host, port, err := net.SplitHostPort(broker); err != nil || host == "" || port == "" {
			p.add("%s.brokers[%d]: is not host:port", at, i)
		}
	}
	switch {
	case s.CA == "":
	case !s.TLS:
		p.add("%s.ca: is not read without tls", at)
	default:
		checkSecret(at+".ca", s.CA, p)
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
