package rows_test

import (
	"bytes"
	"math"
	"strings"
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
	id, f := optional(1, "id", prim.Int64), optional(2, "f", prim.Float64)
	inside := optional(4, "addr", struc(optional(5, "city", prim.String)))
	for name, s := range map[string]struct {
		schema *iceberg.Schema
		key    []string
		want   string
	}{
		"no key at all":     {iceberg.NewSchema(0, id), nil, "no identifier fields"},
		"a column too many": {iceberg.NewSchema(0, id), []string{"id", "x"}, "key column x: the table has no such column"},
		"a double as key":   {iceberg.NewSchema(0, id, f), []string{"f"}, "a double cannot be a key"},
		"a float as key":    {iceberg.NewSchema(0, optional(2, "f", prim.Float32)), []string{"f"}, "a float cannot be a key"},
		"unknown as key":    {iceberg.NewSchema(0, optional(2, "f", prim.Unknown)), []string{"f"}, "a unknown cannot be a key"},
		"a struct as key":   {iceberg.NewSchema(0, id, inside), []string{"addr"}, "cannot be a key"},
		"a field as key":    {iceberg.NewSchemaWithIdentifiers(0, []int{5}, id, inside), nil, "key column addr.city: an identifier field inside a struct"},
		"a variant":         {iceberg.NewSchema(0, id, optional(3, "u", iceberg.VariantType{})), []string{"id"}, "column u: the type variant is not supported"},
		"a list of unknown": {iceberg.NewSchema(0, id, optional(3, "u", list(4, iceberg.UnknownType{}, false))), []string{"id"}, "column u: the type unknown is not supported"},
		"a geometry":        {iceberg.NewSchema(0, id, optional(3, "u", iceberg.GeometryType{})), []string{"id"}, "column u: the type geometry is not supported"},
		"a geography in a list": {
			iceberg.NewSchema(0, id, optional(3, "u", list(4, iceberg.GeographyType{}, false))), []string{"id"}, "column u: the type geography is not supported",
		},
	} {
		if _, err := rows.NewSchema(s.schema, s.key); err == nil || !strings.Contains(err.Error(), s.want) {
			t.Errorf("%s: got %v, want %q", name, err, s.want)
		}
	}
	if s, err := rows.NewSchema(iceberg.NewSchemaWithIdentifiers(0, []int{1}, f, id), nil); err != nil || s.Key[0] != 1 {
		t.Errorf("identifier fields are not the key: %v %v", s, err)
	}
}
