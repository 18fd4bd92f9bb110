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
	percent, process := m.Percent, m.Process
	if percent == 0 {
		percent = 50
	}
	if process == 0 {
		process = 1 << 30
	}
	return process / 100 * percent
}

var memorySizes = regexp.MustCompile(`^([1-9][0-9]{0,8})(%|[KMG]B)$`)

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
	switch match[2] {
	case "%":
		if n > 90 {
			p.add("memory: must be 90%% at most: a delivery needs some too")
		}
		m.Percent = n
	case "KB":
		m.Bytes = n * 1000
	case "MB":
		m.Bytes = n * 1000 * 1000
	case "GB":
		m.Bytes = n * 1000 * 1000 * 1000
	}
	return m
}
