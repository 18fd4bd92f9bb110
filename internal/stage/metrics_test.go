package stage_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/iceberg-go"
	"github.com/frazil/frazil/internal/resolve"
	"github.com/frazil/frazil/internal/rows"
	"github.com/google/uuid"
)

// column writes a file with one column, beside id, of the given cells and returns its entry. The column's field id is 10.
func column(t testing.TB, typ iceberg.Type, cells ...rows.Cell) iceberg.DataFile {
	t.Helper()
	var list [][]rows.Cell
	var indexes []int
	for i, c := range cells {
		list, indexes = append(list, []rows.Cell{c}), append(indexes, i)
	}
	return write(t, &resolve.Outcome{Batch: batch(t, []iceberg.Type{typ}, list...), Write: picks(indexes...)}).Data[0]
}

func floats(v ...float64) (out []rows.Cell) {
	for _, f := range v {
		out = append(out, rows.Cell{Float: f})
	}
	return out
}

func numbers(v ...int64) (out []rows.Cell) {
	for _, n := range v {
		out = append(out, rows.Cell{Int: n})
	}
	return out
}

func decimals(v ...decimal128.Num) (out []rows.Cell) {
	for _, n := range v {
		out = append(out, rows.Cell{Decimal: n})
	}
	return out
}

func strs(v ...string) (out []rows.Cell) {
	for _, s := range v {
		out = append(out, rows.Cell{Bytes: []byte(s)})
	}
	return out
}

// The bounds are Iceberg's binary single values (spec, appendix D); "none" is no bound.
func TestMetricsOfEachType(t *testing.T) {
	t.Parallel()
	null := rows.Cell{Null: true}
	nan, inf, negativeZero := math.NaN(), math.Inf(1), math.Copysign(0, -1)
	nines := decimal128.New(0x4b3b4ca85a86c47a, 0x098a223fffffffff)
	for name, c := range map[string]struct {
		typ          iceberg.Type
		cells        []rows.Cell
		nulls, nans  int64
		lower, upper string
	}{
		"boolean":               {prim.Bool, append(numbers(1, 0), null), 1, 0, "00", "01"},
		"boolean, one value":    {prim.Bool, numbers(1, 1), 0, 0, "01", "01"},
		"int":                   {prim.Int32, append(numbers(-1, math.MaxInt32, 0), null), 1, 0, "ffffffff", "ffffff7f"},
		"long":                  {prim.Int64, numbers(math.MinInt64, 256), 0, 0, "0000000000000080", "0001000000000000"},
		"date":                  {prim.Date, numbers(-1, 19787), 0, 0, "ffffffff", "4b4d0000"},
		"timestamp":             {prim.Timestamp, numbers(-1, 1), 0, 0, "ffffffffffffffff", "0100000000000000"},
		"timestamptz":           {prim.TimestampTz, numbers(0), 0, 0, "0000000000000000", "0000000000000000"},
		"decimal(9,2)":          {iceberg.DecimalTypeOf(9, 2), decimals(decimal128.FromI64(-128), decimal128.FromI64(128)), 0, 0, "80", "0080"},
		"decimal(18,0)":         {iceberg.DecimalTypeOf(18, 0), decimals(decimal128.FromI64(0), decimal128.FromI64(-129)), 0, 0, "ff7f", "00"},
		"decimal(38,0)":         {iceberg.DecimalTypeOf(38, 0), decimals(nines, nines.Negate()), 0, 0, "b4c4b357a5793b85f675ddc000000001", "4b3b4ca85a86c47a098a223fffffffff"},
		"double":                {prim.Float64, append(floats(-1.5, 2), null), 1, 0, "000000000000f8bf", "0000000000000040"},
		"double with NaN":       {prim.Float64, floats(nan, 1, nan), 0, 2, "000000000000f03f", "000000000000f03f"},
		"double, all NaN":       {prim.Float64, floats(nan), 0, 1, "none", "none"},
		"double, infinite":      {prim.Float64, floats(-inf, inf), 0, 0, "000000000000f0ff", "000000000000f07f"},
		"double, one infinity":  {prim.Float64, floats(inf), 0, 0, "000000000000f07f", "000000000000f07f"},
		"double, zero":          {prim.Float64, floats(0), 0, 0, "0000000000000080", "0000000000000000"},
		"double, negative zero": {prim.Float64, floats(negativeZero), 0, 0, "0000000000000080", "0000000000000000"},
		"string":                {prim.String, append(strs("b", "", "ab"), null), 1, 0, "", "62"},
		"string, by bytes":      {prim.String, strs("\uffff", "\U00010000"), 0, 0, "efbfbf", "f0908080"},
		"string, all null":      {prim.String, []rows.Cell{null, null}, 2, 0, "none", "none"},
		"long, all null":        {prim.Int64, []rows.Cell{null}, 1, 0, "none", "none"},
	} {
		f := column(t, c.typ, c.cells...)
		if got := f.ValueCounts()[10]; got != int64(len(c.cells)) {
			t.Errorf("%s: %d values, want %d", name, got, len(c.cells))
		}
		if got := f.NullValueCounts()[10]; got != c.nulls {
			t.Errorf("%s: %d nulls, want %d", name, got, c.nulls)
		}
		if got, counted := f.NaNValueCounts()[10]; got != c.nans || counted != (c.typ == prim.Float64) {
			t.Errorf("%s: %d NaN (%v), want %d", name, got, counted, c.nans)
		}
		if got := bound(f.LowerBoundValues()); got != c.lower {
			t.Errorf("%s: lower bound %s, want %s", name, got, c.lower)
		}
		if got := bound(f.UpperBoundValues()); got != c.upper {
			t.Errorf("%s: upper bound %s, want %s", name, got, c.upper)
		}
	}
}

// Readers on the JVM compare uuids as two numbers with signs (apache/iceberg#14216). A bound is one in both orders, or is left out.
func TestBoundsOfUUIDsHoldInBothOrders(t *testing.T) {
	t.Parallel()
	of := func(first, ninth byte) []byte {
		return append(append([]byte{first}, make([]byte, 7)...), append([]byte{ninth}, make([]byte, 7)...)...)
	}
	text := func(b []byte) string { return hex.EncodeToString(b) }
	for _, c := range []struct {
		values       [][]byte
		lower, upper string
	}{
		{[][]byte{of(1, 0x80), of(2, 0x90), of(3, 0xa0)}, text(of(1, 0x80)), text(of(3, 0xa0))}, // as those that begin with the time
		{[][]byte{of(0x80, 0), of(0xff, 0)}, text(of(0x80, 0)), text(of(0xff, 0))},
		{[][]byte{of(0x7f, 0), of(0x80, 0), of(1, 0)}, "none", "none"},
		{[][]byte{of(1, 0), of(1, 0x80), of(2, 0)}, "none", text(of(2, 0))},
	} {
		var cells []rows.Cell
		for _, v := range c.values {
			cells = append(cells, rows.Cell{Bytes: v})
		}
		f := column(t, prim.UUID, cells...)
		if lower, upper := bound(f.LowerBoundValues()), bound(f.UpperBoundValues()); lower != c.lower || upper != c.upper {
			t.Errorf("%x: the bounds are %s and %s, want %s and %s", c.values, lower, upper, c.lower, c.upper)
		}
	}
}

func bound(bounds map[int][]byte) string {
	b, ok := bounds[10]
	if !ok {
		return "none"
	}
	return hex.EncodeToString(b)
}

func TestBoundsOfLongTextsAreCutToSixteenCodePoints(t *testing.T) {
	t.Parallel()
	const last = "\U0010FFFF"
	a15 := strings.Repeat("a", 15)
	for text, want := range map[string]struct{ lower, upper string }{
		a15 + "a":                            {a15 + "a", a15 + "a"},
		a15 + "aa":                           {a15 + "a", a15 + "b"},
		a15 + "\x7f...":                      {a15 + "\x7f", a15 + "\u0080"},
		strings.Repeat("é", 17):              {strings.Repeat("é", 16), strings.Repeat("é", 15) + "ê"},
		a15 + "\ud7ff...":                    {a15 + "\ud7ff", a15 + "\ue000"}, // no code points between
		a15 + "\uffff...":                    {a15 + "\uffff", a15 + "\U00010000"},
		a15 + last + "...":                   {a15 + last, a15[1:] + "b"},
		"a" + strings.Repeat(last, 20):       {"a" + strings.Repeat(last, 15), "b"},
		strings.Repeat(last, 17):             {strings.Repeat(last, 16), ""},
		strings.Repeat(last, 16):             {strings.Repeat(last, 16), strings.Repeat(last, 16)},
		strings.Repeat("\U0001F600", 16):     {strings.Repeat("\U0001F600", 16), strings.Repeat("\U0001F600", 16)},
		strings.Repeat("\U0001F600", 16)[4:]: {strings.Repeat("\U0001F600", 15), strings.Repeat("\U0001F600", 15)},
	} {
		f := column(t, prim.String, strs(text)...)
		lower, upper := string(f.LowerBoundValues()[10]), string(f.UpperBoundValues()[10])
		if _, has := f.UpperBoundValues()[10]; lower != want.lower || upper != want.upper || has != (want.upper != "") {
			t.Errorf("%q: bounds %q and %q (%v), want %q and %q", text, lower, upper, has, want.lower, want.upper)
		}
	}
}

// A filter must never hide a row: whatever the texts, the bounds hold them.
func TestBoundsHoldEveryText(t *testing.T) {
	t.Parallel()
	alphabet := []rune{0, 'a', 0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xe000, 0xffff, 0x10000, 0x10ffff}
	r := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		var texts []string
		for range 1 + r.IntN(3) {
			runes := make([]rune, r.IntN(20))
			for i := range runes {
				runes[i] = alphabet[r.IntN(len(alphabet))]
			}
			texts = append(texts, string(runes))
		}
		f := column(t, prim.String, strs(texts...)...)
		lower := f.LowerBoundValues()[10]
		upper, bounded := f.UpperBoundValues()[10]
		for _, s := range texts {
			if bytes.Compare(lower, []byte(s)) > 0 || bounded && bytes.Compare([]byte(s), upper) > 0 {
				t.Fatalf("%q is outside of %q to %q", s, lower, upper)
			}
		}
	}
}

// Of texts that are no UTF-8, which other writers may have left, no bound can be told to readers, which decode them.
func TestTextsThatAreNoneHaveNoBounds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, lower, upper string }{
		{"\xff", "none", "none"}, {strings.Repeat("a", 15) + "\xffb", "none", "none"},
		{strings.Repeat("a", 16) + "\xff", strings.Repeat("61", 16), strings.Repeat("61", 15) + "62"},
	} {
		f := column(t, prim.String, strs(c.text)...)
		if lower, upper := bound(f.LowerBoundValues()), bound(f.UpperBoundValues()); lower != c.lower || upper != c.upper {
			t.Errorf("%q: bounds %s and %s", c.text, lower, upper)
		}
	}
}

// ordered compares values as iceberg-go does.
func ordered[T iceberg.LiteralType](a, b iceberg.Literal) int {
	x, y := a.(iceberg.TypedLiteral[T]), b.(iceberg.TypedLiteral[T])
	return x.Comparator()(x.Value(), y.Value())
}

// As above for the other types, whatever the values and the length of bounds, read by iceberg-go.
func TestBoundsHoldEveryValue(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(2, 1))
	some := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = []byte{0, 1, 0x7f, 0x80, 0xfe, 0xff}[r.IntN(6)]
		}
		return b
	}
	most := decimal128.GetMaxValue(38)
	special := []float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), -math.MaxFloat32, math.SmallestNonzeroFloat32, 1}
	for name, c := range map[string]struct {
		typ     iceberg.Type
		value   func() (rows.Cell, iceberg.Literal)
		compare func(a, b iceberg.Literal) int
	}{
		"binary": {prim.Binary, func() (rows.Cell, iceberg.Literal) {
			b := some(r.IntN(6))
			return rows.Cell{Bytes: b}, iceberg.BinaryLiteral(b)
		}, ordered[[]byte]},
		"fixed": {iceberg.FixedTypeOf(4), func() (rows.Cell, iceberg.Literal) {
			b := some(4)
			return rows.Cell{Bytes: b}, iceberg.FixedLiteral(b)
		}, ordered[[]byte]},
		"uuid": {prim.UUID, func() (rows.Cell, iceberg.Literal) {
			b := some(16)
			return rows.Cell{Bytes: b}, iceberg.UUIDLiteral(b)
		}, ordered[uuid.UUID]},
		"decimal": {iceberg.DecimalTypeOf(38, 2), func() (rows.Cell, iceberg.Literal) {
			n := []decimal128.Num{most, most.Negate(), decimal128.FromI64(int64(r.Uint64()) >> r.IntN(64)), {}}[r.IntN(4)]
			return rows.Cell{Decimal: n}, iceberg.DecimalLiteral{Val: n, Scale: 2}
		}, ordered[iceberg.Decimal]},
		"float": {prim.Float32, func() (rows.Cell, iceberg.Literal) {
			f := special[r.IntN(len(special))]
			return rows.Cell{Float: f}, iceberg.Float32Literal(f)
		}, ordered[float32]},
		"double": {prim.Float64, func() (rows.Cell, iceberg.Literal) {
			f := special[r.IntN(len(special))]
			return rows.Cell{Float: f}, iceberg.Float64Literal(f)
		}, ordered[float64]},
		"timestamp_ns": {prim.TimestampNs, func() (rows.Cell, iceberg.Literal) {
			n := int64(r.Uint64())
			return rows.Cell{Int: n}, iceberg.TimestampNsLiteral(n)
		}, ordered[iceberg.TimestampNano]},
	} {
		for range 100 {
			var list [][]rows.Cell
			var values []iceberg.Literal
			for range 1 + r.IntN(4) {
				cell, v := c.value()
				list = append(list, []rows.Cell{cell})
				if cell.Float == cell.Float { // NaN is counted, and has no place in bounds
					values = append(values, v)
				}
			}
			f := laidOut(t, batch(t, []iceberg.Type{c.typ}, list...), map[string]string{"write.metadata.metrics.default": fmt.Sprintf("truncate(%d)", 1+r.IntN(4))}).Data[0]
			for n, bounds := range []map[int][]byte{f.LowerBoundValues(), f.UpperBoundValues()} {
				if bounds[10] == nil {
					continue
				}
				b, err := iceberg.LiteralFromBytes(c.typ, bounds[10])
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				for _, v := range values {
					if d := c.compare(b, v); n == 0 && d > 0 || n == 1 && d < 0 {
						t.Fatalf("%s: %s is outside of %s", name, v, b)
					}
				}
			}
		}
	}
}
