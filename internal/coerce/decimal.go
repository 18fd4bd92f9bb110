package coerce

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/frazil/frazil/internal/rows"
	"github.com/frazil/frazil/internal/wire"
)

// decimal parses into decimal(precision, scale), of up to 38 digits. No value is rounded.
type decimal struct {
	precision, scale int
	options          options
}

func (t *decimal) parse(v wire.Value, c *rows.Cell) error {
	switch {
	case v.Kind() == wire.Object || v.Kind() == wire.Text && inBase64(v, t.options.decimals):
		return t.base64(v, c)
	case v.Kind() != wire.Number && (v.Kind() != wire.Text || t.options.decimals == "number"):
		return wrongKind(v, t.String())
	}
	s := v.Text()
	if n, ok := t.short(s); ok {
		c.Decimal = decimal128.FromI64(n)
		return nil
	}
	if v.Kind() == wire.Text && !plainDecimal(s) {
		return errors.New("is no plain decimal text (decimal_encoding says how decimals are sent)")
	}
	var e exact
	if e.read(s); e.negative && t.options.unsigned && v.Kind() == wire.Number {
		if err := e.unfold(v); err != nil {
			return err
		}
	}
	hi, lo, err := e.scaled(t.scale, t.precision, t.options.floor)
	if err != nil {
		return t.misfit(err)
	}
	c.Decimal = decimal128.New(int64(hi), lo)
	if e.negative {
		c.Decimal = c.Decimal.Negate()
	}
	if t.options.floor && !c.Decimal.FitsInPrecision(int32(t.precision)) { // cut off to the next number below
		return t.misfit(errTooLarge)
	}
	return nil
}

// short reads up to 18 plain digits that fit as they are, the common case. Negative ones of unsigned columns do not.
func (t *decimal) short(s []byte) (n int64, ok bool) {
	const most = 18
	negative := len(s) > 0 && s[0] == '-'
	if negative {
		s = s[1:]
	}
	point, zeros := bytes.IndexByte(s, '.'), t.scale
	if point >= 0 {
		if zeros -= len(s) - point - 1; point == 0 || point == len(s)-1 {
			return 0, false
		}
	}
	if len(s) == 0 || zeros < 0 || len(s)+zeros > most || negative && t.options.unsigned {
		return 0, false
	}
	for i, ch := range s {
		switch {
		case ch >= '0' && ch <= '9':
			n = n*10 + int64(ch-'0')
		case i != point:
			return 0, false
		}
	}
	n *= powers[zeros]
	if t.precision < most && n >= powers[t.precision] {
		return 0, false
	}
	if negative {
		n = -n
	}
	return n, true
}

// powers are those of ten that 64 bits hold.
var powers = func() (p [19]int64) {
	p[0] = 1
	for i := range len(p) - 1 {
		p[i+1] = 10 * p[i]
	}
	return p
}()

// unfold makes the exact number of a negative integer the unsigned one that its producer folded.
func (e *exact) unfold(v wire.Value) error {
	var c rows.Cell
	if err := anyLong.parse(v, &c); err != nil {
		return err
	}
	n, err := unfold(c.Int, v.Type())
	if err == nil {
		e.read(strconv.AppendUint(nil, n, 10))
	}
	return err
}

func (t *decimal) base64(v wire.Value, c *rows.Cell) error {
	if short, ok := t.shortBase64(v); ok {
		c.Decimal = short
		return nil
	}
	n, err := unscaled(v, t.scale, t.options.floor)
	if err != nil {
		return t.misfit(err)
	}
	if n.BitLen() > 127 {
		return t.misfit(errTooLarge)
	}
	c.Decimal = decimal128.FromBigInt(n)
	if !c.Decimal.FitsInPrecision(int32(t.precision)) {
		return t.misfit(errTooLarge)
	}
	return nil
}

// shortBase64 reads a value that is at the column's scale and no longer than 128 bits, the common case, without big
// integers.
func (t *decimal) shortBase64(v wire.Value) (n decimal128.Num, ok bool) {
	if v.Kind() != wire.Text || v.Type() != nil && (v.Type().Name != wire.Decimal || v.Type().Scale != t.scale) {
		return n, false
	}
	var buf [18]byte // what 24 characters decode to
	text := v.Text()
	if len(text) > 24 {
		return n, false
	}
	size, err := base64.StdEncoding.Strict().Decode(buf[:], text)
	if err != nil || size == 0 || size > 16 || base64.StdEncoding.EncodedLen(size) != len(text) {
		return n, false
	}
	n = rows.BigEndianDecimal(buf[:size])
	return n, n.FitsInPrecision(int32(t.precision))
}

func (t *decimal) String() string { return fmt.Sprintf("decimal(%d,%d)", t.precision, t.scale) }

func (t *decimal) misfit(err error) error { return fmt.Errorf("%w for %s", err, t) }

// plainDecimal reports whether s is digits with an optional sign and fraction, and no exponent.
func plainDecimal(s []byte) bool {
	for _, ch := range s {
		if ch == 'e' || ch == 'E' {
			return false
		}
	}
	var e exact
	return e.read(s)
}

// inBase64 reports whether a text is Connect's form of a decimal: by the writer's type where it sent one, else
// by the route.
func inBase64(v wire.Value, encoding string) bool {
	if t := v.Type(); t != nil {
		return t.Kind == "bytes"
	}
	return encoding == "base64"
}

// unscaled is a Connect decimal times 10^scale: base64 of a big-endian two's complement integer whose scale
// the type says (without one: it is the column's), or Debezium's VariableScaleDecimal {scale, value}. Debezium's Bits
// are the unsigned number that they are.
func unscaled(v wire.Value, scale int, floor bool) (*big.Int, error) {
	from := scale
	if t := v.Type(); t != nil && t.Kind == "bytes" {
		switch t.Name {
		case bitsType:
			return littleEndian(v, scale)
		case wire.Decimal:
			from = t.Scale
		default:
			return nil, errors.New("bytes that are no Connect decimal are no number")
		}
	}
	if v.Kind() == wire.Object {
		var c rows.Cell
		if (&integer{min: -1 << 15, max: 1 << 15, name: "a scale"}).parse(v.Field("scale"), &c) != nil || v.Field("value").Kind() != wire.Text {
			return nil, errors.New("an object that is no {scale, value} is no decimal")
		}
		v, from = v.Field("value"), int(c.Int)
	}
	b, ok := decodeBase64(base64.StdEncoding, nil, v.Text())
	if !ok || len(b) == 0 {
		return nil, errors.New("is no base64 of a decimal (decimal_encoding says how decimals are sent)")
	}
	return rescale(twosComplement(b), from, scale, floor)
}

const bitsType = "io.debezium.data.Bits"

// littleEndian reads Bits: base64 of an unsigned integer, its least significant byte first.
func littleEndian(v wire.Value, scale int) (*big.Int, error) {
	b, ok := decodeBase64(base64.StdEncoding, nil, v.Text())
	if !ok {
		return nil, errors.New("is no base64 of bits")
	}
	slices.Reverse(b)
	return rescale(new(big.Int).SetBytes(b), 0, scale, false)
}

func twosComplement(b []byte) *big.Int {
	n := new(big.Int).SetBytes(b)
	if b[0]&0x80 != 0 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(len(b))*8))
	}
	return n
}

func rescale(n *big.Int, from, to int, floor bool) (*big.Int, error) {
	if from == to || n.Sign() == 0 {
		return n, nil
	}
	if to-from > 2*38 {
		return nil, errTooLarge
	}
	if from-to > n.BitLen() { // all of it is a fraction, and the power too large to work with
		n, from = big.NewInt(int64(n.Sign())), to+1
	}
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(from-to, to-from))), nil)
	if to > from {
		return n.Mul(n, power), nil
	}
	rest := new(big.Int)
	if n.DivMod(n, power, rest); rest.Sign() != 0 && !floor {
		return nil, fmt.Errorf("has more than %d fraction digits", to)
	}
	return n, nil
}
