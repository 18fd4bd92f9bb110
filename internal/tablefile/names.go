package tablefile

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/iceberg-go"
	"github.com/frazil/frazil/internal/rows"
)

// Names gives field ids to the columns of files that were written without them, before their table was one of Iceberg's
// (Iceberg spec, column projection).
type Names iceberg.NameMapping

// ReadNames reads a table's property schema.name-mapping.default; without it there are no names.
func ReadNames(properties map[string]string) (n Names, err error) {
	const property = "schema.name-mapping.default"
	if text, ok := properties[property]; ok {
		if err := json.Unmarshal([]byte(text), &n); err != nil {
			return nil, fmt.Errorf("table property %s: %w", property, err)
		}
	}
	return n, nil
}

// find is the mapping of a name.
func (n Names) find(name string) (iceberg.MappedField, bool) {
	i := slices.IndexFunc(n, func(f iceberg.MappedField) bool { return slices.Contains(f.Names, name) })
	if i < 0 {
		return iceberg.MappedField{}, false
	}
	return n[i], true
}

// leaf is the id of a column that lies inside structs only.
func (n Names) leaf(path []string) (id int, ok bool) {
	for i, name := range path {
		f, ok := n.find(name)
		if !ok {
			return 0, false
		}
		if i == len(path)-1 && f.FieldID != nil {
			return *f.FieldID, true
		}
		n = f.Fields
	}
	return 0, false
}

// columnIDs are the field ids of a file's leaves, by its own word or else by the names; a leaf without one has -1.
func columnIDs(meta *metadata.FileMetaData, names Names) (ids []int, named bool, err error) {
	named = true
	for c := range meta.Schema.NumColumns() {
		id := int(meta.Schema.Column(c).SchemaNode().FieldID())
		ids, named = append(ids, id), named && id < 0
	}
	if !named {
		return ids, false, nil
	}
	if names == nil {
		return nil, true, errors.New("its columns have no field ids, and the table no schema.name-mapping.default")
	}
	for c := range ids {
		if id, ok := names.leaf(meta.Schema.Column(c).ColumnPath()); ok {
			ids[c] = id
		}
	}
	return ids, true, nil
}

// identified are Arrow fields with the ids that the names give them, at every depth.
func (n Names) identified(fields []arrow.Field) []arrow.Field {
	out := slices.Clone(fields)
	for i, f := range out {
		out[i] = n.identify(f.Name, f)
	}
	return out
}

// identify gives a field the id of a name, which is another one than its own for what is in lists and maps.
func (n Names) identify(name string, f arrow.Field) arrow.Field {
	m, ok := n.find(name)
	if !ok {
		return f
	}
	if m.FieldID != nil {
		f.Metadata = rows.IDMetadata(*m.FieldID)
	}
	inner := Names(m.Fields)
	switch t := f.Type.(type) {
	case *arrow.StructType:
		f.Type = arrow.StructOf(inner.identified(t.Fields())...)
	case *arrow.ListType:
		f.Type = arrow.ListOfField(inner.identify("element", t.ElemField()))
	case *arrow.MapType:
		f.Type = arrow.MapOfFields(inner.identify("key", t.KeyField()), inner.identify("value", t.ItemField()))
	}
	return f
}
