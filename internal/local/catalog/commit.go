package catalog

import (
	"encoding/json"
	"net/http"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"
)

// change is what a commit asks of one table.
type change struct {
	Identifier   identifier         `json:"identifier"`
	Requirements table.Requirements `json:"requirements"`
	Updates      updates            `json:"updates"`
}

// updates remembers the format version that the updates themselves ask for, which iceberg-go keeps to itself: a
// table that a commit creates begins with that version.
type updates struct {
	table.Updates
	formatVersion int
}

func (u *updates) UnmarshalJSON(data []byte) error {
	if err := json.Unmarshal(data, &u.Updates); err != nil {
		return err
	}
	var actions []struct {
		Action        string `json:"action"`
		FormatVersion int    `json:"format-version"`
	}
	if err := json.Unmarshal(data, &actions); err != nil {
		return err
	}
	u.formatVersion = table.DefaultFormatVersion
	for _, a := range actions {
		if a.Action == table.UpdateUpgradeFormatVersion {
			u.formatVersion = a.FormatVersion
		}
	}
	return nil
}

// swap replaces from by to for one table. A nil from creates the table.
type swap struct {
	id       identifier
	from, to *entry
}

func (s *Server) commitTable(c *call) (reply, error) {
	var asked change
	if err := c.decode(&asked); err != nil {
		return reply{}, err
	}
	asked.Identifier = c.identifier()
	done, err := s.apply([]change{asked})
	if err != nil {
		return reply{}, err
	}
	return done[0].to.reply(), nil
}

func (s *Server) transaction(c *call) (reply, error) {
	var asked struct {
		Changes []change `json:"table-changes"`
	}
	if err := c.decode(&asked); err != nil {
		return reply{}, err
	}
	seen := map[string]bool{}
	for _, ch := range asked.Changes {
		if seen[ch.Identifier.key()] {
			return reply{}, badRequest("a transaction names a table twice")
		}
		seen[ch.Identifier.key()] = true
	}
	if _, err := s.apply(asked.Changes); err != nil {
		return reply{}, err
	}
	return noContent(), nil
}

// apply makes all changes or none. When another request was faster, all requirements are checked again against what
// it left.
func (s *Server) apply(changes []change) ([]swap, error) {
	for {
		swaps, err := s.prepare(changes)
		if err == nil && s.publish(swaps) {
			return swaps, nil
		}
		s.discard(swaps)
		if err != nil {
			return nil, err
		}
	}
}

// prepare writes the metadata files of all changes. With an error it returns what it had written by then.
func (s *Server) prepare(changes []change) ([]swap, error) {
	var swaps []swap
	for _, ch := range changes {
		from, err := s.current(ch)
		if err != nil {
			return swaps, err
		}
		metadata, version, err := ch.apply(from, s.is())
		if err != nil {
			return swaps, err
		}
		to, err := s.write(metadata, version)
		if err != nil {
			return swaps, err
		}
		swaps = append(swaps, swap{ch.Identifier, from, to})
	}
	return swaps, nil
}

// current returns the table that ch changes, or nil where ch creates it.
func (s *Server) current(ch change) (*entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.tables[ch.Identifier.key()]
	if e != nil || !ch.creates() {
		if e == nil {
			return nil, noSuchTable(ch.Identifier)
		}
		return e, nil
	}
	return nil, s.freeLocked(ch.Identifier)
}

func (ch change) creates() bool {
	for _, r := range ch.Requirements {
		if r.GetType() == table.AssertCreate().GetType() {
			return true
		}
	}
	return false
}

// apply returns the metadata that follows from, and the number of its file.
func (ch change) apply(from *entry, p Profile) (table.Metadata, int, error) {
	var base table.Metadata
	if from != nil {
		base = from.metadata
	}
	base, err := p.base(base, ch.Requirements)
	if err != nil {
		return nil, 0, err
	}
	for _, r := range ch.Requirements {
		if err := r.Validate(base); err != nil {
			return nil, 0, p.conflict(err.Error())
		}
	}
	metadata, version, err := ch.update(from, base)
	if err == nil {
		metadata, err = p.kept(metadata)
	}
	if err != nil {
		return nil, 0, &statusError{http.StatusBadRequest, "ValidationException", err.Error()}
	}
	return metadata, version, nil
}

func (ch change) update(from *entry, base table.Metadata) (table.Metadata, int, error) {
	if from != nil {
		metadata, err := table.UpdateTableMetadata(base, ch.Updates.Updates, from.location)
		return metadata, nextVersion(from.location), err
	}
	builder, err := table.NewMetadataBuilder(ch.Updates.formatVersion)
	if err != nil {
		return nil, 0, err
	}
	for _, u := range ch.Updates.Updates {
		if err := u.Apply(builder); err != nil {
			return nil, 0, err
		}
	}
	metadata, err := builder.Build()
	if err == nil && metadata.Location() == "" {
		err = iceberg.ErrInvalidArgument
	}
	return metadata, 0, err
}

// publish swaps all entries in, unless one of them is not the current one any more.
func (s *Server) publish(swaps []swap) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range swaps {
		if s.tables[w.id.key()] != w.from || s.namespaces[w.id.Namespace.key()] == nil {
			return false
		}
	}
	for _, w := range swaps {
		s.tables[w.id.key()] = w.to
	}
	return true
}

// discard removes metadata files that no table refers to. One that stays is harmless.
func (s *Server) discard(swaps []swap) {
	for _, w := range swaps {
		_ = s.store.Remove(w.to.location)
	}
}
