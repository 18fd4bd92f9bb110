// Package broker starts a Kafka broker in this process and talks to any broker.
//
// A Broker is franz-go's kfake: one node that listens on 127.0.0.1, keeps everything in memory and understands
// produce, fetch, groups and transactions. A Client does what local runs and tests need of a broker, embedded or
// not: it creates topics, produces records to the partitions they name, and tells where topics end and what a group
// has committed.
//
// The broker is for development only: nothing survives Close, and it is not reachable from other machines.
package broker

import (
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
)

// Broker is a running broker.
type Broker struct{ cluster *kfake.Cluster }

// Options say how a broker starts.
type Options struct {
	// Port is the TCP port on 127.0.0.1; 0 takes a free one.
	Port int
}

// Start starts a broker without topics. The caller closes it.
func Start(o Options) (*Broker, error) {
	cluster, err := kfake.NewCluster(
		kfake.NumBrokers(1),
		kfake.MaxVersions(kversion.V3_6_0()), // of requests that are newer kfake answers some in a way that clients in Java cannot take
		kfake.ListenFn(func(network, _ string) (net.Listener, error) {
			return net.Listen(network, net.JoinHostPort("127.0.0.1", strconv.Itoa(o.Port)))
		}),
	)
	if err != nil {
		return nil, fmt.Errorf("start broker: %w", err)
	}
	return &Broker{cluster}, nil
}

// Addr returns the address that clients bootstrap from, "host:port".
func (b *Broker) Addr() string { return b.cluster.ListenAddrs()[0] }

// SetFault has f asked about each request, by the name of its kind, before it takes effect: where it says so, the connection is
// closed in place of an answer. It can be set once.
func (b *Broker) SetFault(f func(kind string) bool) {
	b.cluster.Control(func(r kmsg.Request) (kmsg.Response, error, bool) {
		b.cluster.KeepControl()
		if f(kmsg.NameForKey(r.Key())) {
			return nil, errCut, true
		}
		return nil, nil, false
	})
}

var errCut = errors.New("the connection is cut")

// Close stops the broker and forgets its records.
func (b *Broker) Close() { b.cluster.Close() }
