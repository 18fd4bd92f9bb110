package config_test

import (
	"strings"
	"testing"
	"time"

	"github.com/frazil/frazil/internal/config"
	"github.com/google/go-cmp/cmp"
)

const oneTable = "catalogs: {main: {uri: \"http://c\"}}\nroutes: [{topics: [a], format: flat, table: \"main:n.a\"}, {topics: [b], format: flat, table: \"main:n.b\"}]\n"

func TestMaintain(t *testing.T) {
	t.Parallel()
	c, err := config.Parse([]byte(oneTable + `maintain: {"main:n.a": {compact: {target: 64MB, dead: 25%, files: 3}, expire: {older_than: 2d, keep: 7}, orphans: {older_than: 36h, delete: true},
  budget: {bytes: 2GB, time: 90s}}, "*": {compact: {}, expire: {}, orphans: {}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for table, want := range map[string]config.Upkeep{
		"a": {
			Compact: &config.Compact{Target: 64_000_000, Dead: 25, Files: 3}, Expire: &config.Expire{OlderThan: 48 * time.Hour, Keep: 7},
			Orphans: &config.Orphans{OlderThan: 36 * time.Hour, Delete: true}, Bytes: 2_000_000_000, Time: 90 * time.Second,
		},
		"b": {
			Compact: &config.Compact{Dead: 10, Files: 5}, Expire: &config.Expire{}, Orphans: &config.Orphans{OlderThan: 72 * time.Hour},
			Bytes: 1_000_000_000, Time: 5 * time.Minute,
		},
	} {
		got, ok := c.UpkeepOf(config.Table{Catalog: "main", Path: []string{"n", table}})
		if diff := cmp.Diff(want, got); diff != "" || !ok {
			t.Errorf("%s: %s", table, diff)
		}
	}
}

func TestEngine(t *testing.T) {
	t.Parallel()
	const glue = "catalogs: {main: {uri: \"https://glue.eu-west-1.amazonaws.com/iceberg\", warehouse: \"1\"}, other: {uri: \"http://c\"}}\n" +
		"routes: [{topics: [a], format: flat, table: \"main:n.a\"}, {topics: [b], format: flat, table: \"other:n.b\"}]\n"
	c, err := config.Parse([]byte(glue + `maintain: {"*": {compact: {}}, "main:n.a": {compact: {}, engine: {athena: {output: s3://lake/athena/}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := &config.Athena{Workgroup: "primary", Output: "s3://lake/athena/", Catalog: "AwsDataCatalog"}
	if got, _ := c.UpkeepOf(c.Routes[0].Table); !cmp.Equal(got.Athena, want) {
		t.Errorf("got %v", got.Athena)
	}
	if got, _ := c.UpkeepOf(c.Routes[1].Table); got.Athena != nil {
		t.Errorf("the other table has %v", got.Athena)
	}
	_, err = config.Parse([]byte(glue + `maintain: {"*": {compact: {}, engine: {athena: {}}}, "main:n.a": {expire: {}, engine: {athena: {output: lake, group: a}}}, "other:n.b": {compact: {}, engine: {}}}`))
	for _, want := range []string{"unknown key group", "main:n.a.engine: it is for what compact leaves", "main:n.a.engine.athena.output: must be s3://", "other:n.b.engine: it says none"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no word of %q in %v", want, err)
		}
	}
	_, err = config.Parse([]byte(glue + `maintain: {"*": {compact: {}, engine: {athena: {workgroup: w}}}}`))
	if err == nil || !strings.Contains(err.Error(), "routes[1].table: its maintain has the engine athena, which reaches tables of catalogs with auth") {
		t.Errorf("got %v", err)
	}
}

func TestMaintainIsRefusedWithAllItsProblems(t *testing.T) {
	t.Parallel()
	_, err := config.Parse([]byte(oneTable + `maintain: {"main:n.c": {compact: {}}, "main:n.b": {}, "main:n.a": {compact: {target: 5%, dead: 101%, files: 1}, expire: {older_than: 5m, keep: 0},
  orphans: {older_than: 23h}, budget: {bytes: much, time: 1ms}, vacuum: {}}}`))
	for _, want := range []string{
		"unknown key vacuum", "maintain.main:n.c: no route", "maintain.main:n.b: it says nothing", "compact.target: must be a size", "compact.dead: must be 100%", "compact.files: must be 2",
		"expire.older_than: must be a time of 1h or more", "expire.keep: must be 1", "orphans.older_than: must be a time of 1d or more", "budget.bytes: must be a size",
		"budget.time: must be a time of 1s",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no word of %q in %v", want, err)
		}
	}
}
