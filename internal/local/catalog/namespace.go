package catalog

import (
	"encoding/base64"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// separator joins the levels of a namespace in paths and queries, as the specification says, and in our own keys.
const separator = "\x1f"

type namespace []string

func (n namespace) key() string    { return strings.Join(n, separator) }
func (n namespace) String() string { return strings.Join(n, ".") }

// within reports whether key, of a namespace or a table, lies directly or indirectly under n.
func (n namespace) within(key string) bool { return strings.HasPrefix(key, n.key()+separator) }

func (n namespace) valid() bool {
	return len(n) > 0 && !slices.ContainsFunc(n, func(level string) bool {
		return level == "" || strings.Contains(level, separator)
	})
}

func (s *Server) createNamespace(c *call) (reply, error) {
	var asked struct {
		Namespace  namespace         `json:"namespace"`
		Properties map[string]string `json:"properties"`
	}
	if err := c.decode(&asked); err != nil {
		return reply{}, err
	}
	if !asked.Namespace.valid() || s.is().OneLevel && len(asked.Namespace) > 1 {
		return reply{}, badRequest("invalid namespace")
	}
	if asked.Properties == nil {
		asked.Properties = map[string]string{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if parent := asked.Namespace[:len(asked.Namespace)-1]; len(parent) > 0 && s.namespaces[parent.key()] == nil {
		return reply{}, noSuchNamespace(parent)
	}
	if s.namespaces[asked.Namespace.key()] != nil {
		return reply{}, alreadyExists(asked.Namespace.String())
	}
	s.namespaces[asked.Namespace.key()] = maps.Clone(asked.Properties)
	return answer(asked), nil
}

func (s *Server) loadNamespace(c *call) (reply, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	properties := s.namespaces[c.namespace.key()]
	if properties == nil {
		return reply{}, noSuchNamespace(c.namespace)
	}
	if c.op == OpNamespaceExists {
		return noContent(), nil
	}
	return answer(map[string]any{"namespace": c.namespace, "properties": maps.Clone(properties)}), nil
}

func (s *Server) updateNamespace(c *call) (reply, error) {
	var asked struct {
		Removals []string          `json:"removals"`
		Updates  map[string]string `json:"updates"`
	}
	if err := c.decode(&asked); err != nil {
		return reply{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	properties := s.namespaces[c.namespace.key()]
	if properties == nil {
		return reply{}, noSuchNamespace(c.namespace)
	}
	removed, missing := []string{}, []string{}
	for _, name := range asked.Removals {
		if _, both := asked.Updates[name]; both {
			return reply{}, &statusError{http.StatusUnprocessableEntity, "UnprocessableEntityException", "a property is both removed and updated"}
		}
		if _, ok := properties[name]; ok {
			removed = append(removed, name)
		} else {
			missing = append(missing, name)
		}
	}
	for _, name := range removed {
		delete(properties, name)
	}
	maps.Copy(properties, asked.Updates)
	updated := slices.AppendSeq([]string{}, maps.Keys(asked.Updates))
	slices.Sort(updated)
	return answer(map[string][]string{"updated": updated, "removed": removed, "missing": missing}), nil
}

func (s *Server) dropNamespace(c *call) (reply, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.namespaces[c.namespace.key()] == nil {
		return reply{}, noSuchNamespace(c.namespace)
	}
	for _, keys := range [][]string{slices.Collect(maps.Keys(s.tables)), slices.Collect(maps.Keys(s.namespaces))} {
		if slices.ContainsFunc(keys, c.namespace.within) {
			return reply{}, &statusError{http.StatusConflict, "NamespaceNotEmptyException", "namespace is not empty: " + c.namespace.String()}
		}
	}
	delete(s.namespaces, c.namespace.key())
	return noContent(), nil
}

func (s *Server) listNamespaces(c *call) (reply, error) {
	var parent namespace
	if asked := c.URL.Query().Get("parent"); asked != "" {
		parent = strings.Split(asked, separator)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(parent) > 0 && s.namespaces[parent.key()] == nil {
		return reply{}, noSuchNamespace(parent)
	}
	keys := []string{}
	for key := range s.namespaces {
		if (len(parent) == 0 || parent.within(key)) && strings.Count(key, separator) == len(parent) {
			keys = append(keys, key)
		}
	}
	keys, next, err := page(c, keys)
	if err != nil {
		return reply{}, err
	}
	found := make([]namespace, len(keys))
	for i, key := range keys {
		found[i] = strings.Split(key, separator)
	}
	return answer(listing(next, "namespaces", found)), nil
}

// page sorts keys and cuts them to what the request's pageToken and pageSize ask for. The token names the last key
// of the page before it, so it stays right when entries come and go.
func page(c *call, keys []string) (cut []string, next string, err error) {
	slices.Sort(keys)
	query := c.URL.Query()
	if token := query.Get("pageToken"); token != "" {
		last, err := base64.RawURLEncoding.DecodeString(token)
		if err != nil {
			return nil, "", badRequest("invalid pageToken")
		}
		at, found := slices.BinarySearch(keys, string(last))
		if found {
			at++
		}
		keys = keys[at:]
	}
	asked := query.Get("pageSize")
	if asked == "" {
		return keys, "", nil
	}
	size, err := strconv.Atoi(asked)
	if err != nil || size < 1 {
		return nil, "", badRequest("invalid pageSize")
	}
	if len(keys) > size {
		keys = keys[:size]
		next = base64.RawURLEncoding.EncodeToString([]byte(keys[size-1]))
	}
	return keys, next, nil
}

func listing(next, name string, found any) map[string]any {
	body := map[string]any{name: found}
	if next != "" {
		body["next-page-token"] = next
	}
	return body
}
