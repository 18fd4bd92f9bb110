package catalog

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"

	"github.com/apache/iceberg-go/table"
)

// Profile is how a catalog is not as the specification wants it. The zero Profile is the strict one.
type Profile struct {
	Lacks           []Op // operations that it does not serve
	OneLevel        bool // namespaces have one level
	NoStagedCreate  bool // a staged create is refused
	CurrentOnly     bool // the metadata keep no snapshot but the current one
	UncheckedNull   bool // that a branch does not exist yet is asserted in vain: the later of two first commits wins
	UntypedConflict bool // a conflict is a 409 that says nothing else
}

// Profiles of catalogs that frazil meets. What else is odd about them frazil's requests do not touch.
var (
	Glue     = Profile{OneLevel: true, NoStagedCreate: true, Lacks: []Op{OpRenameTable, OpRegisterTable, OpTransaction}}
	S3Tables = Profile{OneLevel: true, NoStagedCreate: true, Lacks: []Op{OpUpdateNamespace, OpRegisterTable, OpTransaction, OpMetrics}}
	Nessie   = Profile{CurrentOnly: true, UncheckedNull: true, UntypedConflict: true} // 0.99
)

// SetProfile makes the server behave as p.
func (s *Server) SetProfile(p Profile) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.profile = p
}

func (s *Server) is() Profile {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.profile
}

// refuses is the answer to a request that the profile does not serve, nil for all others.
func (p Profile) refuses(c *call) error {
	switch {
	case slices.Contains(p.Lacks, c.op):
		return &statusError{http.StatusNotFound, "NotFoundException", "no such route"}
	case p.OneLevel && len(c.namespace) > 1:
		return badRequest("a namespace has one level")
	}
	return nil
}

// conflict is a requirement that does not hold.
func (p Profile) conflict(message string) error {
	kind := "CommitFailedException"
	if p.UntypedConflict {
		kind = ""
	}
	return &statusError{http.StatusConflict, kind, message}
}

// base is what a change is applied to. Where a null assertion is in vain and does not hold, the table is taken for one
// without snapshots.
func (p Profile) base(from table.Metadata, requirements table.Requirements) (table.Metadata, error) {
	if p.UncheckedNull && from != nil && slices.ContainsFunc(requirements, func(r table.Requirement) bool { return absent(r) && r.Validate(from) != nil }) {
		return without(from)
	}
	return from, nil
}

// absent reports whether a requirement is that a branch does not exist.
func absent(r table.Requirement) bool {
	text, err := json.Marshal(r)
	var doc struct {
		Type     string `json:"type"`
		Snapshot *int64 `json:"snapshot-id"`
	}
	return err == nil && json.Unmarshal(text, &doc) == nil && doc.Type == table.AssertRefSnapshotID("", nil).GetType() && doc.Snapshot == nil
}

// without is a table's metadata without a snapshot.
func without(m table.Metadata) (table.Metadata, error) {
	return edit(m, func(doc map[string]any) {
		for _, name := range []string{"snapshots", "snapshot-log", "refs", "current-snapshot-id"} {
			delete(doc, name)
		}
		doc["last-sequence-number"] = 0
	})
}

// kept is what the profile keeps of a table's metadata.
func (p Profile) kept(m table.Metadata) (table.Metadata, error) {
	if !p.CurrentOnly || len(m.Snapshots()) < 2 {
		return m, nil
	}
	return edit(m, func(doc map[string]any) {
		for _, name := range []string{"snapshots", "snapshot-log"} {
			list, _ := doc[name].([]any)
			doc[name] = slices.DeleteFunc(list, func(e any) bool { return e.(map[string]any)["snapshot-id"] != doc["current-snapshot-id"] })
		}
	})
}

// edit changes metadata as the JSON that they are.
func edit(m table.Metadata, change func(map[string]any)) (table.Metadata, error) {
	text, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var doc map[string]any
	if err := d.Decode(&doc); err != nil {
		return nil, err
	}
	change(doc)
	if text, err = json.Marshal(doc); err != nil {
		return nil, err
	}
	return table.ParseMetadataBytes(text)
}
