package stage

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/parquet"
)

// sampled is how many values of a column are looked at.
const sampled = 1024

// dictionaries leaves the dictionary out for columns of which most values differ: it would hold them all, and hashing them takes
// as long as the rest of the writing. Other encodings than these two are not used: not all readers know them.
func dictionaries(f parquetFile) (out []parquet.WriterProperty) {
	for i, field := range f.schema.Fields() {
		if f.differ(i) {
			out = append(out, parquet.WithDictionaryFor(field.Name, false))
		}
	}
	return out
}

func mostDiffer(column arrow.Array) bool {
	switch a := column.(type) {
	case *array.Int32:
		return differ(a, a.Value)
	case *array.Int64:
		return differ(a, a.Value)
	case *array.Date32:
		return differ(a, a.Value)
	case *array.Time64:
		return differ(a, a.Value)
	case *array.Timestamp:
		return differ(a, a.Value)
	case *array.Float32:
		return differ(a, a.Value)
	case *array.Float64:
		return differ(a, a.Value)
	case *array.Decimal128:
		return differ(a, a.Value)
	case *array.String:
		return differ(a, a.Value)
	case *array.Binary:
		return differ(a, a.ValueString)
	case *array.FixedSizeBinary:
		return differ(a, func(i int) string { return string(a.Value(i)) })
	case array.ExtensionArray:
		return mostDiffer(a.Storage())
	}
	return false
}

// differ reports whether more than half of the sampled values, which are spread over the column, are different ones. Nulls are none.
func differ[T comparable](a arrow.Array, at func(int) T) bool {
	seen := map[T]struct{}{}
	n, step := 0, max(1, a.Len()/sampled)
	for i := 0; i < a.Len(); i += step {
		if a.IsValid(i) {
			n++
			seen[at(i)] = struct{}{}
		}
	}
	return len(seen) > n/2
}
