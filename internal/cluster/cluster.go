// Package cluster opens Kafka clusters as the configuration says, and keeps dead letters in a topic of one.
//
// A client connects when it is first needed, and shows who asks anew with each connection, so that secrets and
// credentials may change. What it is asked to do it does until its caller's context ends.
package cluster

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/frazil/frazil/internal/config"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/aws"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

// Account reads secrets, and says as whom the process runs at AWS.
type Account interface {
	Secret(ctx context.Context, reference string) (string, error)
	Credentials(ctx context.Context) (key, secret, session string, err error)
}

// Open makes a client of a cluster, with options for what it is to do. Of mtls and the authority the secrets are read now, any other
// with each connection.
func Open(ctx context.Context, s config.Source, a Account, more ...kgo.Opt) (*kgo.Client, error) {
	options := append([]kgo.Opt{kgo.SeedBrokers(s.Brokers...), kgo.ClientID("frazil"), kgo.ProducerBatchMaxBytes(largest)}, more...)
	t := &tls.Config{MinVersion: tls.VersionTLS12}
	if s.CA != "" {
		roots, err := roots(ctx, s.CA, a)
		if err != nil {
			return nil, err
		}
		t.RootCAs = roots
	}
	switch s.Auth.Type {
	case "mtls":
		certificate, err := certificate(ctx, s.Auth.Secret, a)
		if err != nil {
			return nil, err
		}
		t.Certificates = []tls.Certificate{certificate}
	case "plain", "scram", "iam":
		options = append(options, kgo.SASL(mechanism(s.Auth, a)))
	}
	if s.TLS {
		options = append(options, kgo.Dialer(dialer(t)))
	}
	return kgo.NewClient(options...)
}

// dialTime is what it may take to make a connection.
const dialTime = 10 * time.Second

// dialer makes connections with TLS. A listener without it mostly says nothing to the first bytes, and a time-out alone would leave
// its owner to guess.
func dialer(config *tls.Config) func(ctx context.Context, network, address string) (net.Conn, error) {
	d := tls.Dialer{NetDialer: &net.Dialer{Timeout: dialTime}, Config: config}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := d.DialContext(ctx, network, address)
		if dial := new(net.OpError); err == nil || errors.As(err, &dial) && dial.Op == "dial" {
			return conn, err
		}
		return nil, fmt.Errorf("%s: TLS handshake (does this port speak TLS?): %w", address, err)
	}
}

func mechanism(auth config.SourceAuth, a Account) sasl.Mechanism {
	switch auth.Type {
	case "plain":
		return plain.Plain(func(ctx context.Context) (plain.Auth, error) {
			s, err := read(ctx, auth.Secret, a)
			return plain.Auth{User: s.Username, Pass: s.Password}, err
		})
	case "scram":
		return scram.Sha512(func(ctx context.Context) (scram.Auth, error) {
			s, err := read(ctx, auth.Secret, a)
			return scram.Auth{User: s.Username, Pass: s.Password}, err
		})
	}
	return aws.ManagedStreamingIAM(func(ctx context.Context) (aws.Auth, error) {
		key, secret, session, err := a.Credentials(ctx)
		return aws.Auth{AccessKey: key, SecretKey: secret, SessionToken: session}, err
	})
}

// secret is in the form of Lambda's event source mappings.
type secret struct {
	Username    string `json:"username"`
	Password    string `json:"password"`
	Certificate string `json:"certificate"`
	PrivateKey  string `json:"privateKey"`
}

// read reads a secret; errors do not repeat any of it.
func read(ctx context.Context, reference string, a Account) (s secret, err error) {
	text, err := a.Secret(ctx, reference)
	if err != nil {
		return s, err
	}
	if json.Unmarshal([]byte(text), &s) != nil {
		return s, fmt.Errorf("secret %s: is no JSON object of texts", reference)
	}
	return s, nil
}

func roots(ctx context.Context, reference string, a Account) (*x509.CertPool, error) {
	s, err := read(ctx, reference, a)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM([]byte(s.Certificate)) {
		return nil, errors.New("secret " + reference + ": certificate is none in PEM")
	}
	return pool, nil
}

func certificate(ctx context.Context, reference string, a Account) (tls.Certificate, error) {
	s, err := read(ctx, reference, a)
	if err != nil {
		return tls.Certificate{}, err
	}
	c, err := tls.X509KeyPair([]byte(s.Certificate), []byte(s.PrivateKey))
	if err != nil {
		return c, errors.New("secret " + reference + ": certificate and privateKey are no pair in PEM")
	}
	return c, nil
}
