package config_test

import (
	"strings"
	"testing"

	"github.com/frazil/frazil/internal/config"
)

// document is one that more keys can be added to.
const document = `{catalogs: {main: {uri: "http://c"}}, routes: [{topics: [a], format: flat, table: "main:n.a"}]`

func TestMemoryIsAPartOfTheFunctionsOrASize(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{"": 256 << 20, "25%": 128 << 20, "1GB": 1e9, "64MB": 64e6, "900KB": 900e3} {
		c, err := config.Parse([]byte(document + ", memory: '" + text + "'}"))
		if err != nil {
			t.Fatal(err)
		}
		c.Memory.Process = 512 << 20
		if got := c.Memory.Budget(); got/1e3 != want/1e3 {
			t.Errorf("memory: %s of 512 MB: %d, want %d", text, got, want)
		}
	}
	if got := (config.Memory{}).Budget(); got < 500e6 || got > 600e6 {
		t.Errorf("default where nobody knows the process's memory: %d", got)
	}
	for m, want := range map[config.Memory]int64{{Process: 1000}: 350, {Process: 1000, Percent: 60}: 600, {Process: 1000, Bytes: 700}: 700} {
		if got := m.OfDrain().Budget(); got != want {
			t.Errorf("of a drain, %+v: %d, want %d", m, got, want)
		}
	}
	for _, text := range []string{"half", "0%", "91%", "-1MB", "1.5GB", "100"} {
		if _, err := config.Parse([]byte(document + ", memory: '" + text + "'}")); err == nil || !strings.Contains(err.Error(), "memory: must be ") {
			t.Errorf("memory: %s: %v", text, err)
		}
	}
}
