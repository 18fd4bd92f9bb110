package main

import (
	"context"
	"fmt"
	"hash/crc32"
	"strconv"

	"github.com/frazil/frazil/internal/local/broker"
	"github.com/frazil/frazil/internal/local/shop"
	"github.com/twmb/franz-go/pkg/kgo"
)

const (
	topic   = "orders"
	control = "control-iceberg" // of Iceberg's Connect sink, which does not make it
)

// stream is a topic with all changes.
type stream struct {
	broker     *broker.Broker
	client     *broker.Client
	partitions uint32
}

func startStream(ctx context.Context, partitions string) (*stream, error) {
	n, err := strconv.ParseUint(partitions, 10, 31)
	if err != nil || n == 0 {
		return nil, fmt.Errorf("%s is no number of partitions", partitions)
	}
	s := &stream{partitions: uint32(n)}
	if s.broker, err = broker.Start(broker.Options{}); err != nil {
		return nil, err
	}
	if s.client, err = broker.NewClient(s.broker.Addr()); err != nil {
		s.broker.Close()
		return nil, err
	}
	for topic, partitions := range map[string]int32{topic: int32(n), control: 1} {
		if err := s.client.CreateTopic(ctx, topic, partitions); err != nil {
			s.close()
			return nil, err
		}
	}
	return s, nil
}

func (s *stream) close() {
	s.client.Close()
	s.broker.Close()
}

// put produces a change set, all changes of a key to one partition.
func (s *stream) put(ctx context.Context, set *shop.Set) error {
	var records []*kgo.Record
	for key, value := range set.Records(shop.Images) {
		records = append(records, &kgo.Record{Topic: topic, Key: key, Value: value, Partition: int32(crc32.ChecksumIEEE(key) % s.partitions)})
	}
	_, err := s.client.Produce(ctx, records...)
	return err
}
