package config

import (
	"regexp"
	"strconv"
)

// Memory is how much of the process's memory key indexes and caches may take. The zero Memory is the default.
type Memory struct {
	Percent int64 // of the process's memory; 0: half of it
	Bytes   int64 // in place of a percentage, if not 0
	// Process is the bytes that the process has; 0: nobody said, and a GiB is assumed.
	Process int64
}

// Budget is the bytes that may be taken.
func (m Memory) Budget() int64 {
	if m.Bytes > 0 {
		return m.Bytes
	}
	percent := m.Percent
	if percent == 0 {
		percent = 50
	}
	return m.process() / 100 * percent
}

// besideBatches is what the indexes and caches of a drain may take, in percent, where nobody says: its batches have nearly as much as
// is left, and half beside them is more than there is.
const besideBatches = 35

// OfDrain is the same for a process that drains.
func (m Memory) OfDrain() Memory {
	if m == (Memory{Process: m.Process}) {
		m.Percent = besideBatches
	}
	return m
}

func (m Memory) process() int64 {
	if m.Process == 0 {
		return 1 << 30
	}
	return m.Process
}

// Pile is the bytes that rows may take which are read to be written again. With the files that they are in and come to, one column of
// them as it was and as it will be, and their order, they take up to three times as much (BenchmarkCompact of package maintain).
func (m Memory) Pile() int64 { return m.process() / 5 }

// Care is the bytes of files that a commit may write again of its own accord. Where the table has a sort order their rows are all in memory,
// which takes some four times as much; else a column of them at a time is.
func (m Memory) Care() int64 { return m.process() / 64 }

var memorySizes = regexp.MustCompile(`^([1-9][0-9]{0,8})(%|[KMG]B)$`)

var units = map[string]int64{"KB": 1000, "MB": 1000 * 1000, "GB": 1000 * 1000 * 1000}

func memory(text string, p *problems) (m Memory) {
	if text == "" {
		return m
	}
	match := memorySizes.FindStringSubmatch(text)
	if match == nil {
		p.add("memory: must be a percentage of the function's memory, as in 50%%, or a size, as in 256MB")
		return m
	}
	n, _ := strconv.ParseInt(match[1], 10, 64)
	if match[2] != "%" {
		m.Bytes = n * units[match[2]]
		return m
	}
	if n > 90 {
		p.add("memory: must be 90%% at most: a delivery needs some too")
	}
	m.Percent = n
	return m
}
