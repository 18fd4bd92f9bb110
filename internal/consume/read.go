package consume

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/frazil/frazil/internal/kafka"
	"github.com/frazil/frazil/internal/ledger"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Batch is some records in partition and offset order, with the offsets that were read for it.
type Batch struct {
	Records []kafka.Record
	Read    []kafka.Range
	Last    bool // no other one comes. One without the word may turn out to have been the last as well.
}

// Stretch is what is read of a log: from an offset up to its end.
type Stretch struct {
	Log  Log
	From int64
	// Applied is what lies below From, if anything does. A topic that was made anew has other records there, of which the last one
	// is looked at when there is more to read (rule 17).
	Applied ledger.Mark
}

// begin is where reading begins.
func (s Stretch) begin() int64 {
	if s.Applied.Next == s.From && s.From > s.Log.Start {
		return s.From - 1
	}
	return s.From
}

// Batches yields what partitions hold, each from its offset on. While a batch is used the next one is read. It ends when all
// ends are reached, with an error, or with ctx: then with what was read by then, and without an error. A loop that is left
// early may be followed by no other one of this Cluster.
func (c *Cluster) Batches(ctx context.Context, stretches []Stretch) iter.Seq2[Batch, error] {
	return func(yield func(Batch, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		r := c.reader(stretches)
		out, left, gone := make(chan result), make(chan struct{}), make(chan struct{})
		go func() {
			defer close(gone)
			r.run(ctx, out, left)
		}()
		defer func() {
			cancel()
			close(left)
			<-gone
		}()
		for b := range out {
			if !yield(b.Batch, b.err) {
				return
			}
		}
	}
}

type result struct {
	Batch
	err error
}

// place says how far a partition is read.
type place struct {
	Stretch
	begun int64 // behind the last batch that had records of it
	next  int64
	// Of the batch at hand: how many records there are, and where in it the next one goes.
	records, at int
}

type topicPartition struct {
	topic  string
	number int32
}

type reader struct {
	*Cluster
	places []*place // in the order of a batch
	at     map[topicPartition]*place
	quiet  bool // there is no more to come

	// Of the batch at hand. What holds its records is used again.
	records []kafka.Record // in the order in which they came
	of      []*place       // each of them
	bytes   int64
	since   time.Time // the first one
}

func (c *Cluster) reader(stretches []Stretch) *reader {
	r := &reader{Cluster: c, at: map[topicPartition]*place{}}
	from := map[string]map[int32]kgo.Offset{}
	for _, s := range stretches {
		if s.From >= s.Log.End {
			continue
		}
		part := s.Log.Part
		p := &place{Stretch: s, begun: s.From, next: s.From}
		r.places = append(r.places, p)
		r.at[topicPartition{part.Topic, part.Number}] = p
		if from[part.Topic] == nil {
			from[part.Topic] = map[int32]kgo.Offset{}
		}
		from[part.Topic][part.Number] = kgo.NewOffset().At(s.begin())
	}
	slices.SortFunc(r.places, func(a, b *place) int {
		return cmp.Or(cmp.Compare(a.Log.Part.Topic, b.Log.Part.Topic), cmp.Compare(a.Log.Part.Number, b.Log.Part.Number))
	})
	c.kafka.AddConsumePartitions(from)
	return r
}

// run sends batch after batch until there are no more or nobody wants them.
func (r *reader) run(ctx context.Context, out chan<- result, left <-chan struct{}) {
	defer close(out)
	for !r.done() && ctx.Err() == nil {
		err := r.fill(ctx)
		b := result{r.batch(), err}
		b.Last = r.done() || ctx.Err() != nil
		if err == nil && len(b.Records) == 0 {
			continue
		}
		select {
		case out <- b:
		case <-left:
			return
		}
		if err != nil {
			return
		}
	}
}

// done reports whether all ends are reached.
func (r *reader) done() bool {
	return r.quiet || !slices.ContainsFunc(r.places, func(p *place) bool { return p.next < p.Log.End })
}

// fill reads until the batch is full, its time is over, or nothing is left to read.
func (r *reader) fill(ctx context.Context) error {
	for !r.done() && r.bytes < r.limits.Bytes && len(r.records) < r.limits.Records {
		wait := r.limits.Quiet
		if len(r.records) > 0 {
			wait = min(wait, r.limits.Interval-time.Since(r.since))
		}
		poll, cancel := context.WithTimeout(ctx, wait)
		got := r.kafka.PollRecords(poll, min(longestPoll, r.limits.Records-len(r.records)))
		late := poll.Err() != nil
		cancel()
		some, err := r.take(got, late)
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil || len(r.records) > 0 && time.Since(r.since) >= r.limits.Interval:
			return nil
		case late && !some && wait == r.limits.Quiet:
			return r.hush(ctx)
		}
	}
	return nil
}

// hush believes that nothing more comes, when the cluster answers otherwise.
func (r *reader) hush(ctx context.Context) error {
	if _, err := r.Logs(ctx, r.topics()); err != nil && ctx.Err() == nil {
		return err
	}
	r.quiet = true
	return nil
}

func (r *reader) topics() (names []string) {
	for _, p := range r.places {
		names = append(names, p.Log.Part.Topic)
	}
	return slices.Compact(names)
}

// take adds what was polled to the batch. A poll that its time has ended says so with an error, which is none.
func (r *reader) take(got kgo.Fetches, late bool) (some bool, err error) {
	var errs []error
	got.EachError(func(topic string, number int32, failed error) {
		if !late || !errors.Is(failed, context.DeadlineExceeded) && !errors.Is(failed, context.Canceled) {
			errs = append(errs, fmt.Errorf("read topic %s, partition %d: %w", topic, number, failed))
		}
	})
	got.EachPartition(func(f kgo.FetchTopicPartition) {
		at := topicPartition{f.Topic, f.Partition}
		if p := r.at[at]; p != nil && len(f.Records) > 0 {
			some = true
			r.order.note(at, f.Records[len(f.Records)-1].Timestamp.UnixMilli())
			errs = append(errs, r.add(p, f.Records))
		}
	})
	return some, errors.Join(errs...)
}

// add adds records of a partition. Markers of transactions are no records, but offsets that were read.
func (r *reader) add(p *place, records []*kgo.Record) error {
	for _, record := range records {
		if record.Offset == p.From-1 && p.next == p.From {
			if err := p.meet(record); err != nil {
				return err
			}
			continue
		}
		if record.Offset < p.next {
			return fmt.Errorf("read topic %s, partition %d: offset %d came where %d was next", p.Log.Part.Topic, p.Log.Part.Number, record.Offset, p.next)
		}
		p.next = record.Offset + 1
		if record.Attrs.IsControl() {
			continue
		}
		if len(r.records) == 0 {
			r.since = time.Now()
		}
		r.records, r.of = append(r.records, convert(record, p.Log.Part)), append(r.of, p)
		p.records++
		r.bytes += size(record)
		record.Recycle()
	}
	return nil
}

// meet looks at the last record below the stretch, which is in the table if the topic is still the same.
func (p *place) meet(record *kgo.Record) error {
	if record.Attrs.IsControl() { // nobody has kept its time
		return nil
	}
	r := convert(record, p.Log.Part)
	_, err := p.Applied.Check(&r)
	return err
}

func size(r *kgo.Record) int64 {
	n := perRecord + len(r.Key) + len(r.Value)
	for _, h := range r.Headers {
		n += perRecord/4 + len(h.Key) + len(h.Value)
	}
	return int64(n)
}

// batch takes the batch at hand, and begins the next one.
func (r *reader) batch() (b Batch) {
	at := 0
	for _, p := range r.places {
		if p.records > 0 {
			b.Read = append(b.Read, kafka.Range{Part: p.Log.Part, From: p.begun, Next: p.next})
			p.begun = p.next
		}
		p.at, at, p.records = at, at+p.records, 0
	}
	b.Records = make([]kafka.Record, len(r.records))
	for i, p := range r.of {
		b.Records[p.at] = r.records[i]
		p.at++
	}
	clear(r.records) // the next batch outlives this one's bytes
	r.records, r.of, r.bytes = r.records[:0], r.of[:0], 0
	return b
}

func convert(r *kgo.Record, part *kafka.Partition) kafka.Record {
	out := kafka.Record{Part: part, Offset: r.Offset, Time: r.Timestamp.UnixMilli(), Key: r.Key, Value: r.Value}
	for _, h := range r.Headers {
		out.Headers = append(out.Headers, kafka.Header{Key: h.Key, Value: h.Value})
	}
	return out
}

func sorted(l kadm.ListedOffsets) []kadm.ListedOffset {
	var all []kadm.ListedOffset
	l.Each(func(o kadm.ListedOffset) { all = append(all, o) })
	slices.SortFunc(all, func(a, b kadm.ListedOffset) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	})
	return all
}
