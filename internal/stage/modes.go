package stage

import (
	"strconv"
	"strings"

	"github.com/apache/iceberg-go"
)

// mode says which statistics of a column go into manifests: none, counts, or counts and bounds cut to a length.
type mode struct {
	counts, bounds bool
	cut            int // of texts in code points, of binary in bytes; 0: whole
}

var (
	none   = mode{}
	counts = mode{counts: true}
	full   = mode{counts: true, bounds: true}
)

func truncated(n int) mode { return mode{true, true, n} }

// truncateTo is the length of bounds unless the table says otherwise: Iceberg's truncate(16).
const truncateTo = 16

// inferredColumns is how many columns have statistics where the table does not say which should.
const inferredColumns = 100

const (
	metricsDefault = "write.metadata.metrics.default"
	metricsColumn  = "write.metadata.metrics.column."
	metricsLimit   = "write.metadata.metrics.max-inferred-column-defaults"
)

// modes reads the write.metadata.metrics.* properties, for the leaves of a schema.
func (r *reader) modes(schema *iceberg.Schema, always []int) map[int]mode {
	base, limit := truncated(truncateTo), r.atLeast(0, metricsLimit, inferredColumns)
	if text, ok := r.properties[metricsDefault]; ok {
		base, limit = r.mode(metricsDefault, text), int64(len(schema.FieldIDs()))
	}
	out := map[int]mode{}
	for _, id := range leaves(schema.Fields()) {
		out[id] = base
		if int64(len(out)) > limit {
			out[id] = none
		}
		name, _ := schema.FindColumnName(id)
		if text, ok := r.properties[metricsColumn+name]; ok {
			out[id] = r.mode(metricsColumn+name, text)
		}
	}
	for _, id := range always {
		if !out[id].bounds {
			out[id] = truncated(truncateTo)
		}
	}
	return out
}

func (r *reader) mode(name, text string) mode {
	text = strings.ToLower(strings.TrimSpace(text))
	switch text {
	case "none":
		return none
	case "counts":
		return counts
	case "full":
		return full
	}
	inside, ok := strings.CutPrefix(text, "truncate(")
	if n, err := strconv.Atoi(strings.TrimSuffix(inside, ")")); ok && err == nil && n > 0 {
		return truncated(n)
	}
	r.wrong(name, "none, counts, truncate(length) or full")
	return none
}

// leaves are the ids of a schema's primitive fields, in its order.
func leaves(fields []iceberg.NestedField) (ids []int) {
	for _, f := range fields {
		switch t := f.Type.(type) {
		case *iceberg.StructType:
			ids = append(ids, leaves(t.FieldList)...)
		case *iceberg.ListType:
			ids = append(ids, leaves([]iceberg.NestedField{t.ElementField()})...)
		case *iceberg.MapType:
			ids = append(ids, leaves([]iceberg.NestedField{t.KeyField(), t.ValueField()})...)
		default:
			ids = append(ids, f.ID)
		}
	}
	return ids
}
