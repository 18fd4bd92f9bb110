package tablefile_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/iceberg-go"
	"github.com/frazil/frazil/internal/rows"
	"github.com/frazil/frazil/internal/tablefile"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
)

const placed = `[
	{"id": 1, "name": "id", "type": "int", "required": true},
	{"id": 2, "name": "int", "type": "int", "required": false},
	{"id": 3, "name": "long", "type": "long", "required": false},
	{"id": 4, "name": "date", "type": "date", "required": false},
	{"id": 5, "name": "text", "type": "string", "required": false},
	{"id": 6, "name": "decimal", "type": "decimal(9, 2)", "required": false},
	{"id": 7, "name": "uuid", "type": "uuid", "required": false},
	{"id": 8, "name": "bytes", "type": "binary", "required": false},
	{"id": 9, "name": "flag", "type": "boolean", "required": false},
	{"id": 10, "name": "stamp", "type": "timestamp", "required": false},
	{"id": 11, "name": "double", "type": "double", "required": false},
	{"id": 12, "name": "nothing", "type": "string", "required": false},
	{"id": 13, "name": "time", "type": "time", "required": false}]`

// in is a file in a partition that is made of columns as they are.
func in(t *testing.T, f tablefile.File, values map[int]any) tablefile.File {
	t.Helper()
	var fields []iceberg.PartitionField
	f.Identities = map[int]int{}
	for id := range values {
		fields = append(fields, iceberg.PartitionField{SourceIDs: []int{id}, FieldID: 1000 + id, Name: fmt.Sprint("p", id), Transform: iceberg.IdentityTransform{}})
		f.Identities[id] = 1000 + id
	}
	partition := map[int]any{}
	for id, v := range values {
		partition[1000+id] = v
	}
	b, err := iceberg.NewDataFileBuilder(iceberg.NewPartitionSpecID(1, fields...), iceberg.EntryContentData, f.FilePath(), iceberg.ParquetFile,
		partition, nil, nil, f.Count(), f.FileSizeBytes())
	if err != nil {
		t.Fatal(err)
	}
	f.DataFile = b.Build()
	return f
}

func TestColumnsThatAFileLacksAreThoseOfItsPartition(t *testing.T) {
	t.Parallel()
	p, f := written(t, arrowOf(t, schema(t, `[{"id": 1, "name": "id", "type": "int", "required": true}]`)), `{"id":1}`, `{"id":2}`, `{"id":3}`)
	f = in(t, f, map[int]any{
		1: int32(9), // the file has it: its partition is not asked
		2: int32(-5), 3: int64(-6), 4: iceberg.Date(-1), 5: "", 6: iceberg.DecimalLiteral{Val: decimal128.FromI64(-125), Scale: 2},
		7: uuid.MustParse("00112233-4455-6677-8899-aabbccddeeff"), 8: []byte{1}, 9: true, 10: iceberg.Timestamp(-1), 11: -0.5, 12: nil, 13: iceberg.Time(1),
	})
	s, defaults := arrowOf(t, schema(t, placed)), tablefile.Defaults{12: {Bytes: []byte("by default")}}
	line := func(id int) string {
		return fmt.Sprintf(`{"bytes":"AQ==","date":"1969-12-31","decimal":"-1.25","double":-0.5,"flag":true,"id":%d,"int":-5,"long":-6,"nothing":null,`+
			`"stamp":"1969-12-31T23:59:59.999999","text":"","time":"00:00:00.000001","uuid":"00112233-4455-6677-8899-aabbccddeeff"}`, id)
	}
	if diff := cmp.Diff([]string{line(1), line(2), line(3)}, read(t, p, f, s, defaults)); diff != "" {
		t.Error(diff)
	}
	columns, err := tablefile.Cells(t.Context(), p, f, s.Fields(), []int64{1}, defaults, tablefile.NoLimit)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := json.Marshal(array.NewRecordBatch(s, columns, 1)); err != nil || string(text) != "["+line(2)+"]" {
		t.Errorf("%v: %s", err, text)
	}
	prim := iceberg.PrimitiveTypes
	fields := []tablefile.Field{{ID: 3, Type: prim.Int64}, {ID: 5, Type: prim.String}, {ID: 12, Type: prim.String, Missing: []byte("by default")}}
	err = tablefile.Scan(t.Context(), p, f, fields, func(pos int64, row []tablefile.Part) {
		if rows.ReadInt(row[0]) != -6 || row[1] == nil || len(row[1]) > 0 || row[2] != nil {
			t.Errorf("row %d: %q", pos, row)
		}
	})
	if err != nil {
		t.Error(err)
	}
	if string(fields[2].Missing) != "by default" {
		t.Error("the caller's fields were changed")
	}
}
