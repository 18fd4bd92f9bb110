package internal_test

import (
	"cmp"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/frazil/frazil/"

// weight says what a package costs those who import it. None may import a heavier one.
type weight int

const (
	light weight = iota // neither Iceberg nor Arrow: tests link in a second
	ice                 // Arrow and iceberg-go's root package
	heavy               // iceberg-go's table and catalogs, object stores: 100 ms of start-up, 15 MB
)

// rule is what a package may import of ours.
type rule struct {
	weight  weight
	imports string // names under internal/, separated by spaces
}

// rules are the arrows of the flow; a package that is not listed fails the test.
var rules = map[string]rule{
	"kafka":       {light, ""},
	"wire":        {light, ""},
	"config":      {light, "kafka"},
	"kafkaevent":  {light, "kafka wire"},
	"ledger":      {light, "kafka"},
	"change":      {light, "wire"},
	"envelope":    {light, "change kafka wire"},
	"route":       {light, "config kafka"},
	"deadletter":  {light, "kafka"},
	"cluster":     {light, "config deadletter"},
	"consume":     {light, "cluster config kafka ledger"},
	"report":      {light, ""},
	"schedule":    {light, ""},
	"lease":       {light, ""},
	"rows":        {ice, ""},
	"coerce":      {ice, "change config rows wire"},
	"merge":       {ice, "rows"},
	"tablefile":   {ice, "rows"},
	"locate":      {ice, "rows tablefile"},
	"resolve":     {ice, "locate merge rows"},
	"stage":       {ice, "locate resolve rows tablefile"},
	"warehouse":   {heavy, "config"},
	"environment": {heavy, "config warehouse"},
	"athena":      {heavy, "config warehouse"},
	"commit":      {heavy, "ledger locate stage tablefile"},
	"ingest":      {heavy, "change cluster coerce commit config deadletter envelope kafka kafkaevent lease ledger locate merge report resolve route rows stage tablefile warehouse wire"},
	"drain":       {heavy, "cluster config consume ingest kafka lease ledger report warehouse"},
	"maintain":    {heavy, "athena coerce commit config ledger locate report rows stage tablefile warehouse"},
}

// wall keeps a third-party module inside the packages that need it.
type wall struct {
	module string   // or a package of it, with what is below
	but    string   // a package below that is free for all; "" is none
	inside []string // folders of the module, with what is below
	reason string
}

// heavyPackages are those of rules that are heavy, the local runner, and what measures iceberg-go alone.
var heavyPackages = []string{"internal/commit", "internal/warehouse", "internal/ingest", "internal/maintain", "internal/local", ".ci/versus"}

var walls = []wall{
	{"github.com/aws/aws-lambda-go", "", []string{"functions", "", "internal/local/lambda/testdata"}, "only functions know that they run on Lambda"},
	{"github.com/twmb/franz-go", "", []string{"internal/cluster", "internal/consume", "internal/local", ".ci/interop", ".ci/versus/plain", ".ci/versus/world"}, "merge gets its records from Lambda's event"},
	{"github.com/jackc/pgx", "", []string{"internal/local/database"}, "frazil reads databases through Kafka"},
	{"github.com/go-sql-driver/mysql", "", []string{"internal/local/database"}, "frazil reads databases through Kafka"},
	{"github.com/aws/aws-sdk-go-v2", "", []string{"internal/warehouse", "internal/athena", "", "internal/local"}, "AWS is behind warehouse and athena"},
	{"github.com/apache/iceberg-go/table", "github.com/apache/iceberg-go/table/dv", heavyPackages, "it costs build and start time"},
	{"github.com/apache/iceberg-go/catalog", "", heavyPackages, "it brings iceberg-go's table"},
	{"github.com/apache/iceberg-go/io", "", heavyPackages, "it brings object stores"},
	{"go.yaml.in/yaml", "", []string{"internal/config", "", "internal/local", ".ci"}, "configuration is read in one place"},
	{"github.com/compose-spec", "", nil, "it checks a file of the repository"},
	{"github.com/google/go-cmp", "", nil, "it is for tests"},
}

// source is a package's files that are no tests.
type source struct {
	dir     string // in the module
	docs    int    // files with a package doc
	imports map[string]string
}

func TestImportsGoDownwards(t *testing.T) {
	t.Parallel()
	for _, p := range sources(t) {
		name, internal := strings.CutPrefix(p.dir, "internal/")
		if !internal || strings.HasPrefix(name, "local/") {
			continue
		}
		r, listed := rules[name]
		if !listed {
			t.Errorf("%s has no rule: say in rules what it may import, and why it exists in its package doc", p.dir)
			continue
		}
		for imported, file := range p.imports {
			other, ours := strings.CutPrefix(imported, module+"internal/")
			if ours && !slices.Contains(strings.Fields(r.imports), other) {
				t.Errorf("%s imports %s: %s may import of ours only: %s", file, other, name, cmp.Or(r.imports, "nothing"))
			}
		}
	}
}

func TestNoPackageImportsAHeavierOne(t *testing.T) {
	t.Parallel()
	for name, r := range rules {
		for _, imported := range strings.Fields(r.imports) {
			other, listed := rules[imported]
			if !listed {
				t.Errorf("%s may import %s, which does not exist", name, imported)
			}
			if other.weight > r.weight {
				t.Errorf("%s may import %s, which is heavier: its tests and builds get as slow", name, imported)
			}
		}
	}
}

func TestLightPackagesKnowNeitherIcebergNorArrow(t *testing.T) {
	t.Parallel()
	for _, p := range sources(t) {
		r, listed := rules[strings.TrimPrefix(p.dir, "internal/")]
		if !listed || r.weight != light {
			continue
		}
		for imported, file := range p.imports {
			if strings.HasPrefix(imported, "github.com/apache/") {
				t.Errorf("%s imports %s: the package is light, so that it builds and tests in a second", file, imported)
			}
		}
	}
}

func TestFunctionsAndLocalstackAreWiring(t *testing.T) {
	t.Parallel()
	const reason = "it is wiring and holds no part of the flow itself"
	allowed := map[string][]string{
		"functions/drain":    {"internal/drain", "internal/environment", "internal/ingest", "internal/schedule"},
		"functions/maintain": {"internal/environment", "internal/ingest", "internal/maintain", "internal/schedule"},
		"functions/merge":    {"internal/ingest", "internal/environment"},
		"localstack":         {"internal/local/demo", "internal/local/owner", "internal/local/scenario", "internal/local/soak", "internal/local/stack", "internal/local/verify"},
	}
	for _, p := range sources(t) {
		if within(p.dir, []string{"internal", ".ci"}) {
			continue
		}
		list, listed := allowed[p.dir]
		if !listed {
			t.Errorf("%s has no rule", p.dir)
		}
		for imported, file := range p.imports {
			other, ours := strings.CutPrefix(imported, module)
			if ours && !slices.Contains(list, other) {
				t.Errorf("%s imports %s: %s, and may import of ours only %s", file, other, reason, strings.Join(list, ", "))
			}
		}
	}
}

func TestOnlyTheLocalRunnerImportsTheLocalRunner(t *testing.T) {
	t.Parallel()
	for _, p := range sources(t) {
		if within(p.dir, []string{"internal/local", "localstack", ".ci"}) {
			continue
		}
		for imported, file := range p.imports {
			if strings.HasPrefix(imported, module+"internal/local/") {
				t.Errorf("%s imports %s: what is deployed must not know the fakes", file, imported)
			}
		}
	}
}

func TestThirdPartyModulesStayBehindTheirWalls(t *testing.T) {
	t.Parallel()
	all := sources(t)
	for _, w := range walls {
		for _, p := range all {
			for imported, file := range p.imports {
				behind := (imported == w.module || strings.HasPrefix(imported, w.module+"/")) && imported != w.but
				if behind && !within(p.dir, w.inside) {
					t.Errorf("%s imports %s: %s; it belongs in %s", file, imported, w.reason, cmp.Or(strings.Join(w.inside, ", "), "tests"))
				}
			}
		}
	}
}

func TestEveryPackageHasOneDoc(t *testing.T) {
	t.Parallel()
	for _, p := range sources(t) {
		if p.docs != 1 {
			t.Errorf("%s has %d package docs, want one: purpose, contract, and what it does not promise", p.dir, p.docs)
		}
	}
}

// within reports whether a folder is one of others, or below one.
func within(dir string, others []string) bool {
	return slices.ContainsFunc(others, func(o string) bool { return dir == o || strings.HasPrefix(dir, o+"/") })
}

// sources reads the packages of the module. It parses rather than asks the go command, so that files of every
// platform and build tag count.
func sources(t *testing.T) []*source {
	t.Helper()
	root := os.DirFS("..")
	found := map[string]*source{}
	for _, top := range []string{".ci", "functions", "internal", "localstack"} {
		err := fs.WalkDir(root, top, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
				return err
			}
			return found[dirOf(found, name)].read(name)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(found) < len(rules) {
		t.Fatalf("only %d packages found", len(found))
	}
	return slices.SortedFunc(maps.Values(found), func(a, b *source) int { return cmp.Compare(a.dir, b.dir) })
}

// dirOf is the folder of a file, which found has from now on.
func dirOf(found map[string]*source, name string) string {
	dir := path.Dir(name)
	if found[dir] == nil {
		found[dir] = &source{dir: dir, imports: map[string]string{}}
	}
	return dir
}

func (p *source) read(name string) error {
	file, err := parser.ParseFile(token.NewFileSet(), "../"+name, nil, parser.ImportsOnly|parser.ParseComments)
	if err != nil {
		return err
	}
	if file.Doc != nil {
		p.docs++
	}
	for _, spec := range file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		p.imports[imported] = name
	}
	return nil
}
