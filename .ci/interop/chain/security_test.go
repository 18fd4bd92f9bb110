package chain_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/frazil/frazil/.ci/interop/parts"
	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/consume"
	"github.com/twmb/franz-go/pkg/kgo"
)

// authority signs certificates.
type authority struct {
	*testing.T
	key         *ecdsa.PrivateKey
	certificate *x509.Certificate
	text        string // PEM
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{T: t}
	a.text, _ = a.sign(&x509.Certificate{Subject: pkix.Name{CommonName: "authority"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign})
	return a
}

// sign makes a certificate and its key, as PEM. That of an authority itself comes first, and is signed by itself.
func (a *authority) sign(c *x509.Certificate) (certificate, key string) {
	a.Helper()
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.Fatal(err)
	}
	c.SerialNumber, c.NotBefore, c.NotAfter = big.NewInt(time.Now().UnixNano()), time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	if a.key == nil {
		a.key, a.certificate = own, c
	}
	signed, err1 := x509.CreateCertificate(rand.Reader, c, a.certificate, &own.PublicKey, a.key)
	private, err2 := x509.MarshalPKCS8PrivateKey(own)
	if err1 != nil || err2 != nil {
		a.Fatal(err1, err2)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed})), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}))
}

// secrets are an account's, by their references.
type secrets map[string]map[string]string

func (s secrets) Secret(_ context.Context, reference string) (string, error) {
	text, err := json.Marshal(s[reference])
	return string(text), err
}

func (secrets) Credentials(context.Context) (key, secret, session string, err error) {
	return "", "", "", nil
}

func TestDrainShowsKafkaWhoItIs(t *testing.T) {
	ours, other := newAuthority(t), newAuthority(t)
	server, serverKey := ours.sign(&x509.Certificate{Subject: pkix.Name{CommonName: "broker"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}})
	client, clientKey := ours.sign(&x509.Certificate{Subject: pkix.Name{CommonName: "client"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	stranger, strangerKey := other.sign(&x509.Certificate{Subject: pkix.Name{CommonName: "stranger"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	dir := t.TempDir()
	keys, trusted := filepath.Join(dir, "server.pem"), filepath.Join(dir, "ca.pem")
	write(t, keys, serverKey+server)
	write(t, trusted, ours.text)
	const login = "org.apache.kafka.common.security."
	k := startKafka(t,
		listener{"PLAIN", "SASL_SSL", []string{`plain.sasl.jaas.config=` + login + `plain.PlainLoginModule required user_frazil="right";`, "sasl.enabled.mechanisms=PLAIN"}},
		listener{"SCRAM", "SASL_PLAINTEXT", []string{"scram-sha-512.sasl.jaas.config=" + login + "scram.ScramLoginModule required;", "sasl.enabled.mechanisms=SCRAM-SHA-512"}},
		listener{"MTLS", "SSL", []string{"ssl.client.auth=required"}},
		listener{"", "", []string{"ssl.keystore.type=PEM", "ssl.keystore.location=" + keys, "ssl.truststore.type=PEM", "ssl.truststore.location=" + trusted}})
	parts.Run(t, java("-cp", *brokerJars+"/*", "org.apache.kafka.tools.ConfigCommand", "--bootstrap-server", k.address, "--alter", "--entity-type", "users", "--entity-name", "frazil",
		"--add-config", "SCRAM-SHA-512=[iterations=4096,password=right]"))
	if err := k.CreateTopic(t.Context(), "orders", 1); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Produce(t.Context(), &kgo.Record{Topic: "orders", Value: []byte("{}")}); err != nil {
		t.Fatal(err)
	}
	known := secrets{
		"ca": {"certificate": ours.text}, "strange ca": {"certificate": other.text},
		"login": {"username": "frazil", "password": "right"}, "wrong login": {"username": "frazil", "password": "wrong"},
		"client": {"certificate": client, "privateKey": clientKey}, "stranger": {"certificate": stranger, "privateKey": strangerKey},
	}
	for name, test := range map[string]struct {
		listener string
		source   config.Source
		want     string // of the error; none: it is let in
	}{
		"plain":                        {"PLAIN", config.Source{TLS: true, CA: "ca", Auth: config.SourceAuth{Type: "plain", Secret: "login"}}, ""},
		"plain with a wrong password":  {"PLAIN", config.Source{TLS: true, CA: "ca", Auth: config.SourceAuth{Type: "plain", Secret: "wrong login"}}, "SASL_AUTHENTICATION_FAILED"},
		"plain by a strange authority": {"PLAIN", config.Source{TLS: true, CA: "strange ca", Auth: config.SourceAuth{Type: "plain", Secret: "login"}}, "certificate signed by unknown authority"},
		"plain by nobody known":        {"PLAIN", config.Source{TLS: true, Auth: config.SourceAuth{Type: "plain", Secret: "login"}}, "certificate signed by unknown authority"},
		"scram":                        {"SCRAM", config.Source{Auth: config.SourceAuth{Type: "scram", Secret: "login"}}, ""},
		"scram with a wrong password":  {"SCRAM", config.Source{Auth: config.SourceAuth{Type: "scram", Secret: "wrong login"}}, "SASL_AUTHENTICATION_FAILED"},
		"scram without a login":        {"SCRAM", config.Source{}, "is SASL missing?"},
		"mtls":                         {"MTLS", config.Source{TLS: true, CA: "ca", Auth: config.SourceAuth{Type: "mtls", Secret: "client"}}, ""},
		"mtls of a stranger":           {"MTLS", config.Source{TLS: true, CA: "ca", Auth: config.SourceAuth{Type: "mtls", Secret: "stranger"}}, "tls: "},
	} {
		t.Run(name, func(t *testing.T) {
			test.source.Brokers = []string{k.listeners[test.listener]}
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			c, err := consume.Open(ctx, "main", test.source, known, consume.Limits{Bytes: 1 << 20, Records: 10, Interval: time.Second, Quiet: time.Second})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			logs, err := c.Logs(ctx, []string{"orders"})
			if test.want != "" {
				if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "wrong") || strings.Contains(err.Error(), "right") {
					t.Errorf("got %v, want %s", err, test.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for b, err := range c.Batches(ctx, []consume.Stretch{{Log: logs[0]}}) {
				if err != nil || len(b.Records) != 1 {
					t.Errorf("got %d records, %v", len(b.Records), err)
				}
			}
		})
	}
}
