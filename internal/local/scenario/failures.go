package scenario

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/frazil/frazil/internal/ingest"
	"github.com/frazil/frazil/internal/local/stack"
	"go.yaml.in/yaml/v3"
)

// resultText is the expected result of the last invocation: "", "error", or the records that it reports.
func resultText(n yaml.Node) (string, error) {
	switch {
	case n.Kind == 0, n.Value == "ok":
		return "", nil
	case n.Value == "error":
		return "error", nil
	}
	var c Cut
	if err := n.Decode(&c); n.Kind != yaml.MappingNode || err != nil || len(c.Failed) == 0 {
		return "", errors.New("expect: result: must be ok, error or {failed: [{topic, partition, offset}]}")
	}
	var out []string
	for _, at := range c.Failed {
		out = append(out, at.String())
	}
	slices.Sort(out)
	return strings.Join(out, "; "), nil
}

// String names a record.
func (a At) String() string { return fmt.Sprintf("%s/%d at %d", a.Topic, a.Partition, a.Offset) }

// outcomeText is the result of an invocation in the form of resultText.
func outcomeText(err error) string {
	var cut *ingest.CutOff
	if !errors.As(err, &cut) {
		if err != nil {
			return "error"
		}
		return ""
	}
	var out []string
	for _, r := range cut.First {
		out = append(out, At{r.Part.Topic, r.Part.Number, r.Offset}.String())
	}
	slices.Sort(out)
	return strings.Join(out, "; ")
}

// compareLetters compares the dead letters in the store with the expected ones, as sets: a letter may be there twice.
func (w *world) compareLetters() (differences []string, err error) {
	prefix, ok := strings.CutPrefix(w.config.DeadLetter.To, "s3://"+stack.Bucket+"/")
	if w.config.DeadLetter.To == "" {
		prefix, ok = "\x00", true // no object begins so
	}
	if !ok {
		return nil, fmt.Errorf("config: dead_letter: the runner has the bucket %s only", stack.Bucket)
	}
	got := map[string]string{}
	letters, err := w.Letters(prefix)
	if err != nil {
		return nil, err
	}
	for _, l := range letters {
		got[At{l.Topic, l.Partition, l.Offset}.String()] = l.Reason
	}
	for _, want := range w.scenario.Expect.DeadLetters {
		switch reason, there := got[want.At.String()]; {
		case !there:
			differences = append(differences, "dead_letters: there is none of "+want.At.String())
		case !strings.Contains(reason, want.Reason):
			differences = append(differences, fmt.Sprintf("dead_letters: the reason of %s is %q, expected %q", want.At, reason, want.Reason))
		}
		delete(got, want.At.String())
	}
	for at, reason := range got {
		differences = append(differences, fmt.Sprintf("dead_letters: there is an unexpected one of %s: %s", at, reason))
	}
	slices.Sort(differences)
	return differences, nil
}
