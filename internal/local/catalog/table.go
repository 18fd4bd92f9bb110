package catalog

import (
	"encoding/json"
	"strings"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"
)

type identifier struct {
	Namespace namespace `json:"namespace"`
	Name      string    `json:"name"`
}

func (id identifier) key() string    { return id.Namespace.key() + separator + id.Name }
func (id identifier) String() string { return id.Namespace.String() + "." + id.Name }

func (id identifier) valid() bool {
	return id.Namespace.valid() && id.Name != "" && !strings.Contains(id.Name, separator)
}

// entry is one version of a table. It is immutable.
type entry struct {
	location string // of the metadata file
	metadata table.Metadata
	json     json.RawMessage
}

func (e *entry) reply() reply {
	return answer(map[string]any{"metadata-location": e.location, "metadata": e.json, "config": map[string]string{}})
}

func (s *Server) loadTable(c *call) (reply, error) {
	e, err := s.find(c.identifier())
	if err != nil {
		return reply{}, err
	}
	return e.reply(), nil
}

func (s *Server) tableExists(c *call) (reply, error) {
	if _, err := s.find(c.identifier()); err != nil {
		return reply{}, err
	}
	return noContent(), nil
}

func (s *Server) find(id identifier) (*entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.tables[id.key()]
	if e == nil {
		return nil, noSuchTable(id)
	}
	return e, nil
}

func (s *Server) listTables(c *call) (reply, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.namespaces[c.namespace.key()] == nil {
		return reply{}, noSuchNamespace(c.namespace)
	}
	keys := []string{}
	for key := range s.tables {
		if c.namespace.within(key) && strings.Count(key, separator) == len(c.namespace) {
			keys = append(keys, key)
		}
	}
	keys, next, err := page(c, keys)
	if err != nil {
		return reply{}, err
	}
	found := make([]identifier, len(keys))
	for i, key := range keys {
		found[i] = identifier{c.namespace, key[strings.LastIndex(key, separator)+len(separator):]}
	}
	return answer(listing(next, "identifiers", found)), nil
}

// createRequest carries a spec and an order whose source ids are those of the client's schema, in any numbering.
type createRequest struct {
	Name        string                        `json:"name"`
	Location    string                        `json:"location"`
	Schema      *iceberg.Schema               `json:"schema"`
	Spec        *iceberg.UnboundPartitionSpec `json:"partition-spec"`
	Order       *table.UnboundSortOrder       `json:"write-order"`
	StageCreate bool                          `json:"stage-create"`
	Properties  iceberg.Properties            `json:"properties"`
}

func (s *Server) createTable(c *call) (reply, error) {
	var asked createRequest
	if err := c.decode(&asked); err != nil {
		return reply{}, err
	}
	if asked.StageCreate && s.is().NoStagedCreate {
		return reply{}, badRequest("a staged create is not supported")
	}
	id := identifier{c.namespace, asked.Name}
	if err := s.free(id); err != nil {
		return reply{}, err
	}
	metadata, err := asked.metadata(s.defaultLocation(id))
	if err != nil {
		return reply{}, badRequest(err.Error())
	}
	if asked.StageCreate {
		return answer(map[string]any{"metadata": metadata, "config": map[string]string{}}), nil
	}
	e, err := s.write(metadata, 0)
	if err != nil {
		return reply{}, err
	}
	return s.add(id, e)
}

func (a *createRequest) metadata(location string) (table.Metadata, error) {
	if a.Schema == nil {
		return nil, badRequest("a table needs a schema")
	}
	var spec *iceberg.PartitionSpec
	if a.Spec != nil {
		spec = &a.Spec.PartitionSpec
	}
	order := table.UnsortedSortOrder
	if a.Order != nil {
		order = a.Order.SortOrder
	}
	if a.Location != "" {
		location = strings.TrimRight(a.Location, "/")
	}
	return table.NewMetadata(a.Schema, spec, order, location, a.Properties)
}

func (s *Server) defaultLocation(id identifier) string {
	return s.warehouse + "/" + strings.Join(id.Namespace, "/") + "/" + id.Name
}

// free reports whether a table of that name may be created.
func (s *Server) free(id identifier) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.freeLocked(id)
}

func (s *Server) freeLocked(id identifier) error {
	switch {
	case !id.valid():
		return badRequest("invalid table identifier")
	case s.namespaces[id.Namespace.key()] == nil:
		return noSuchNamespace(id.Namespace)
	case s.tables[id.key()] != nil:
		return alreadyExists(id.String())
	}
	return nil
}

func (s *Server) add(id identifier, e *entry) (reply, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.freeLocked(id); err != nil {
		return reply{}, err
	}
	s.tables[id.key()] = e
	return e.reply(), nil
}

func (s *Server) registerTable(c *call) (reply, error) {
	var asked struct {
		Name     string `json:"name"`
		Location string `json:"metadata-location"`
	}
	if err := c.decode(&asked); err != nil {
		return reply{}, err
	}
	id := identifier{c.namespace, asked.Name}
	if err := s.free(id); err != nil {
		return reply{}, err
	}
	e, err := s.read(asked.Location)
	if err != nil {
		return reply{}, badRequest(err.Error())
	}
	return s.add(id, e)
}

func (s *Server) dropTable(c *call) (reply, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := c.identifier()
	if s.tables[id.key()] == nil {
		return reply{}, noSuchTable(id)
	}
	delete(s.tables, id.key())
	return noContent(), nil
}

func (s *Server) renameTable(c *call) (reply, error) {
	var asked struct {
		Source      identifier `json:"source"`
		Destination identifier `json:"destination"`
	}
	if err := c.decode(&asked); err != nil {
		return reply{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.tables[asked.Source.key()]
	if e == nil {
		return reply{}, noSuchTable(asked.Source)
	}
	if err := s.freeLocked(asked.Destination); err != nil {
		return reply{}, err
	}
	delete(s.tables, asked.Source.key())
	s.tables[asked.Destination.key()] = e
	return noContent(), nil
}
