package warehouse

import (
	"bytes"
	"io"
	"net/http"
)

// brief leaves out of the answers to frazil's commits the snapshots that no branch or tag points at. A catalog sends a table back
// with all of its snapshots, thousands of them where few expire, and to read them would take longer than the rest of a commit.
// Who has committed knows what went before; who wants to know loads the table.
type brief struct{ next http.RoundTripper }

// briefly marks the requests whose answers may leave them out: tools that expire snapshots go by the ones that are left.
type briefly struct{}

func (b brief) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := b.next.RoundTrip(r)
	if err != nil || r.Context().Value(briefly{}) == nil || answer.StatusCode != http.StatusOK {
		return answer, err
	}
	text, err := io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	if err != nil {
		return nil, err
	}
	text = withoutOldSnapshots(text)
	answer.Body, answer.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	return answer, nil
}

// withoutOldSnapshots is an answer with those of its table's snapshots alone that the refs name. What it does not understand it
// leaves as it is.
func withoutOldSnapshots(answer []byte) []byte {
	var metadata, refs, snapshots span
	each(answer, span{0, len(answer)}, func(name string, v span) {
		if name == "metadata" {
			metadata = v
		}
	})
	each(answer, metadata, func(name string, v span) {
		switch name {
		case "refs":
			refs = v
		case "snapshots":
			snapshots = v
		}
	})
	named := map[string]bool{}
	each(answer, refs, func(_ string, ref span) { named[idOf(answer, ref)] = true })
	var kept [][]byte
	each(answer, snapshots, func(_ string, s span) {
		if named[idOf(answer, s)] {
			kept = append(kept, answer[s.from:s.to])
		}
	})
	if len(kept) == 0 || len(kept) != len(named) {
		return answer
	}
	out := append([]byte{}, answer[:snapshots.from]...)
	out = append(append(append(out, '['), bytes.Join(kept, []byte(","))...), ']')
	return append(out, answer[snapshots.to:]...)
}

// idOf is the snapshot-id of a ref or snapshot.
func idOf(text []byte, object span) (id string) {
	each(text, object, func(name string, v span) {
		if name == "snapshot-id" {
			id = string(text[v.from:v.to])
		}
	})
	return id
}

// span is where a JSON value is in a text.
type span struct{ from, to int }

// each calls f for the members of an object or the elements of an array, whose names are empty. Of a text that is no JSON it calls f
// for anything.
func each(text []byte, in span, f func(name string, value span)) {
	end := in.to - 1
	i := skip(text, in.from, end) + 1 // behind the bracket
	for {
		i = skip(text, i, end)
		if i >= end {
			return
		}
		value := span{i, valueEnd(text, i, end)}
		name := ""
		if next := skip(text, value.to, end); next < end && text[next] == ':' {
			if value.to-value.from >= 2 {
				name = string(text[value.from+1 : value.to-1])
			}
			from := skip(text, next+1, end)
			value = span{from, valueEnd(text, from, end)}
		}
		f(name, value)
		i = max(value.to, i+1)
		if i = skip(text, i, end); i < end && text[i] == ',' {
			i++
		}
	}
}

func skip(text []byte, i, end int) int {
	for i < end && (text[i] == ' ' || text[i] == '\n' || text[i] == '\t' || text[i] == '\r') {
		i++
	}
	return i
}

// valueEnd is behind the value that begins at i.
func valueEnd(text []byte, i, end int) int {
	depth := 0
	for i < end {
		switch text[i] {
		case '"':
			i = textEnd(text, i, end)
			if depth == 0 {
				return i
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth <= 0 {
				return i + 1
			}
		case ',', ':':
			if depth == 0 {
				return i
			}
		case ' ', '\n', '\t', '\r':
			if depth == 0 {
				return i
			}
		}
		i++
	}
	return end
}

// textEnd is behind the text that begins at i.
func textEnd(text []byte, i, end int) int {
	for i++; i < end; i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return end
}
