package stage

import (
	"encoding/binary"
	"fmt"

	"github.com/apache/iceberg-go"
)

// group is the rows of a pile that go to one partition.
type group struct {
	partition map[int]any // by field id of the spec
	picks     []pick
}

// groups divides a pile by the target's spec, partitions in the order of their first rows.
func (w *writer) groups(p *pile) ([]group, error) {
	if w.target.Spec.IsUnpartitioned() {
		return []group{{nil, p.picks}}, nil
	}
	var sources []source
	for _, f := range w.target.Spec.Fields() {
		switch { // its partitions would be wrong for readers that know it
		case unknown(f.Transform):
			return nil, fmt.Errorf("partition field %s: the transform %s is not supported", f.Name, f.Transform)
		case len(f.SourceIDs) > 1:
			return nil, fmt.Errorf("partition field %s: the transform %s of several columns is not supported", f.Name, f.Transform)
		}
		s, err := sourceOf(w.target.Schema.Fields(), p.whole, f.SourceID())
		if err != nil {
			return nil, err
		}
		if _, void := f.Transform.(iceberg.VoidTransform); s.typ == nil && !void {
			return nil, fmt.Errorf("partition field %s: the table has no column of id %d", f.Name, f.SourceID())
		}
		sources = append(sources, s)
	}
	var out []group
	at := map[string]int{}
	var key []byte
	values := make([]iceberg.Optional[iceberg.Literal], len(sources))
	for _, row := range p.picks {
		key = key[:0]
		for i, f := range w.target.Spec.Fields() {
			values[i] = f.Transform.Apply(sources[i].value(row.index))
			key = appendValue(key, values[i])
		}
		n, ok := at[string(key)]
		if !ok {
			n = len(out)
			at[string(key)] = n
			out = append(out, group{partition: partitionData(w.target.Spec, values)})
		}
		out[n].picks = append(out[n].picks, row)
	}
	return out, nil
}

func unknown(t iceberg.Transform) bool {
	_, ok := t.(iceberg.UnknownTransform)
	return ok
}

// appendValue appends a value so that no two lists of values look alike.
func appendValue(b []byte, v iceberg.Optional[iceberg.Literal]) []byte {
	if !v.Valid {
		return append(b, 0)
	}
	start := len(b) + 1
	b = appendLiteral(append(b, 1, 0, 0, 0, 0), v.Val)
	binary.BigEndian.PutUint32(b[start:], uint32(len(b)-start-4))
	return b
}

func partitionData(spec iceberg.PartitionSpec, values []iceberg.Optional[iceberg.Literal]) map[int]any {
	out := map[int]any{}
	for i, f := range spec.Fields() {
		out[f.FieldID] = nil
		if values[i].Valid {
			out[f.FieldID] = values[i].Val.Any()
		}
		if d, ok := values[i].Val.(iceberg.DecimalLiteral); ok && values[i].Valid {
			out[f.FieldID] = d
		}
	}
	return out
}

// longFolder is where a partition's folder is left out of a file's path: S3's keys have 1,024 bytes at most.
const longFolder = 512

// folder is the part of a file's path that names its partition, for people: readers take the manifest's word.
func folder(spec iceberg.PartitionSpec, schema *iceberg.Schema, partition map[int]any) string {
	var r record
	for _, f := range spec.Fields() {
		r = append(r, partition[f.FieldID])
	}
	path := spec.PartitionToPath(r, schema)
	if path == "" || len(path) > longFolder {
		return ""
	}
	return path + "/"
}

// record is partition values by their place in the spec.
type record []any

func (r record) Size() int          { return len(r) }
func (r record) Get(i int) any      { return r[i] }
func (r record) Set(i int, val any) { r[i] = val }
