package owner_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/local/lake"
	"github.com/frazil/frazil/internal/local/owner"
	"github.com/frazil/frazil/internal/local/stack"
	"github.com/google/go-cmp/cmp"
)

// configuration is that of a local stack.
func configuration(t *testing.T, at stack.Endpoints) *config.Config {
	t.Helper()
	c, err := owner.Configuration("", at)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestTheOwnerIsToldWhatWillFollow(t *testing.T) {
	t.Parallel()
	parts, err := stack.StartLake()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(parts.Close)
	l, err := lake.Open(t.Context(), parts.CatalogConfig())
	if err != nil {
		t.Fatal(err)
	}
	spec := lake.Spec{Name: "shop.orders", Columns: []lake.Column{{Name: "id", Type: "long", Required: true}}, Key: []string{"id"}}
	if err := l.Create(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	if err := l.Append(t.Context(), spec.Name, []lake.Row{{"id": "1"}}); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	c := configuration(t, parts.Endpoints)
	c.Routes = []config.Route{
		{Topics: []string{"orders"}, Source: "main", Table: owner.TableName("shop.orders")},
		{Topics: []string{"orders"}, Source: "eu", Table: owner.TableName("shop.orders")},
	}
	own, err := owner.Open(c, &out)
	if err != nil {
		t.Fatal(err)
	}
	said := func(err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		text := out.String()
		out.Reset()
		return text
	}
	set := func(marks ...string) error { return own.SetLedger(t.Context(), "main:shop.orders", "orders", marks) }
	for _, c := range []struct{ got, want string }{
		{said(own.Ledger(t.Context(), "shop.orders")), "  ledger      no offsets yet\n"},
		{said(set("0=20", "1=0")), "topic orders, partition 0: next offset 20; records below it will be skipped\n" +
			"topic orders, partition 1: next offset 0; all records will be applied\n"},
		{said(set("0=40")), "topic orders, partition 0: next offset 40, was 20; records 20 to 39 will be skipped for good\n"},
		{said(l.Rollback(t.Context(), spec.Name, 1)), ""},
		{said(own.Ledger(t.Context(), "shop.orders")), "  ledger      topic orders, next offset by partition {0: 20, 1: 0}\n" +
			"              lost by a roll-back, offsets by partition {0: 20 to 39}\n"},
		{said(own.AcceptLedger(t.Context(), "shop.orders")), "topic orders, partition 0: next offset 40, was 20; records 20 to 39 will be skipped for good\n"},
		{said(own.AcceptLedger(t.Context(), "shop.orders")), "nothing to do\n"},
		{said(set("0=10")), "topic orders, partition 0: next offset 10, was 40; records 10 to 39 will be applied again: " +
			"by drain in its next run, by merge when its consumer group is set back\n"},
		{said(own.SetLedger(t.Context(), "shop.orders", "eu/orders", []string{"0=1"})), "topic eu/orders, partition 0: next offset 1; records below it will be skipped\n"},
		{said(own.Ledger(t.Context(), "shop.orders")), "  ledger      topic eu/orders, next offset by partition {0: 1}\n" +
			"  ledger      topic orders, next offset by partition {0: 10, 1: 0}\n"},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Error(diff)
		}
	}
	for _, marks := range []string{"0", "x=1", "0=x", "-1=0", "0=-1", "99999999999=1"} {
		if err := set(marks); err == nil || !strings.Contains(err.Error(), "is not PARTITION=OFFSET") {
			t.Errorf("%q: %v", marks, err)
		}
	}

	// Without routes, what the ledger knows may be set, and nothing else.
	own, err = owner.Open(configuration(t, parts.Endpoints), &out)
	if err != nil {
		t.Fatal(err)
	}
	if err := set("0=11"); err != nil {
		t.Error(err)
	}
	if err := own.SetLedger(t.Context(), "shop.orders", "oders", []string{"0=1"}); err == nil || !strings.Contains(err.Error(), "no offsets of topic oders") {
		t.Errorf("a misspelt topic: got %v", err)
	}
}

func TestTheOwnersTablesMayBeThoseOfADocument(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "frazil.yaml")
	if err := os.WriteFile(file, []byte("catalogs: {main: {uri: nonsense}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := owner.Configuration(file, stack.Fixed()); err == nil || !strings.Contains(err.Error(), "catalogs.main.uri") {
		t.Errorf("got %v", err)
	}
	own, err := owner.Open(configuration(t, stack.Fixed()), os.Stdout)
	if err != nil {
		t.Fatal(err)
	}
	if err := own.Ledger(t.Context(), "lake:shop.orders"); err == nil || err.Error() != "there is no catalog lake" {
		t.Errorf("a catalog that is not in it: got %v", err)
	}
}

// A topic that no route brings would stand in the ledger for good.
func TestTheOwnerSetsTopicsThatTheTableHas(t *testing.T) {
	t.Parallel()
	c := configuration(t, stack.Fixed())
	c.Routes = []config.Route{{Topics: []string{"orders"}, Source: "main", Table: owner.TableName("shop.orders")}}
	own, err := owner.Open(c, os.Stdout)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][3]string{
		{"shop.orders", "oders", "no route"}, {"shop.orders", "eu/orders", "no route"}, {"shop.lines", "orders", "topic orders goes to table main:shop.orders"},
	} {
		if err := own.SetLedger(t.Context(), c[0], c[1], []string{"0=1"}); err == nil || !strings.Contains(err.Error(), c[2]) {
			t.Errorf("%s of %s: got %v", c[1], c[0], err)
		}
	}
}

func TestTheOwnerSeesATablesHealth(t *testing.T) {
	t.Parallel()
	parts, err := stack.StartLake()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(parts.Close)
	l, err := lake.Open(t.Context(), parts.CatalogConfig())
	if err != nil {
		t.Fatal(err)
	}
	spec := lake.Spec{Name: "shop.orders", Columns: []lake.Column{{Name: "id", Type: "long", Required: true}}}
	if err := l.Create(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	for range 4 {
		if err := l.Append(t.Context(), spec.Name, []lake.Row{{"id": "1"}, {"id": "2"}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Delete(t.Context(), spec.Name, []lake.Row{{"id": "1"}}, lake.Positions); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	own, err := owner.Open(configuration(t, parts.Endpoints), &out)
	if err == nil {
		err = own.Health(t.Context(), "shop.orders")
	}
	for _, want := range []string{
		"data files    4, 4 of them small,", "about 4 of 8 rows are dead (50 %)", "a data file has 1.0 opened for it",
		"CALL main.system.rewrite_data_files(table => 'shop.orders'",
	} {
		if err != nil || !strings.Contains(out.String(), want) {
			t.Errorf("no word of %q: %v\n%s", want, err, &out)
		}
	}
}
