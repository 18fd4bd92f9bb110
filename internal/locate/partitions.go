package locate

import (
	"strconv"

	"github.com/apache/iceberg-go"
	"github.com/frazil/frazil/internal/rows"
	"github.com/google/uuid"
)

// placement is a partition field that is made of a column of the key: in which partitions the keys are.
type placement struct {
	field  int // its id
	values map[string]bool
}

// placements are those of the table's specs, by spec id. Transforms and types are left out of which values might be written down in
// several ways: files are the more to read for it, but no row is missed.
func (l *lookup) placements(specs []iceberg.PartitionSpec) map[int32][]placement {
	out := map[int32][]placement{}
	for _, spec := range specs {
		for _, f := range spec.Fields() {
			for column, key := range l.fields {
				if len(f.SourceIDs) > 1 || key.ID != f.SourceID() || !places(f.Transform, key.Type) {
					continue
				}
				if values, ok := l.values(f.Transform, column); ok {
					out[int32(spec.ID())] = append(out[int32(spec.ID())], placement{f.FieldID, values})
				}
			}
		}
	}
	return out
}

// values are what a transform makes of a column of the keys.
func (l *lookup) values(t iceberg.Transform, column int) (map[string]bool, bool) {
	out := map[string]bool{}
	for k := range rows.Key(l.keys.Len()) {
		v := t.Apply(iceberg.Optional[iceberg.Literal]{Valid: true, Val: keyLiteral(l.fields[column].Type, l.keys.Part(k, column))})
		if !v.Valid {
			return nil, false
		}
		text, ok := partitionText(v.Val.Any())
		if !ok {
			return nil, false
		}
		out[text] = true
	}
	return out, true
}

// places reports whether a transform's values of a type say in which partitions keys are.
func places(t iceberg.Transform, of iceberg.Type) bool {
	switch t.(type) {
	case iceberg.BucketTransform:
		_, id := of.(iceberg.UUIDType)
		return id || plain(of)
	case iceberg.IdentityTransform:
		return plain(of)
	}
	return false
}

func plain(t iceberg.Type) bool {
	switch t.(type) {
	case iceberg.Int32Type, iceberg.Int64Type, iceberg.DateType, iceberg.StringType:
		return true
	}
	return false
}

func keyLiteral(t iceberg.Type, part []byte) iceberg.Literal {
	switch t.(type) {
	case iceberg.StringType:
		return iceberg.StringLiteral(part)
	case iceberg.UUIDType:
		return iceberg.UUIDLiteral(uuid.UUID(part))
	case iceberg.Int32Type:
		return iceberg.Int32Literal(rows.ReadInt(part))
	case iceberg.DateType:
		return iceberg.DateLiteral(rows.ReadInt(part))
	}
	return iceberg.Int64Literal(rows.ReadInt(part))
}

// partitionText is a partition value, however it came here; ok is false if it is of another type than is expected.
func partitionText(v any) (text string, ok bool) {
	switch v := v.(type) {
	case int32:
		return strconv.FormatInt(int64(v), 10), true
	case int64:
		return strconv.FormatInt(v, 10), true
	case int:
		return strconv.Itoa(v), true
	case iceberg.Date:
		return strconv.FormatInt(int64(v), 10), true
	case string:
		return strconv.Quote(v), true
	}
	return "", false
}

// elsewhere reports whether none of the keys can be in the file's partition.
func (l *lookup) elsewhere(f File) bool {
	for _, p := range l.placed[f.SpecID()] {
		if text, ok := partitionText(f.Partition()[p.field]); ok && !p.values[text] {
			return true
		}
	}
	return false
}
