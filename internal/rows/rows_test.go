package rows_test

import (
	"bytes"
	"math"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/iceberg-go"
	"github.com/frazil/frazil/internal/rows"
)

func TestPartsOrderAsValues(t *testing.T) {
	t.Parallel()
	part := func(add func(*rows.Parts)) []byte {
		var p rows.Parts
		add(&p)
		return bytes.Clone(p.At(0))
	}
	var got [][]byte
	for _, v := range []int64{math.MinInt64, -1 << 40, -1, 0, 1, 255, 256, 1 << 40, math.MaxInt64} {
		got = append(got, part(func(p *rows.Parts) { p.Int(v) }))
	}
	increasing(t, "ints", got)
	got = nil
	for _, v := range []decimal128.Num{
		decimal128.New(math.MinInt64, 0), decimal128.FromI64(-1000), decimal128.FromI64(-1), decimal128.FromI64(0),
		decimal128.FromI64(7), decimal128.New(0, math.MaxUint64), decimal128.New(1, 0), decimal128.New(math.MaxInt64, math.MaxUint64),
	} {
		got = append(got, part(func(p *rows.Parts) { p.Decimal(v) }))
	}
	increasing(t, "decimals", got)
}

func increasing(t *testing.T, what string, parts [][]byte) {
	t.Helper()
	for i := 1; i < len(parts); i++ {
		if bytes.Compare(parts[i-1], parts[i]) >= 0 {
			t.Errorf("%s: part %d is not above the one before", what, i)
		}
	}
}

func TestKeysOfDifferentColumnsNeverCollide(t *testing.T) {
	t.Parallel()
	k := rows.NewKeys(2)
	id := func(a, b string) rows.Key {
		var p rows.Parts
		p.Bytes([]byte(a))
		p.Bytes([]byte(b))
		return k.Intern(&p)
	}
	if id("ab", "c") == id("a", "bc") {
		t.Error("(ab, c) and (a, bc) are one key")
	}
	if id("", "x") == id("x", "") {
		t.Error("(, x) and (x, ) are one key")
	}
	if id("ab", "c") != 0 || k.Len() != 4 {
		t.Errorf("a known key got a new number, or %d keys are not 4", k.Len())
	}
	if got := string(k.Part(id("a", "bc"), 1)); got != "bc" {
		t.Errorf("part is %q", got)
	}
}

func TestBoundPartReadsPromotedAndShortBounds(t *testing.T) {
	t.Parallel()
	same := func(ty iceberg.Type, bound []byte, add func(*rows.Parts)) {
		t.Helper()
		var p rows.Parts
		add(&p)
		got, err := rows.BoundPart(ty, bound)
		if err != nil || !bytes.Equal(got, p.At(0)) {
			t.Errorf("%s %x: got %x %v, want %x", ty, bound, got, err, p.At(0))
		}
	}
	same(iceberg.PrimitiveTypes.Int64, []byte{0xfe, 0xff, 0xff, 0xff}, func(p *rows.Parts) { p.Int(-2) })
	same(iceberg.PrimitiveTypes.Int64, []byte{1, 0, 0, 0, 0, 0, 0, 0x80}, func(p *rows.Parts) { p.Int(math.MinInt64 + 1) })
	same(iceberg.DecimalTypeOf(10, 2), []byte{0xff, 0x38}, func(p *rows.Parts) { p.Decimal(decimal128.FromI64(-200)) })
	same(iceberg.DecimalTypeOf(38, 2), []byte{1, 0, 0, 0, 0, 0, 0, 0, 0}, func(p *rows.Parts) { p.Decimal(decimal128.New(1, 0)) })
	if _, err := rows.BoundPart(iceberg.PrimitiveTypes.Int32, []byte{1, 2, 3}); err == nil {
		t.Error("a bound of three bytes is no int")
	}
}

func TestNewSchemaRefusesWhatItCannotKeep(t *testing.T) {
	t.Parallel()
	field := func(id int, name string, ty iceberg.Type) iceberg.NestedField {
		return iceberg.NestedField{ID: id, Name: name, Type: ty}
	}
	id, f := field(1, "id", iceberg.PrimitiveTypes.Int64), field(2, "f", iceberg.PrimitiveTypes.Float64)
	for name, s := range map[string]struct {
		schema *iceberg.Schema
		key    []string
	}{
		"no key at all":     {iceberg.NewSchema(0, id), nil},
		"a column too many": {iceberg.NewSchema(0, id), []string{"id", "x"}},
		"a double as key":   {iceberg.NewSchema(0, id, f), []string{"f"}},
		"a type of later":   {iceberg.NewSchema(0, id, field(3, "u", iceberg.PrimitiveTypes.UUID)), []string{"id"}},
	} {
		if _, err := rows.NewSchema(s.schema, s.key); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if s, err := rows.NewSchema(iceberg.NewSchemaWithIdentifiers(0, []int{1}, id, f), nil); err != nil || s.Key[0] != 0 {
		t.Errorf("identifier fields are not the key: %v %v", s, err)
	}
}
