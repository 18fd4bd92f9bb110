package config

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// Upkeep is what maintain does for a table. What is nil it does not do.
type Upkeep struct {
	Compact *Compact
	Expire  *Expire
	Orphans *Orphans
	Athena  *Athena // which compacts what is too much for a run

	Bytes int64         // of files that a run reads to write them again
	Time  time.Duration // of a run
}

// Compact says when data files are written again.
type Compact struct {
	Target int64 // bytes of a file; 0: as the table says
	Dead   int64 // of a file's rows, in percent
	Files  int   // small ones in a partition, where they do not come to a whole one
}

// DefaultCompact is what an empty compact says.
func DefaultCompact() Compact { return Compact{Dead: 10, Files: 5} }

// Expire says which snapshots go. Zero values are for the table to say.
type Expire struct {
	OlderThan time.Duration
	Keep      int // of a branch, at least
}

// Orphans says which files below the table's location go, of those that nothing references.
type Orphans struct {
	OlderThan time.Duration
	Delete    bool // else they are counted
}

// Athena says how Amazon Athena runs a statement.
type Athena struct {
	Workgroup string
	Output    string // s3://bucket/prefix, for results; "": as the workgroup says
	Catalog   string // the data catalog that has the table
}

// The least ages. Within the hour a reader, or a writer that works on an old head, may want a snapshot's files; within the day
// a file may be one whose commit is under way.
const leastSnapshot, leastOrphan = time.Hour, 24 * time.Hour

const allTables = "*"

// UpkeepOf is what maintain does for a table; ok is false if nothing.
func (c *Config) UpkeepOf(t Table) (u Upkeep, ok bool) {
	if u, ok = c.Maintain[t.String()]; !ok {
		u, ok = c.Maintain[allTables]
	}
	return u, ok
}

type upkeepDoc struct {
	Compact *compactDoc `yaml:"compact"`
	Expire  *expireDoc  `yaml:"expire"`
	Orphans *orphansDoc `yaml:"orphans"`
	Budget  budgetDoc   `yaml:"budget"`
	Engine  *engineDoc  `yaml:"engine"`
}

type compactDoc struct {
	Target string `yaml:"target"`
	Dead   string `yaml:"dead"`
	Files  *int   `yaml:"files"`
}

type expireDoc struct {
	OlderThan string `yaml:"older_than"`
	Keep      *int   `yaml:"keep"`
}

type orphansDoc struct {
	OlderThan string `yaml:"older_than"`
	Delete    bool   `yaml:"delete"`
}

type engineDoc struct {
	Athena *athenaDoc `yaml:"athena"`
}

type athenaDoc struct {
	Workgroup string `yaml:"workgroup"`
	Output    string `yaml:"output"`
	Catalog   string `yaml:"catalog"`
}

type budgetDoc struct {
	Bytes string `yaml:"bytes"`
	Time  string `yaml:"time"`
}

// upkeep reads the policies, by table. A table that no route feeds is none of frazil's.
func (c *Config) upkeep(doc map[string]upkeepDoc, p *problems) {
	if len(doc) > 0 {
		c.Maintain = map[string]Upkeep{}
	}
	for _, name := range slices.Sorted(maps.Keys(doc)) {
		at := "maintain." + name
		if name != allTables && !slices.ContainsFunc(c.Routes, func(r Route) bool { return r.Table.String() == name }) {
			p.add("%s: no route feeds such a table (it is written catalog:namespace.table, or * for all)", at)
		}
		c.Maintain[name] = doc[name].check(at, p)
	}
	for i, r := range c.Routes {
		if u, _ := c.UpkeepOf(r.Table); u.Athena != nil && !c.Catalogs[r.Table.Catalog].isGlue() {
			p.add("routes[%d].table: its maintain has the engine athena, which reaches tables of catalogs with auth {type: sigv4, service: glue} only", i)
		}
	}
}

func (c Catalog) isGlue() bool { return c.Auth.Type == "sigv4" && c.Auth.Service == "glue" }

func (d upkeepDoc) check(at string, p *problems) Upkeep {
	u := Upkeep{Bytes: p.size(d.Budget.Bytes, "1GB", at+".budget.bytes"), Time: p.period(d.Budget.Time, "5m", time.Second, at+".budget.time")}
	if d.Compact == nil && d.Expire == nil && d.Orphans == nil {
		p.add("%s: it says nothing to do; there are compact, expire and orphans ({} for their defaults)", at)
	}
	if c := d.Compact; c != nil {
		compact := DefaultCompact()
		compact.Target, compact.Dead = p.size(c.Target, "", at+".compact.target"), p.percent(c.Dead, compact.Dead, at+".compact.dead")
		u.Compact = &compact
		if c.Files != nil {
			u.Compact.Files = p.atLeast(*c.Files, 2, at+".compact.files")
		}
	}
	if e := d.Expire; e != nil {
		u.Expire = &Expire{OlderThan: p.period(e.OlderThan, "", leastSnapshot, at+".expire.older_than")}
		if e.Keep != nil {
			u.Expire.Keep = p.atLeast(*e.Keep, 1, at+".expire.keep")
		}
	}
	if o := d.Orphans; o != nil {
		u.Orphans = &Orphans{OlderThan: p.period(o.OlderThan, "3d", leastOrphan, at+".orphans.older_than"), Delete: o.Delete}
	}
	if d.Engine != nil {
		u.Athena = d.Engine.check(at, d.Compact != nil, p)
	}
	return u
}

func (d engineDoc) check(at string, compacts bool, p *problems) *Athena {
	at += ".engine"
	if !compacts {
		p.add("%s: it is for what compact leaves, which is not given", at)
	}
	if d.Athena == nil {
		p.add("%s: it says none; there is athena ({} for its defaults)", at)
		return nil
	}
	if d.Athena.Output != "" && !prefix.MatchString(d.Athena.Output) {
		p.add("%s.athena.output: must be s3://bucket/prefix", at)
	}
	return &Athena{Workgroup: cmp.Or(d.Athena.Workgroup, "primary"), Output: d.Athena.Output, Catalog: cmp.Or(d.Athena.Catalog, "AwsDataCatalog")}
}

func (p *problems) atLeast(n, least int, at string) int {
	if n < least {
		p.add("%s: must be %d or more", at, least)
	}
	return n
}

// size reads a text as 256MB.
func (p *problems) size(text, fallback, at string) int64 {
	if text = cmp.Or(text, fallback); text == "" {
		return 0
	}
	match := memorySizes.FindStringSubmatch(text)
	if match == nil || match[2] == "%" {
		p.add("%s: must be a size, as 256MB", at)
		return 0
	}
	n, _ := strconv.ParseInt(match[1], 10, 64)
	return n * units[match[2]]
}

func (p *problems) percent(text string, fallback int64, at string) int64 {
	if text == "" {
		return fallback
	}
	match := memorySizes.FindStringSubmatch(text)
	if match == nil || match[2] != "%" {
		p.add("%s: must be a percentage, as 10%%", at)
		return 0
	}
	n, _ := strconv.ParseInt(match[1], 10, 64)
	if n > 100 {
		p.add("%s: must be 100%% at most", at)
	}
	return n
}

var days = regexp.MustCompile(`^([1-9][0-9]{0,4})d$`)

// period reads a text as 90s, 12h or 5d.
func (p *problems) period(text, fallback string, least time.Duration, at string) time.Duration {
	if text = cmp.Or(text, fallback); text == "" {
		return 0
	}
	if match := days.FindStringSubmatch(text); match != nil {
		n, _ := strconv.Atoi(match[1])
		return time.Duration(n) * 24 * time.Hour
	}
	out, err := time.ParseDuration(text)
	if err != nil || out < least {
		p.add("%s: must be a time of %s or more, as 5m, 12h or 5d", at, shortly(least))
	}
	return out
}

func shortly(d time.Duration) string {
	switch {
	case d >= 24*time.Hour:
		return strconv.Itoa(int(d/(24*time.Hour))) + "d"
	case d >= time.Hour:
		return strconv.Itoa(int(d/time.Hour)) + "h"
	}
	return d.String()
}
