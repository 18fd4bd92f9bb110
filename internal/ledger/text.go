package ledger

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// entry is the text form of a topic. Offsets and times are lists of equal length, in partition order, so that
// a topic of many partitions stays small.
type entry struct {
	Cluster    string      `json:"cluster,omitempty"`
	Snapshot   int64       `json:"snapshot"`
	Sequence   int64       `json:"sequence"`
	Partitions []int32     `json:"partitions"`
	Next       []int64     `json:"next"`
	Time       []int64     `json:"time"`
	Lost       []lostEntry `json:"lost,omitempty"`
}

type lostEntry struct {
	Partition int32 `json:"partition"`
	To        int64 `json:"to"`
	Resumed   bool  `json:"resumed,omitempty"`
}

func read(text string) (*Topic, error) {
	var e entry
	if err := strict(text, &e); err != nil {
		return nil, err
	}
	if len(e.Partitions) == 0 || len(e.Next) != len(e.Partitions) || len(e.Time) != len(e.Partitions) {
		return nil, fmt.Errorf("%d partitions, %d offsets and %d times", len(e.Partitions), len(e.Next), len(e.Time))
	}
	t := &Topic{Cluster: e.Cluster, Snapshot: e.Snapshot, Sequence: e.Sequence, Marks: map[int32]Mark{}}
	for i, p := range e.Partitions {
		if p < 0 || e.Next[i] < 0 || i > 0 && p <= e.Partitions[i-1] {
			return nil, fmt.Errorf("partition %d is negative, out of order or without a next offset", p)
		}
		t.Marks[p] = Mark{Next: e.Next[i], Time: e.Time[i]}
	}
	for _, lost := range e.Lost {
		m, ok := t.Marks[lost.Partition]
		if !ok || lost.To <= m.Next || m.Lost != (Lost{}) {
			return nil, fmt.Errorf("what partition %d has lost is not above its next offset, or said twice", lost.Partition)
		}
		m.Lost = Lost{To: lost.To, Resumed: lost.Resumed}
		t.Marks[lost.Partition] = m
	}
	return t, nil
}

func strict(text string, into any) error {
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("there is more text behind it")
	}
	return nil
}

func (t *Topic) text(snapshot, sequence int64) string {
	e := entry{Cluster: t.Cluster, Snapshot: snapshot, Sequence: sequence}
	for _, p := range slices.Sorted(maps.Keys(t.Marks)) {
		m := t.Marks[p]
		e.Partitions = append(e.Partitions, p)
		e.Next = append(e.Next, m.Next)
		e.Time = append(e.Time, m.Time)
		if m.Lost.To > 0 {
			e.Lost = append(e.Lost, lostEntry{p, m.Lost.To, m.Lost.Resumed})
		}
	}
	return text(e)
}

// ranges is the text form of the offsets that a snapshot moved a topic by.
type ranges struct {
	Partitions []int32 `json:"partitions"`
	From       []int64 `json:"from"`
	Next       []int64 `json:"next"`
}

func readRanges(text string) (ranges, error) {
	var r ranges
	err := strict(text, &r)
	if err == nil && (len(r.From) != len(r.Partitions) || len(r.Next) != len(r.Partitions)) {
		err = fmt.Errorf("%d partitions, %d first and %d next offsets", len(r.Partitions), len(r.From), len(r.Next))
	}
	return r, err
}

func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // numbers and booleans always marshal
	}
	return string(b)
}
