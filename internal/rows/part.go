package rows

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/iceberg-go"
)

// AppendInt appends the part of a boolean, int, long, date, time or timestamp to b.
func AppendInt(b []byte, v int64) []byte { return binary.BigEndian.AppendUint64(b, uint64(v)^1<<63) }

// ReadInt is the value of a part that AppendInt made.
func ReadInt(part []byte) int64 { return int64(binary.BigEndian.Uint64(part) ^ 1<<63) }

// AppendDecimal appends the part of an unscaled decimal to b.
func AppendDecimal(b []byte, v decimal128.Num) []byte {
	return binary.BigEndian.AppendUint64(AppendInt(b, v.HighBits()), v.LowBits())
}

func readDecimal(part []byte) decimal128.Num {
	return decimal128.New(ReadInt(part), binary.BigEndian.Uint64(part[8:]))
}

// AppendFloat appends the part of a float or double to b, in the order that the Iceberg spec sorts by: -Inf … -0, 0 … Inf,
// NaN. All NaN are one, whatever their bits.
func AppendFloat(b []byte, v float64) []byte {
	if math.IsNaN(v) {
		v = math.NaN()
	}
	bits := math.Float64bits(v)
	if bits>>63 == 1 {
		return binary.BigEndian.AppendUint64(b, ^bits)
	}
	return binary.BigEndian.AppendUint64(b, bits|1<<63)
}

// AppendCell appends the part of a value of a primitive type t, which is no null, to b. Parts of float and double order
// rows, group them and find what equality deletes remove, but are in no key.
func AppendCell(b []byte, t iceberg.Type, c *Cell) []byte {
	switch t.(type) {
	case iceberg.Float32Type, iceberg.Float64Type:
		return AppendFloat(b, c.Float)
	case iceberg.DecimalType:
		return AppendDecimal(b, c.Decimal)
	case iceberg.StringType, iceberg.BinaryType, iceberg.FixedType, iceberg.UUIDType:
		return append(b, c.Bytes...)
	}
	return AppendInt(b, c.Int)
}

// Midnight is the begin of a day as a timestamp of type t, the nearest that t can say; of another type the day itself.
func Midnight(t iceberg.Type, day int64) int64 {
	const microseconds = 24 * 60 * 60 * 1_000_000
	switch t.(type) {
	case iceberg.TimestampType, iceberg.TimestampTzType:
		return day * microseconds
	case iceberg.TimestampNsType, iceberg.TimestampTzNsType:
		const most = math.MaxInt64 / (microseconds * 1000)
		return max(-most, min(day, most)) * microseconds * 1000
	}
	return day
}

// Column is the n-th key column of the given keys, as an array of its column's type in s.
func (k *Keys) Column(s *Schema, n int, keys []Key) arrow.Array {
	t := s.Columns[s.Key[n]].Type
	column := newColumn(arrowType(t))
	column.reserve(len(keys))
	for _, key := range keys {
		c := partCell(t, k.Part(key, n))
		column.append(&c)
	}
	return makeArray(column)
}

// partCell is the value that a part was made of.
func partCell(t iceberg.Type, part []byte) Cell {
	switch t.(type) {
	case iceberg.DecimalType:
		return Cell{Decimal: readDecimal(part)}
	case iceberg.StringType, iceberg.BinaryType, iceberg.FixedType, iceberg.UUIDType:
		return Cell{Bytes: part}
	}
	return Cell{Int: ReadInt(part)}
}

// BoundPart turns a bound of a file (Iceberg's single-value serialisation, spec appendix D) into the form of
// a key's part. A bound of text or bytes may be cut short; it still orders rightly against whole values. One of a type
// that was widened to t since is read as t.
func BoundPart(t iceberg.Type, bound []byte) ([]byte, error) {
	switch t.(type) {
	case iceberg.StringType, iceberg.BinaryType, iceberg.FixedType:
		return bound, nil
	case iceberg.UUIDType:
		if len(bound) != 16 {
			return nil, fmt.Errorf("bound of a uuid has %d bytes", len(bound))
		}
		return bound, nil
	case iceberg.DecimalType:
		if len(bound) == 0 || len(bound) > 16 {
			return nil, fmt.Errorf("bound of a decimal has %d bytes", len(bound))
		}
		return AppendDecimal(nil, BigEndianDecimal(bound)), nil
	}
	switch len(bound) {
	case 1:
		return AppendInt(nil, int64(bound[0])), nil
	case 4: // also of a long that was an int when the file was written, or of a timestamp that was a date
		return AppendInt(nil, Midnight(t, int64(int32(binary.LittleEndian.Uint32(bound))))), nil
	case 8:
		return AppendInt(nil, int64(binary.LittleEndian.Uint64(bound))), nil
	}
	return nil, fmt.Errorf("bound of a %s has %d bytes", t, len(bound))
}

// BigEndianDecimal reads two's complement, most significant byte first, of 1 to 16 bytes: the form of
// decimals in Parquet, in Iceberg's bounds and in Connect's messages.
func BigEndianDecimal(b []byte) decimal128.Num {
	hi, lo := uint64(0), uint64(0)
	if b[0]&0x80 != 0 {
		hi, lo = ^uint64(0), ^uint64(0)
	}
	for _, c := range b {
		hi = hi<<8 | lo>>56
		lo = lo<<8 | uint64(c)
	}
	return decimal128.New(int64(hi), lo)
}
