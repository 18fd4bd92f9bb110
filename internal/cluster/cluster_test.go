package cluster_test

import (
	"context"
	"crypto/tls"
	"errors"
	"math/rand/v2"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/frazil/frazil/internal/cluster"
	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/deadletter"
	"github.com/frazil/frazil/internal/kafka"
	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
)

// account keeps one secret.
type account string

func (a account) Secret(context.Context, string) (string, error) { return string(a), nil }
func (account) Credentials(context.Context) (key, secret, session string, err error) {
	return "key", "secret", "", nil
}

func start(t *testing.T, options ...kfake.Opt) *kfake.Cluster {
	t.Helper()
	c, err := kfake.NewCluster(append(options, kfake.NumBrokers(1), kfake.SeedTopics(1, "dead"))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func open(t *testing.T, s config.Source, a account) *cluster.Letters {
	t.Helper()
	client, err := cluster.Open(t.Context(), s, a)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return &cluster.Letters{Kafka: client, Topic: "dead"}
}

func letters() []deadletter.Letter {
	part := &kafka.Partition{Source: "main", Topic: "orders", Number: 3}
	records := []kafka.Record{
		{Part: part, Offset: 7, Time: 1_700_000_000_123, Key: []byte(`{"id":1}`), Value: []byte{0, 0xff, '\n'}, Headers: []kafka.Header{{Key: "h", Value: nil}, {Key: "h", Value: []byte{}}, {Key: "ü", Value: []byte{0xfe}}}},
		{Part: part, Offset: 8, Time: 5, Key: nil, Value: []byte{}},
		{Part: part, Offset: 9, Time: 6, Key: []byte{}, Value: nil},
	}
	var out []deadletter.Letter
	for i := range records {
		l := deadletter.New(&records[i])
		l.Table, l.Class, l.Column, l.Reason, l.Version = "main:shop.orders", deadletter.Column, "n", "is no number", "v1"
		out = append(out, l)
	}
	return out
}

func TestLettersAreRecordsWithTheirBytes(t *testing.T) {
	t.Parallel()
	c := start(t)
	l := open(t, config.Source{Brokers: c.ListenAddrs()}, "")
	if err := l.Bury(t.Context(), letters()); err != nil {
		t.Fatal(err)
	}
	reader, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...), kgo.ConsumeTopics("dead"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(reader.Close)
	var got []*kgo.Record
	for len(got) < 3 {
		fetches := reader.PollFetches(t.Context())
		if err := fetches.Err(); err != nil {
			t.Fatal(err)
		}
		got = append(got, fetches.Records()...)
	}
	at := map[string]int{}
	for i, r := range got {
		at[header(r, "frazil.offset")] = i
	}
	first, second, third := got[at["7"]], got[at["8"]], got[at["9"]]
	if string(first.Key) != `{"id":1}` || string(first.Value) != "\x00\xff\n" || second.Key != nil || second.Value == nil || third.Key == nil || third.Value != nil {
		t.Errorf("keys and values: %q %q, %v %v, %v %v", first.Key, first.Value, second.Key, second.Value, third.Key, third.Value)
	}
	if h := first.Headers; h[0].Key != "h" || h[0].Value != nil || h[1].Value == nil || h[2].Key != "ü" || string(h[2].Value) != "\xfe" {
		t.Errorf("headers %v", h)
	}
	want := map[string]string{
		"source": "main", "topic": "orders", "partition": "3", "offset": "7", "timestamp": "1700000000123", "table": "main:shop.orders", "column": "n",
		"class": "column", "reason": "is no number", "version": "v1",
	}
	for name, value := range want {
		if diff := cmp.Diff(value, header(first, "frazil."+name)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// What a source's topic took, that of the letters can take: its owner says how much, not the client. Small letters need no
// topic that takes more than others do.
func TestLettersMayBeLargeOrMany(t *testing.T) {
	t.Parallel()
	noise := make([]byte, 4_000_000)
	rand.NewChaCha8([32]byte{}).Read(noise)
	c := start(t, kfake.BrokerConfigs(map[string]string{"message.max.bytes": "5000000"}))
	if err := open(t, config.Source{Brokers: c.ListenAddrs()}, "").Bury(t.Context(), []deadletter.Letter{{Topic: "orders", Value: noise}}); err != nil {
		t.Errorf("one of %d bytes: %v", len(noise), err)
	}
	var many []deadletter.Letter
	for n := range 4000 {
		many = append(many, deadletter.Letter{Topic: "orders", Offset: int64(n), Value: noise[1000*n : 1000*n+1000]})
	}
	if err := open(t, config.Source{Brokers: start(t).ListenAddrs()}, "").Bury(t.Context(), many); err != nil {
		t.Errorf("%d small ones: %v", len(many), err)
	}
}

func header(r *kgo.Record, name string) string {
	for _, h := range r.Headers {
		if h.Key == name {
			return string(h.Value)
		}
	}
	return "none"
}

func TestATopicThatCannotBeWrittenIsAnError(t *testing.T) {
	t.Parallel()
	c := start(t)
	down := start(t)
	gone := down.ListenAddrs()
	down.Close()
	other := open(t, config.Source{Brokers: c.ListenAddrs()}, "")
	other.Topic = "none"
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	if err := open(t, config.Source{Brokers: gone}, "").Bury(ctx, letters()); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("no broker: %v", err)
	}
	if err := other.Bury(t.Context(), letters()); err == nil || !strings.Contains(err.Error(), "produce to none") {
		t.Errorf("no topic: %v", err)
	}
}

func TestClustersAreShownWhoAsks(t *testing.T) {
	t.Parallel()
	c := start(t, kfake.EnableSASL(), kfake.Superuser("PLAIN", "frazil", "p4ss"), kfake.Superuser("SCRAM-SHA-512", "frazil", "p4ss"))
	for _, kind := range []string{"plain", "scram"} {
		source := config.Source{Brokers: c.ListenAddrs(), Auth: config.SourceAuth{Type: kind, Secret: "ssm:/kafka"}}
		if err := open(t, source, `{"username":"frazil","password":"p4ss"}`).Bury(t.Context(), letters()); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		for _, secret := range []account{`{"username":"frazil","password":"wr0ng"}`, `wr0ng`} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			if err := open(t, source, secret).Bury(ctx, letters()); err == nil || strings.Contains(err.Error(), "wr0ng") {
				t.Errorf("%s, wrong secret: %v", kind, err)
			}
			cancel()
		}
	}
	source := config.Source{Brokers: c.ListenAddrs(), TLS: true, Auth: config.SourceAuth{Type: "mtls", Secret: "ssm:/kafka"}}
	if _, err := cluster.Open(t.Context(), source, account(`{"certificate":"c","privateKey":"s3cret"}`)); err == nil || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("mtls without a pair: %v", err)
	}
}

func TestSecretsThatAreNoneAreRefused(t *testing.T) {
	t.Parallel()
	brokers := []string{"127.0.0.1:1"}
	for want, test := range map[string]struct {
		source config.Source
		secret account
	}{
		"secret ssm:/ca: certificate is none in PEM":                   {config.Source{Brokers: brokers, TLS: true, CA: "ssm:/ca"}, `{"certificate":"p4ss"}`},
		"secret ssm:/ca: is no JSON object of texts":                   {config.Source{Brokers: brokers, TLS: true, CA: "ssm:/ca"}, `p4ss`},
		"secret ssm:/m: certificate and privateKey are no pair in PEM": {config.Source{Brokers: brokers, TLS: true, Auth: config.SourceAuth{Type: "mtls", Secret: "ssm:/m"}}, `{"certificate":"p4ss"}`},
	} {
		_, err := cluster.Open(t.Context(), test.source, test.secret)
		if err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestATLSPortThatIsNoneIsNamed(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		if _, err := conn.Read(make([]byte, 1)); err == nil {
			cancel() // its client would wait: a broker without TLS says nothing
		}
	}()
	_, err = cluster.Dialer(new(tls.Config))(ctx, "tcp", l.Addr().String())
	if err == nil || !strings.Contains(err.Error(), l.Addr().String()+": TLS handshake (does this port speak TLS?)") {
		t.Error(err)
	}
}
