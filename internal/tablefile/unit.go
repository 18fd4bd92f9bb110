package tablefile

import (
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/apache/iceberg-go"
)

// unit is how many of a column's units one of the file's is. Files of before their table was Iceberg's may count in
// milliseconds. It is not ok when the file counts finer than the column, decimals at another scale, or further than a long does.
func unit(have schema.LogicalType, t iceberg.Type) (n int64, ok bool) {
	switch have := have.(type) {
	case schema.TimestampLogicalType:
		return ratio(have.TimeUnit(), t)
	case schema.TimeLogicalType:
		return ratio(have.TimeUnit(), t)
	case schema.IntLogicalType:
		return 1, have.IsSigned() || have.BitWidth() < 64
	case schema.DecimalLogicalType:
		d, is := t.(iceberg.DecimalType)
		return 1, !is || int(have.Scale()) == d.Scale()
	}
	return 1, true
}

func ratio(have schema.TimeUnitType, t iceberg.Type) (n int64, ok bool) {
	nanos := map[schema.TimeUnitType]int64{schema.TimeUnitMillis: 1_000_000, schema.TimeUnitMicros: 1000, schema.TimeUnitNanos: 1}[have]
	switch t.(type) {
	case iceberg.TimeType, iceberg.TimestampType, iceberg.TimestampTzType:
		return nanos / 1000, nanos >= 1000
	case iceberg.TimestampNsType, iceberg.TimestampTzNsType:
		return nanos, nanos > 0
	}
	return 1, true
}

// unsigned reports whether numbers of 32 bits have no sign, as in files of before their table was Iceberg's.
func unsigned(have schema.LogicalType) bool {
	t, ok := have.(schema.IntLogicalType)
	return ok && !t.IsSigned()
}
