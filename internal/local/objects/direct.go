package objects

import (
	"maps"
	"slices"
	"strings"
)

// Read returns an object's bytes, which the caller must not modify, and whether the object exists.
func (s *Server) Read(bucket, key string) ([]byte, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, ok := s.buckets[bucket][key]
	if !ok {
		return nil, false
	}
	return o.data, true
}

// Write stores an object and creates its bucket if need be. The server owns data from then on.
func (s *Server) Write(bucket, key string, data []byte) {
	o := newObject(data, nil, nil)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.buckets[bucket] == nil {
		s.buckets[bucket] = map[string]*object{}
	}
	s.buckets[bucket][key] = o
}

// Delete removes an object and reports whether it existed.
func (s *Server) Delete(bucket, key string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.buckets[bucket][key]
	delete(s.buckets[bucket], key)
	return ok
}

// Keys returns the bucket's keys that begin with prefix, sorted.
func (s *Server) Keys(bucket, prefix string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var keys []string
	for key := range maps.Keys(s.buckets[bucket]) {
		if strings.HasPrefix(key, prefix) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}
