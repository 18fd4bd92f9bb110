package ingest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/frazil/frazil/internal/ingest"
	"github.com/frazil/frazil/internal/kafka"
	"github.com/frazil/frazil/internal/local/lake"
	"github.com/frazil/frazil/internal/local/trial"
	"github.com/google/go-cmp/cmp"
)

// samples are values of each type, as JSON that a record carries them in: few, so that rows often share one.
var samples = map[string][]string{
	"boolean":                          {"true", "false"},
	"int":                              {"-2147483648", "-7", "0", "13", "2147483647"},
	"long":                             {"-9223372036854775808", "-1", "0", "9007199254740993", "9223372036854775807"},
	"float":                            {"-1.5", "0.25", "3.4028235e38", `"NaN"`, `"-Infinity"`},
	"double":                           {"-0.1", "2.5", "1.7976931348623157e308", `"NaN"`, `"Infinity"`},
	"decimal(9, 2)":                    {`"-9999999.99"`, `"-0.01"`, `"0"`, `"12.30"`},
	"decimal(38, 5)":                   {`"-1234567890123456789012345678901.5"`, `"0.00001"`, `"99"`},
	"date":                             {`"1965-03-31"`, `"1969-12-31"`, `"1970-01-01"`, `"2024-02-29"`, `"2024-03-01"`},
	"time":                             {`"00:00:00"`, `"06:07:08.123456"`, `"23:59:59.999999"`},
	"timestamp":                        {`"1965-03-31T23:00:00"`, `"1969-12-31T23:59:59.999999"`, `"2024-03-05T06:07:08.1"`, `"2024-03-05T07:00:00"`},
	"timestamptz":                      {`"1965-03-31T23:00:00Z"`, `"1969-12-31T23:59:59.999999Z"`, `"2024-03-05T06:07:08+02:00"`},
	"string":                           {`""`, `"é"`, `"north/west=1"`, `"a text that is longer than sixteen code points"`, `"z\u0000"`},
	"uuid":                             {`"00000000-0000-4000-8000-000000000001"`, `"F47AC10B-58CC-4372-A567-0E02B2C3D479"`},
	"fixed[3]":                         {`"000000"`, `"ff00ff"`},
	"binary":                           {`""`, `"00ff"`, `"ffffffffffffffffffffffffffffffffffffffff"`},
	"timestamp_ns":                     {`"1965-03-31T23:00:00.000000001"`, `"2024-03-05T06:07:08.123456789"`},
	"list<int>":                        {`[]`, `[1,null,3]`, `[7]`},
	"struct<a: long, b: list<string>>": {`{"a":1,"b":["x","y"]}`, `{"a":null,"b":null}`, `{"a":-5,"b":[]}`},
	"map<string, double>":              {`{}`, `{"k":1.5}`, `{"k":null,"l":2.0}`},
}

func pickOf[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

// partitionTexts are the partition fields that a column of a type can make.
var partitionTexts = map[string][]string{
	"boolean": {"identity"}, "int": {"identity", "bucket(3, ", "truncate(10, "}, "long": {"identity", "bucket(4, ", "truncate(100, "},
	"float": {"identity"}, "decimal(9, 2)": {"identity", "bucket(3, ", "truncate(50, "}, "decimal(38, 5)": {"bucket(2, "},
	"date": {"identity", "year", "month", "day", "bucket(3, "}, "time": {"identity", "bucket(2, "},
	"timestamp": {"year", "month", "day", "hour", "identity"}, "timestamptz": {"month", "day", "hour", "bucket(2, "},
	"string": {"identity", "truncate(2, ", "bucket(3, ", "void"}, "uuid": {"identity", "bucket(2, "}, "fixed[3]": {"identity", "bucket(2, "},
	"binary": {"identity", "truncate(1, ", "bucket(2, "}, "timestamp_ns": {"day", "hour"},
}

// shape is a table of random columns with its content as a map, and those who change it.
type shape struct {
	*world
	r        *rand.Rand
	columns  []lake.Column // the key's first
	keys     []map[string]string
	want     map[string]map[string]string // by key: values as JSON by column
	pipeline *ingest.Pipeline
	offset   int64
	spec     []string
	version  int
	encoding string
	evolved  bool // by partitions or version
	log      []string
}

func newShape(t *testing.T, seed uint64) *shape {
	t.Helper()
	s := &shape{r: rand.New(rand.NewPCG(seed, 4)), want: map[string]map[string]string{}, version: 2 + int(seed%2)}
	s.encoding = []string{"position", "rewrite", "equality", "auto"}[seed/2%4]
	keyTypes := pickOf(s.r, []string{"long"}, []string{"string"}, []string{"uuid", "date"}, []string{"decimal(9, 2)", "binary"}, []string{"timestamp", "int"})
	for i, typ := range keyTypes {
		s.columns = append(s.columns, lake.Column{Name: fmt.Sprintf("k%d", i), Type: typ, Required: true})
	}
	types := slices.Sorted(maps.Keys(samples))
	s.r.Shuffle(len(types), func(i, j int) { types[i], types[j] = types[j], types[i] })
	for i, typ := range types[:8] {
		if typ == "timestamp_ns" && s.version < 3 {
			continue
		}
		s.columns = append(s.columns, lake.Column{Name: fmt.Sprintf("c%d", i), Type: typ})
	}
	seen := map[string]bool{}
	for range 14 {
		key := map[string]string{}
		for _, c := range s.columns[:len(keyTypes)] {
			key[c.Name] = pickOf(s.r, samples[c.Type]...)
		}
		if id := s.id(key); !seen[id] {
			seen[id] = true
			s.keys = append(s.keys, key)
		}
	}
	s.spec = s.randomSpec()
	spec := lake.Spec{Name: "shop.shape", Version: s.version, Columns: s.columns, Partition: s.spec, Sort: s.randomSort()}
	for _, c := range s.columns[:len(keyTypes)] {
		spec.Key = append(spec.Key, c.Name)
	}
	spec.Properties = maps.Clone(pickOf(s.r, trial.Cares...))
	if s.r.IntN(3) == 0 {
		spec.Properties["write.delete.granularity"], spec.Properties["write.metadata.metrics.default"] = "file", "counts"
	}
	s.note("version %d, %s, key %v, columns %v, partitions %v, sort %v, %v", s.version, s.encoding, keyTypes, s.columns[len(keyTypes):], s.spec, spec.Sort, spec.Properties)
	s.world = newWorld(t, spec, "topics: [orders], format: flat, binary_encoding: hex, deletes: "+s.encoding)
	s.pipeline = s.world.pipeline()
	return s
}

func (s *shape) note(format string, args ...any) { s.log = append(s.log, fmt.Sprintf(format, args...)) }

func (s *shape) id(key map[string]string) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(key)) {
		parts = append(parts, strings.ToLower(key[name]))
	}
	return strings.Join(parts, "|")
}

func (s *shape) randomSpec() (out []string) {
	for range s.r.IntN(3) {
		c := pickOf(s.r, s.columns...)
		if list := partitionTexts[c.Type]; len(list) > 0 && !strings.Contains(strings.Join(out, " "), c.Name) {
			text := pickOf(s.r, list...)
			if !strings.HasSuffix(text, ", ") {
				text += "("
			}
			out = append(out, text+c.Name+")")
		}
	}
	return out
}

func (s *shape) randomSort() (out []string) {
	c := pickOf(s.r, s.columns...)
	if len(partitionTexts[c.Type]) > 0 && s.r.IntN(2) == 0 {
		out = append(out, c.Name+pickOf(s.r, " asc nulls first", " desc nulls last", " asc nulls last"))
	}
	return out
}

// row is a random row of a key, values as JSON; a column left out is NULL.
func (s *shape) row(key map[string]string) map[string]string {
	row := maps.Clone(key)
	for _, c := range s.columns[len(key):] {
		if s.r.IntN(5) > 0 {
			row[c.Name] = pickOf(s.r, samples[c.Type]...)
		}
	}
	return row
}

func object(values map[string]string) []byte {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		parts = append(parts, fmt.Sprintf("%q:%s", name, values[name]))
	}
	return []byte("{" + strings.Join(parts, ",") + "}")
}

// deliver sends some changes.
func (s *shape) deliver() error {
	var records []kafka.Record
	for range 1 + s.r.IntN(6) {
		key := pickOf(s.r, s.keys...)
		record := kafka.Record{Part: partition(0), Offset: s.offset, Time: 1_700_000_000_000 + s.offset, Key: object(key)}
		if s.r.IntN(3) == 0 {
			delete(s.want, s.id(key))
		} else {
			row := s.row(key)
			s.want[s.id(key)] = row
			record.Value = object(row)
		}
		s.offset++
		records = append(records, record)
	}
	s.note("deliver %d records up to %d", len(records), s.offset)
	if s.version < 3 || s.encoding == "equality" {
		return s.pipeline.Deliver(s.Context(), records)
	}
	before, head := s.lineage(), s.load().CurrentSnapshot()
	if err := s.pipeline.Deliver(s.Context(), records); err != nil {
		return err
	}
	if now := s.load().CurrentSnapshot(); now == nil || head != nil && now.SnapshotID == head.SnapshotID {
		return nil // deletes of unknown keys alone
	}
	return s.sameRows(before, s.lineage(), records)
}

// lineage is the row ids and last-updated sequence numbers of rows, by key.
func (s *shape) lineage() map[string][2]string {
	rows, err := s.lake.Lineage(s.Context(), s.name)
	s.must(err)
	out := map[string][2]string{}
	for _, row := range rows {
		out[fmt.Sprint(s.keyOf(row))] = [2]string{row["_row_id"], row["_last_updated_sequence_number"]}
	}
	return out
}

// keyOf is the key columns of a row as lake has it.
func (s *shape) keyOf(row lake.Row) lake.Row {
	out := lake.Row{}
	for name := range s.keys[0] {
		out[name] = row[name]
	}
	return out
}

// sameRows holds that rows are still themselves (P6): all keep their ids, those that no record is about also the sequence
// number of their last change, and no id is there twice.
func (s *shape) sameRows(before, after map[string][2]string, records []kafka.Record) error {
	changed := map[string]bool{}
	for _, r := range records {
		var key map[string]json.RawMessage
		s.must(json.Unmarshal(r.Key, &key))
		values := map[string]string{}
		for name, v := range key {
			values[name] = string(v)
		}
		changed[fmt.Sprint(s.keyOf(s.literals(values)))] = true
	}
	ids := map[string]bool{}
	for key, now := range after {
		was, there := before[key]
		switch {
		case now[0] == "" || ids[now[0]]:
			return fmt.Errorf("%s: the row id %q is none, or another row's", key, now[0])
		case there && was[0] != "" && was[0] != now[0]:
			return fmt.Errorf("%s: the row id was %s and is %s", key, was[0], now[0])
		case there && was[0] != "" && !changed[key] && was[1] != now[1]:
			return fmt.Errorf("%s: nothing changed, but the sequence number of its change was %s and is %s", key, was[1], now[1])
		case changed[key] && was[1] == now[1]:
			return fmt.Errorf("%s: changed, but the sequence number of its change is still %s", key, now[1])
		}
		ids[now[0]] = true
	}
	return nil
}

// literals is a row as lake takes it.
func (s *shape) literals(values map[string]string) lake.Row {
	out := lake.Row{}
	for _, c := range s.columns {
		v, ok := values[c.Name]
		if !ok && c.Default == nil {
			continue
		}
		var text string
		switch {
		case !ok:
			text = *c.Default
		case json.Unmarshal([]byte(v), &text) != nil:
			text = v
		}
		canonical, err := lake.Canonical(c.Type, text)
		s.must(err)
		out[c.Name] = canonical
	}
	return out
}

// foreign is what another writer does.
func (s *shape) foreign() error {
	key := pickOf(s.r, s.keys...)
	_, there := s.want[s.id(key)]
	switch {
	case !there:
		row := s.row(key)
		s.want[s.id(key)] = row
		s.note("another writer appends %s", object(row))
		return s.lake.Append(s.Context(), s.name, []lake.Row{s.literals(row)})
	case s.r.IntN(3) == 0 || s.evolved: // of a table that was partitioned or upgraded anew iceberg-go deletes wrongly
		s.note("another writer compacts")
		return s.lake.Compact(s.Context(), s.name)
	}
	how := pickOf(s.r, lake.Positions, lake.Equality) // iceberg-go's rewrite brings rows back that delete files had removed
	if how == lake.Equality && len(s.spec) > 0 {
		how = lake.Positions // iceberg-go's equality deletes reach the current partition only
	}
	delete(s.want, s.id(key))
	s.note("another writer deletes %s by %s", object(key), how)
	literals := s.literals(key)
	for name := range literals {
		if _, ok := key[name]; !ok {
			delete(literals, name) // a default
		}
	}
	return s.lake.Delete(s.Context(), s.name, []lake.Row{literals}, how)
}

// alter is what the table's owner does.
func (s *shape) alter() error {
	switch s.r.IntN(4) {
	case 0:
		s.spec, s.evolved = s.randomSpec(), true
		s.note("partitions %v", s.spec)
		return s.lake.Repartition(s.Context(), s.name, s.spec)
	case 1:
		order := s.randomSort()
		s.note("sort %v", order)
		return s.lake.Resort(s.Context(), s.name, order)
	case 2:
		if s.version == 3 {
			return nil
		}
		s.version, s.evolved = 3, true
		s.note("upgrade")
		return s.lake.Upgrade(s.Context(), s.name, 3)
	}
	c := lake.Column{Name: "added" + strconv.Itoa(len(s.columns)), Type: pickOf(s.r, "int", "string", "date")}
	if s.version == 3 && s.r.IntN(2) == 0 {
		value := map[string]string{"int": "-7", "string": "filled", "date": "1969-12-31"}[c.Type]
		c.Default = &value
	}
	s.columns = append(s.columns, c)
	s.note("add %s %s, default %v", c.Name, c.Type, c.Default != nil)
	return s.lake.Alter(s.Context(), s.name, s.columns)
}

func (s *shape) step() error {
	switch n := s.r.IntN(10); {
	case n == 0:
		return s.alter()
	case n < 3:
		return s.foreign()
	case n == 3:
		s.pipeline = s.world.pipeline()
	}
	return s.deliver()
}

// check compares the table with the map.
func (s *shape) check() error {
	columns, rows, err := s.lake.Rows(s.Context(), s.name)
	if err != nil {
		return err
	}
	if len(columns) != len(s.columns) {
		return errors.New("the columns are others")
	}
	var got, want []string
	for _, row := range rows {
		got = append(got, fmt.Sprint(row))
	}
	for _, row := range s.want {
		want = append(want, fmt.Sprint(s.literals(row)))
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		return errors.New(diff)
	}
	return nil
}

// TestTheTableEqualsThePlainMapWhateverItsShape is P6 for random schemas, keys, partition specs, sort orders, versions and
// encodings, all of which change on the way, beside other writers.
func TestTheTableEqualsThePlainMapWhateverItsShape(t *testing.T) {
	t.Parallel()
	for seed := range uint64(shapes) {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			t.Parallel()
			s := newShape(t, seed)
			for i := range 16 {
				err := s.step()
				if err == nil && i%4 == 3 {
					err = s.check()
				}
				if err != nil {
					t.Fatalf("seed %d, step %d: %v\n%s", seed, i, err, strings.Join(s.log, "\n"))
				}
			}
		})
	}
}

// shapes is how many tables the test makes: some of each version and encoding.
const shapes = 18
