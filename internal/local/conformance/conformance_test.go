package conformance_test

import (
	"testing"

	"github.com/frazil/frazil/internal/local/conformance"
	"github.com/frazil/frazil/internal/local/stack"
)

// known is what the profiles of the embedded catalog do otherwise, as the catalogs do that they are profiles of.
var known = map[string]map[string]string{
	"glue":     {"namespaces have levels": "invalid namespace"},
	"s3tables": {"namespaces have levels": "invalid namespace", "snapshots stay until they are expired": "MethodNotAllowed"},
	"nessie": {
		"a tag and main's retention stay":                "month-end",
		"snapshots stay until they are expired":          "the number of snapshots is 1",
		"main can be taken back":                         "no snapshot 1 steps back",
		"of two first commits none is lost":              "the table has the rows",
		"a requirement that does not hold is a conflict": "no snapshot of main",
	},
}

func TestTheEmbeddedCatalogAndItsProfiles(t *testing.T) {
	t.Parallel()
	for _, p := range stack.Profiles {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			parts, err := stack.StartLake()
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(parts.Close)
			parts.Play(p)
			conformance.Run(t, conformance.Subject{Config: parts.CatalogConfig(), SetFault: parts.Catalog.SetFault, Known: known[p.Name]})
		})
	}
}
