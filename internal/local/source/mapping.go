package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

const (
	defaultBatch      = 100 // the service's own
	maxBatch          = 10_000
	defaultRetryDelay = time.Second
	maxRetryDelay     = time.Minute
)

// Mapping describes an event source mapping of one topic. Its fields must not change once Run has been called.
type Mapping struct {
	// Brokers are the bootstrap addresses.
	Brokers []string
	// Topic is read from the offsets that Group has committed, else from its beginning.
	Topic, Group string
	// ClusterARN makes the events those of an MSK cluster.
	ClusterARN string
	// BatchSize is the most records in an event, up to 10,000; default 100.
	BatchSize int
	// Window is how long a batch waits for more records after its first; 0 takes what is there.
	Window time.Duration
	// MaxBytes is the most bytes of an event; default MaxEvent.
	MaxBytes int
	// Invoke delivers one event. It should return when ctx ends.
	Invoke func(ctx context.Context, event []byte) error
	// RetryDelay is the time before a failed event is delivered again; it doubles with each failure, up to a minute.
	// Default 1 second.
	RetryDelay time.Duration
	// Redeliver, when set, is asked after each batch was delivered, counted from 0, whether to deliver it once more
	// before its offsets are committed.
	Redeliver func(batch int) bool
	// Report, when set, hears of every delivery, from the goroutine of Run.
	Report func(Delivery)

	progress progress
}

// Delivery is one invocation of the function.
type Delivery struct {
	// Batch counts batches from 0; a batch may be delivered several times.
	Batch   int
	Records int
	// Bytes is the size of the event.
	Bytes    int
	Duration time.Duration
	// Err is the function's failure; the event will be delivered again.
	Err error
}

// Run reads and delivers until ctx ends, which is no error. When the cluster moves the group, or is away, it begins again from
// where the group has committed. A record that does not fit an event is ErrTooLarge, names topic, partition and offset, and
// stops the mapping with everything before it delivered.
func (m *Mapping) Run(ctx context.Context) error {
	if m.BatchSize < 0 || m.BatchSize > maxBatch {
		return fmt.Errorf("batch size %d is not between 1 and %d", m.BatchSize, maxBatch)
	}
	for n := 0; ; {
		err := m.member(ctx, &n)
		switch {
		case ctx.Err() != nil && errors.Is(err, ctx.Err()):
			return nil
		case !passing(err):
			return err
		}
		if wait(ctx, cmp.Or(m.RetryDelay, defaultRetryDelay)) != nil {
			return nil
		}
	}
}

// passing reports whether an error passes by itself: the cluster moves the group, or is away.
func passing(err error) bool {
	var session *kgo.ErrGroupSession
	var network net.Error
	return kerr.IsRetriable(err) || kgo.IsRetryableBrokerErr(err) || errors.As(err, &session) || errors.As(err, &network) ||
		slices.ContainsFunc([]error{kerr.IllegalGeneration, kerr.UnknownMemberID, kerr.RebalanceInProgress}, func(e error) bool { return errors.Is(err, e) })
}

// member is the life of one member of the group. The batches are counted by n.
func (m *Mapping) member(ctx context.Context, n *int) error {
	client, err := kgo.NewClient(
		kgo.SeedBrokers(m.Brokers...), kgo.ConsumerGroup(m.Group), kgo.ConsumeTopics(m.Topic),
		kgo.InstanceID("mapping"), // so that the group does not wait for a member that is gone
		kgo.DisableAutoCommit(), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
	)
	if err != nil {
		return fmt.Errorf("connect to brokers: %w", err)
	}
	defer client.Close()
	return m.run(ctx, client, n)
}

func (m *Mapping) run(ctx context.Context, client *kgo.Client, n *int) error {
	if err := m.loadCommitted(ctx, client); err != nil {
		return err
	}
	reader := &reader{client: client, mapping: m}
	for ; ; *n++ {
		b, err := reader.next(ctx)
		if err != nil {
			return err
		}
		if err := m.deliver(ctx, *n, b); err != nil {
			return err
		}
		if m.Redeliver != nil && m.Redeliver(*n) {
			if err := m.deliver(ctx, *n, b); err != nil {
				return err
			}
		}
		if err := client.CommitRecords(ctx, b.records...); err != nil {
			return fmt.Errorf("commit offsets: %w", err)
		}
		m.progress.advance(b.records)
	}
}

// deliver invokes the function with one event until it succeeds or ctx ends.
func (m *Mapping) deliver(ctx context.Context, n int, b *batch) error {
	event := b.event()
	delay := cmp.Or(m.RetryDelay, defaultRetryDelay)
	for {
		began := time.Now()
		err := m.Invoke(ctx, event)
		if m.Report != nil {
			m.Report(Delivery{Batch: n, Records: len(b.records), Bytes: len(event), Duration: time.Since(began), Err: err})
		}
		if err == nil {
			return nil
		}
		if err := wait(ctx, delay); err != nil {
			return err
		}
		delay = min(2*delay, maxRetryDelay)
	}
}

func wait(ctx context.Context, delay time.Duration) error {
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (m *Mapping) loadCommitted(ctx context.Context, client *kgo.Client) error {
	fetched, err := kadm.NewClient(client).FetchOffsets(ctx, m.Group)
	if err == nil {
		err = fetched.Error()
	}
	if err != nil && !errors.Is(err, kerr.GroupIDNotFound) { // a group that never committed may not exist yet
		return fmt.Errorf("fetch committed offsets: %w", err)
	}
	m.progress.begin()
	for partition, o := range fetched[m.Topic] {
		m.progress.set(partition, o.At)
	}
	return nil
}

func (m *Mapping) origin() Origin {
	return Origin{Brokers: strings.Join(m.Brokers, ","), ClusterARN: m.ClusterARN}
}
