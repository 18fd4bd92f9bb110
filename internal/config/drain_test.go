package config_test

import (
	"strings"
	"testing"
	"time"

	"github.com/frazil/frazil/internal/config"
)

func TestDrainSaysHowLargeABatchIs(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		bytes    int64
		interval time.Duration
	}{
		"":                               {256_000_000, time.Minute},
		", drain: {commit_interval: 5m}": {256_000_000, 5 * time.Minute},
		", drain: {batch_bytes: 2MB}":    {2_000_000, time.Minute},
		", drain: {batch_bytes: 1KB}":    {1 << 20, time.Minute},
		", drain: {batch_bytes: 1GB}, memory: 10%":   {1_000_000_000, time.Minute},
		", drain: {batch_bytes: 100GB}, memory: 10%": {1 << 30, time.Minute},
		", memory: 90%":   {(16<<30 - (16<<30)/100*90) / 8, time.Minute},
		", memory: 100GB": {1 << 20, time.Minute},
	} {
		c, err := config.Parse([]byte(document + text + "}"))
		if err != nil {
			t.Fatal(err)
		}
		c.Memory.Process = 16 << 30
		if c.BatchBytes(1) != want.bytes || c.CommitInterval() != want.interval {
			t.Errorf("%s: %d bytes, %v", text, c.BatchBytes(1), c.CommitInterval())
		}
	}
	c := &config.Config{}
	left := int64(1<<30 - (1<<30)/100*35)
	if one, four, many := c.BatchBytes(1), c.BatchBytes(4), c.BatchBytes(1000); one != left/8 || four != left/32 || many != 1<<20 {
		t.Errorf("of a GiB: %d, of 4 tables %d, of 1000 %d", one, four, many)
	}
}

func TestDrainRefusesWhatIsNoTimeOrSize(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"commit_interval: 60": "drain.commit_interval: must", "commit_interval: 10ms": "drain.commit_interval: must",
		"batch_bytes: 50%": "drain.batch_bytes: must", "batch_bytes: 256": "drain.batch_bytes: must", "follow: true": "unknown key follow",
	} {
		if _, err := config.Parse([]byte(document + ", drain: {" + text + "}}")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
