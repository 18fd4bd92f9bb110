package config

import (
	"cmp"
	"time"
)

// Drain says how much of what drain reads becomes one commit. The zero Drain is the default.
type Drain struct {
	Interval time.Duration // after which a batch ends, since its first record; 0: a minute
	Bytes    int64         // 0: 256 MB
}

// drainShare is the part that the bytes of all batches may have of the memory which indexes and caches leave. Of each batch there is
// one that is applied, with what is made of it, one that is decoded, and one that is being read.
const drainShare = 8

// A batch has so much however little memory there is, and not more however much: the texts of a column lie in one Arrow array,
// which holds 2 GB.
const leastBatch, mostBatch = 1 << 20, 1 << 30

// BatchBytes are those of a batch, where so many tables have one at the same time.
func (c *Config) BatchBytes(tables int) int64 {
	wanted, left := cmp.Or(c.Drain.Bytes, 256*units["MB"]), c.Memory.process()-c.Memory.OfDrain().Budget()
	return max(leastBatch, min(wanted, mostBatch, left/drainShare/int64(max(tables, 1))))
}

// CommitInterval is the time after which a batch ends.
func (c *Config) CommitInterval() time.Duration { return cmp.Or(c.Drain.Interval, time.Minute) }

type drainDoc struct {
	Interval string `yaml:"commit_interval"`
	Bytes    string `yaml:"batch_bytes"`
}

func (d drainDoc) check(p *problems) (out Drain) {
	if d.Interval != "" {
		var err error
		if out.Interval, err = time.ParseDuration(d.Interval); err != nil || out.Interval < time.Second {
			p.add("drain.commit_interval: must be a time of a second or more, as 60s or 5m")
		}
	}
	out.Bytes = p.size(d.Bytes, "", "drain.batch_bytes")
	return out
}
