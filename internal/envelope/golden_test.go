package envelope_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/frazil/frazil/internal/change"
	"github.com/frazil/frazil/internal/envelope"
	"github.com/frazil/frazil/internal/wire"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files")

func TestDecodeCaptures(t *testing.T) {
	t.Parallel()
	eachCapture(t, func(t *testing.T, format, path string) {
		d, err := envelope.New(format, envelope.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		for _, r := range readCapture(t, path) {
			fmt.Fprintf(&got, "%d ", r.Offset)
			c, control, err := d.Decode(r)
			switch {
			case err != nil:
				fmt.Fprintf(&got, "error: %v\n", err)
			case control != "":
				fmt.Fprintf(&got, "control %s\n", control)
			default:
				fmt.Fprintln(&got, describe(c))
			}
		}
		golden := strings.TrimSuffix(path, ".jsonl") + ".golden"
		if *update {
			if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.Split(got.String(), "\n"), strings.Split(string(want), "\n")); diff != "" {
			t.Error(diff)
		}
	})
}

func describe(c change.Change) string {
	b := c.Op().String()
	if c.IsInsert() {
		b = "insert"
	}
	for _, part := range []struct {
		name string
		v    wire.Value
	}{{"key", c.Key()}, {"before", c.Before()}, {"row", c.Row()}} {
		if part.v.Kind() != wire.Absent {
			b += fmt.Sprintf("\n    %s %s", part.name, part.v.Raw())
		}
	}
	if c.Meta() != "" {
		b += "\n    meta " + c.Meta()
	}
	for name, v := range c.Row().Members() {
		if typ := v.Type(); typ != nil {
			b += fmt.Sprintf("\n    type of %s: %s %s %d optional=%v default=%v", name, typ.Kind, typ.Name, typ.Scale, typ.Optional, typ.HasDefault)
		}
	}
	return b
}
