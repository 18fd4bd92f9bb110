package lambda

import (
	"bytes"
	"io"
	"sync"
)

// lines joins the output of several processes into one writer without mixing them within a line.
type lines struct {
	mu  sync.Mutex
	out io.Writer
}

func (l *lines) stream() *stream { return &stream{lines: l} }

// stream is one output of one process; it holds back an unfinished line.
type stream struct {
	lines *lines
	rest  []byte
}

// Write never fails: a process must not stop because nobody can read its log.
func (s *stream) Write(p []byte) (int, error) {
	s.rest = append(s.rest, p...)
	end := bytes.LastIndexByte(s.rest, '\n') + 1
	if end > 0 {
		s.emit(s.rest[:end])
		s.rest = append(s.rest[:0], s.rest[end:]...)
	}
	return len(p), nil
}

// flush ends an unfinished line.
func (s *stream) flush() {
	if len(s.rest) > 0 {
		s.emit(append(s.rest, '\n'))
		s.rest = nil
	}
}

func (s *stream) emit(whole []byte) {
	s.lines.mu.Lock()
	defer s.lines.mu.Unlock()
	_, _ = s.lines.out.Write(whole)
}
