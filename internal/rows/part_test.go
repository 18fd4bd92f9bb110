package rows_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/iceberg-go"
	"github.com/frazil/frazil/internal/rows"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
)

// keyTypes are all types that a key may have, with values in their order and their bounds by iceberg-go's literals.
var keyTypes = []struct {
	typ    iceberg.Type
	cells  []rows.Cell
	bounds []iceberg.Literal
}{
	{prim.Bool, []rows.Cell{n(0), n(1)}, []iceberg.Literal{iceberg.BoolLiteral(false), iceberg.BoolLiteral(true)}},
	{prim.Int32, []rows.Cell{n(math.MinInt32), n(7)}, []iceberg.Literal{iceberg.Int32Literal(math.MinInt32), iceberg.Int32Literal(7)}},
	{prim.Int64, []rows.Cell{n(math.MinInt64), n(7)}, []iceberg.Literal{iceberg.Int64Literal(math.MinInt64), iceberg.Int64Literal(7)}},
	{prim.Date, []rows.Cell{n(-1), n(19787)}, []iceberg.Literal{iceberg.DateLiteral(-1), iceberg.DateLiteral(19787)}},
	{prim.Time, []rows.Cell{n(0), n(86399999999)}, []iceberg.Literal{iceberg.TimeLiteral(0), iceberg.TimeLiteral(86399999999)}},
	{prim.Timestamp, []rows.Cell{n(-1), n(1 << 50)}, []iceberg.Literal{iceberg.TimestampLiteral(-1), iceberg.TimestampLiteral(1 << 50)}},
	{prim.TimestampTz, []rows.Cell{n(-1), n(1 << 50)}, []iceberg.Literal{iceberg.TimestampLiteral(-1), iceberg.TimestampLiteral(1 << 50)}},
	{prim.TimestampNs, []rows.Cell{n(-1), n(1 << 60)}, []iceberg.Literal{iceberg.TimestampNsLiteral(-1), iceberg.TimestampNsLiteral(1 << 60)}},
	{prim.TimestampTzNs, []rows.Cell{n(-1), n(1 << 60)}, []iceberg.Literal{iceberg.TimestampNsLiteral(-1), iceberg.TimestampNsLiteral(1 << 60)}},
	{prim.String, []rows.Cell{text(""), text("a"), text("é")}, []iceberg.Literal{iceberg.StringLiteral(""), iceberg.StringLiteral("a"), iceberg.StringLiteral("é")}},
	{prim.Binary, []rows.Cell{text(""), text("\x00"), text("\xff")}, []iceberg.Literal{iceberg.BinaryLiteral(""), iceberg.BinaryLiteral("\x00"), iceberg.BinaryLiteral("\xff")}},
	{iceberg.FixedTypeOf(2), []rows.Cell{text("\x00\x01"), text("\x7f\xff"), text("\x80\x00")}, []iceberg.Literal{iceberg.FixedLiteral("\x00\x01"), iceberg.FixedLiteral("\x7f\xff"), iceberg.FixedLiteral("\x80\x00")}},
	{prim.UUID, []rows.Cell{text(id1), text(id2)}, []iceberg.Literal{iceberg.UUIDLiteral(uuid.UUID([]byte(id1))), iceberg.UUIDLiteral(uuid.UUID([]byte(id2)))}},
	{iceberg.DecimalTypeOf(9, 2), []rows.Cell{{Decimal: rows.BigEndianDecimal([]byte{0xff})}, {Decimal: rows.BigEndianDecimal([]byte{1, 0})}}, nil},
}

func TestKeysOfEveryType(t *testing.T) {
	t.Parallel()
	for _, c := range keyTypes {
		s, err := rows.NewSchema(iceberg.NewSchema(0, optional(1, "x", prim.Int32), required(2, "k", c.typ)), []string{"x", "k"})
		if err != nil {
			t.Fatal(err)
		}
		b := rows.NewBatch(s)
		var parts [][]byte
		var keys []rows.Key
		for i := range c.cells {
			var p rows.Parts
			p.Int(3)
			p.Cell(c.typ, &c.cells[i])
			parts = append(parts, bytes.Clone(p.At(1)))
			keys = append(keys, b.Keys.Intern(&p))
			b.Put(keys[i], []rows.Cell{n(3), c.cells[i]})
		}
		increasing(t, c.typ.String(), parts)
		column := b.Columns()[1]
		decoded := b.Keys.Column(s, 1, keys)
		if !arrow.TypeEqual(decoded.DataType(), column.DataType()) {
			t.Errorf("%s: the decoded column is %s", c.typ, decoded.DataType())
		}
		if diff := cmp.Diff(texts(column), texts(decoded)); diff != "" {
			t.Errorf("%s: decoded: %s", c.typ, diff)
		}
		checkBounds(t, c.typ, c.bounds, parts)
	}
}

func checkBounds(t *testing.T, typ iceberg.Type, bounds []iceberg.Literal, parts [][]byte) {
	t.Helper()
	for i, l := range bounds {
		bound, err := l.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		got, err := rows.BoundPart(typ, bound)
		if err != nil || !bytes.Equal(got, parts[i]) {
			t.Errorf("%s: bound %d is part %x %v, want %x", typ, i, got, err, parts[i])
		}
	}
}

func TestPartsOfFloatsAreInIcebergsOrder(t *testing.T) {
	t.Parallel()
	var parts [][]byte
	for _, v := range []float64{
		math.Inf(-1), -1.5, -math.SmallestNonzeroFloat32, math.Copysign(0, -1), 0, math.SmallestNonzeroFloat32, 1.5, math.Inf(1), math.NaN(),
	} {
		c := rows.Cell{Float: v}
		parts = append(parts, rows.AppendCell(nil, prim.Float64, &c))
		if part := rows.AppendCell(nil, prim.Float32, &c); !bytes.Equal(part, parts[len(parts)-1]) {
			t.Errorf("%v has another part as a float than as a double", v)
		}
	}
	increasing(t, "double", parts)
	if negative := math.Float64frombits(math.Float64bits(math.NaN()) | 1<<63); !bytes.Equal(rows.AppendFloat(nil, negative), rows.AppendFloat(nil, math.NaN())) {
		t.Error("one NaN is not another")
	}
}

func TestDatesBecomeTimestamps(t *testing.T) {
	t.Parallel()
	bound := binary.LittleEndian.AppendUint32(nil, 2)
	for _, c := range []struct {
		typ  iceberg.Type
		want int64
	}{{prim.Date, 2}, {prim.Timestamp, 2 * 86_400_000_000}, {prim.TimestampTzNs, 2 * 86_400_000_000_000}} {
		want := rows.AppendInt(nil, c.want)
		if got, err := rows.BoundPart(c.typ, bound); err != nil || !bytes.Equal(got, want) {
			t.Errorf("bound of %s: %x %v, want %x", c.typ, got, err, want)
		}
	}
	far := binary.LittleEndian.AppendUint32(nil, 2_932_896)
	if got, err := rows.BoundPart(prim.TimestampNs, far); err != nil || rows.ReadInt(got) < 1<<62 {
		t.Errorf("a bound beyond nanoseconds: %x %v", got, err)
	}
}

func TestLongKeys(t *testing.T) {
	t.Parallel()
	k := rows.NewKeys(2)
	long := strings.Repeat("x", 64<<10)
	var p rows.Parts
	for _, end := range []string{"a", "b", "a"} {
		p.Reset()
		p.Bytes([]byte(long + end))
		p.Bytes([]byte(end))
		if got := k.Intern(&p); string(k.Part(got, 0)) != long+end || string(k.Part(got, 1)) != end {
			t.Errorf("key %d is not what it was made of", got)
		}
	}
	if k.Len() != 2 {
		t.Errorf("%d keys, want 2", k.Len())
	}
}

func TestBoundsOfTheWrongLengthAreRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		typ   iceberg.Type
		bound int
	}{{prim.UUID, 15}, {prim.Time, 0}, {prim.TimestampNs, 16}, {iceberg.DecimalTypeOf(9, 2), 17}} {
		if _, err := rows.BoundPart(c.typ, make([]byte, c.bound)); err == nil {
			t.Errorf("a bound of %d bytes is a %s", c.bound, c.typ)
		}
	}
}
