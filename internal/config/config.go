// Package config reads frazil's configuration: one YAML document, or six variables for a single table.
//
// Parse reports every problem of a document at once and never guesses: an unknown key, a wrong value and a
// missing one are all errors. A key exists only once it works. The package reads no environment and opens
// no file; package environment and localstack hand the text in. It checks what can be known from the text
// alone: whether a table exists, or has a column, is found out when the table is opened.
package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Config is a checked configuration with every default filled in.
type Config struct {
	Catalogs map[string]Catalog
	Sources  map[string]Source
	Routes   []Route

	DeadLetter DeadLetter
	// ReportFailures has each partition cut at its first bad record and the record reported, in place of a failure of the
	// whole delivery. It is for event source mappings with ReportBatchItemFailures.
	ReportFailures bool
	Memory         Memory
	Drain          Drain
	Maintain       map[string]Upkeep // by table, as it is written, or *; see UpkeepOf
}

// Table names a table in a catalog.
type Table struct {
	Catalog string
	Path    []string // namespace levels, then the name
}

// String is the form the document uses: catalog:namespace.table.
func (t Table) String() string { return t.Catalog + ":" + t.Name() }

// Name is the table without its catalog: namespace.table.
func (t Table) Name() string { return strings.Join(t.Path, ".") }

// Variables are the environment variables that configure one table without a document, in the order in which
// the documentation lists them.
var Variables = []string{
	"FRAZIL_CATALOG_URI", "FRAZIL_WAREHOUSE", "FRAZIL_TOPICS", "FRAZIL_TABLE", "FRAZIL_FORMAT", "FRAZIL_KEY",
}

// FromVariables is the configuration of one table from the six Variables, looked up by get. FRAZIL_KEY and
// FRAZIL_WAREHOUSE may be absent.
func FromVariables(get func(string) string) (*Config, error) {
	var p problems
	if strings.Contains(get("FRAZIL_TABLE"), ":") {
		p.add("FRAZIL_TABLE: must be namespace.table, without a catalog")
	}
	for _, name := range []string{"FRAZIL_CATALOG_URI", "FRAZIL_TOPICS", "FRAZIL_TABLE", "FRAZIL_FORMAT"} {
		if get(name) == "" {
			p.add("%s is not set (without FRAZIL_CONFIG it is needed)", name)
		}
	}
	doc := document{
		Catalogs: map[string]catalogDoc{"main": {URI: get("FRAZIL_CATALOG_URI"), Warehouse: get("FRAZIL_WAREHOUSE")}},
		Routes: []routeDoc{{
			Topics: list(get("FRAZIL_TOPICS")),
			Format: get("FRAZIL_FORMAT"),
			Table:  "main:" + get("FRAZIL_TABLE"),
			Key:    list(get("FRAZIL_KEY")),
		}},
	}
	if err := p.err(); err != nil {
		return nil, err
	}
	c := doc.check(&p)
	for i, problem := range p.all {
		p.all[i] = errors.New(inVariables.Replace(problem.Error()))
	}
	return c, p.err()
}

// inVariables says of a document's keys in which variables they stand.
var inVariables = strings.NewReplacer(
	"catalogs.main.uri", "FRAZIL_CATALOG_URI", "routes[0].topics", "FRAZIL_TOPICS", "routes[0].format", "FRAZIL_FORMAT",
	"routes[0].table: must be catalog:namespace.table", "FRAZIL_TABLE: must be namespace.table", "routes[0].key", "FRAZIL_KEY")

func list(s string) []string {
	var out []string
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}

func (d document) check(p *problems) *Config {
	c := &Config{
		Catalogs: map[string]Catalog{}, DeadLetter: deadLetter(d.DeadLetter, p), ReportFailures: d.ReportFailures,
		Memory: memory(d.Memory, p), Drain: d.Drain.check(p),
	}
	d.checkSources(c, p)
	if len(d.Catalogs) == 0 {
		p.add("catalogs: none is given")
	}
	for _, name := range slices.Sorted(maps.Keys(d.Catalogs)) {
		c.Catalogs[name] = d.Catalogs[name].check("catalogs."+name, p)
	}
	if len(d.Routes) == 0 {
		p.add("routes: none is given")
	}
	topics := map[[2]string]int{}
	for i, r := range d.Routes {
		at := fmt.Sprintf("routes[%d]", i)
		route := r.check(at, p)
		route.Source = c.source(r.Source, at, p)
		if _, known := c.Catalogs[route.Table.Catalog]; !known && route.Table.Catalog != "" {
			p.add("%s.table: there is no catalog %q", at, route.Table.Catalog)
		}
		for _, t := range route.Topics {
			topic := [2]string{route.Source, t}
			if other, twice := topics[topic]; twice && other != i {
				p.add("%s.topics: %s is in routes[%d] too; a topic feeds one route", at, t, other)
			}
			topics[topic] = i
		}
		c.Routes = append(c.Routes, route)
	}
	c.checkPatterns(p)
	c.checkShared(p)
	c.upkeep(d.Maintain, p)
	return c
}

// checkPatterns finds the names that a pattern of another route matches too. What two patterns have in common shows only
// when a record comes.
func (c *Config) checkPatterns(p *problems) {
	for i, with := range c.Routes {
		for _, topic := range with.Topics {
			re, is, err := Pattern(topic)
			if !is || err != nil {
				continue
			}
			for j, other := range c.Routes {
				for _, name := range other.Topics {
					if i != j && with.Source == other.Source && re.MatchString(name) {
						p.add("routes[%d].topics: %s matches %s of routes[%d]; a topic feeds one route", i, topic, name, j)
					}
				}
			}
		}
	}
}

// checkShared finds routes that say of one table which rows are one, or how rows go, in two ways. Where only one of them says,
// the table decides for the other one, which shows when their records come together.
func (c *Config) checkShared(p *problems) {
	for i, r := range c.Routes {
		for j, other := range c.Routes[:i] {
			if r.Table.Catalog != other.Table.Catalog || !slices.Equal(r.Table.Path, other.Table.Path) {
				continue
			}
			if len(r.Key) > 0 && len(other.Key) > 0 && !slices.Equal(r.Key, other.Key) {
				p.add("routes[%d].key: is another one than that of routes[%d], which feeds the same table", i, j)
			}
			if r.Deletes != "" && other.Deletes != "" && r.Deletes != other.Deletes {
				p.add("routes[%d].deletes: is another one than that of routes[%d], which feeds the same table", i, j)
			}
		}
	}
}

// problems gathers everything that is wrong, in the order in which it was found.
type problems struct{ all []error }

func (p *problems) add(format string, args ...any) {
	p.all = append(p.all, fmt.Errorf(format, args...))
}

func (p *problems) err() error {
	if len(p.all) == 0 {
		return nil
	}
	return fmt.Errorf("configuration: %d problem(s):\n%w", len(p.all), errors.Join(p.all...))
}
