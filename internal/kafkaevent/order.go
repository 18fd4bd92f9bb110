package kafkaevent

import (
	"cmp"
	"slices"

	"github.com/frazil/frazil/internal/kafka"
)

// run is a stretch of records of one partition with rising offsets, as an event lists them.
type run struct{ start, end int }

// inOrder returns the records by topic, partition and offset, equal ones as they came. An event has a list for each
// partition, each in order, the lists in no order: so whole runs are moved, and records sorted only if runs overlap.
func inOrder(records []kafka.Record) []kafka.Record {
	runs := runsOf(records)
	if len(runs) < 2 {
		return records
	}
	byFirst := func(a, b run) int { return compare(&records[a.start], &records[b.start]) }
	if !slices.IsSortedFunc(runs, byFirst) {
		slices.SortStableFunc(runs, byFirst)
		moved := make([]kafka.Record, 0, len(records))
		for _, r := range runs {
			moved = append(moved, records[r.start:r.end]...)
		}
		records = moved
	}
	byRecord := func(a, b kafka.Record) int { return compare(&a, &b) }
	if !slices.IsSortedFunc(records, byRecord) {
		slices.SortStableFunc(records, byRecord)
	}
	return records
}

func runsOf(records []kafka.Record) []run {
	var runs []run
	start := 0
	for i := range records {
		if i+1 == len(records) || records[i].Part != records[i+1].Part || records[i].Offset > records[i+1].Offset {
			runs = append(runs, run{start: start, end: i + 1})
			start = i + 1
		}
	}
	return runs
}

func compare(a, b *kafka.Record) int {
	if a.Part == b.Part {
		return cmp.Compare(a.Offset, b.Offset)
	}
	return cmp.Or(cmp.Compare(a.Part.Topic, b.Part.Topic), cmp.Compare(a.Part.Number, b.Part.Number))
}
