package coerce

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"strconv"

	"github.com/frazil/frazil/internal/rows"
	"github.com/frazil/frazil/internal/wire"
)

// exact is a number as it was written, nothing rounded. The digits have no zeros at either end; zero has no digits.
type exact struct {
	negative bool
	digits   []byte
	exponent int // value = ±digits × 10^exponent
	scratch  [48]byte
}

// maxExponent stands for any larger exponent. It is beyond what the digits of any document could make up for.
const maxExponent = 1 << 40

// read takes a number in JSON's grammar, or a text of plain decimal digits. It reports whether s is one.
func (e *exact) read(s []byte) bool {
	*e = exact{}
	e.digits = e.scratch[:0]
	if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
		e.negative = s[0] == '-'
		s = s[1:]
	}
	i, seen := 0, 0
	for point := false; i < len(s); i++ {
		switch ch := s[i]; {
		case ch == '.' && !point && seen > 0:
			point = true
			continue
		case ch < '0' || ch > '9':
			return seen > 0 && s[i-1] != '.' && (ch == 'e' || ch == 'E') && e.power(s[i+1:])
		default:
			seen++
			if ch != '0' || len(e.digits) > 0 {
				e.digits = append(e.digits, ch)
			}
			if point {
				e.exponent--
			}
		}
	}
	e.trim()
	return seen > 0 && s[i-1] != '.'
}

// power adds the exponent of scientific notation.
func (e *exact) power(s []byte) bool {
	n, err := strconv.Atoi(string(s))
	var r *strconv.NumError
	if errors.As(err, &r) && errors.Is(r.Err, strconv.ErrRange) {
		n, err = maxExponent, nil
		if s[0] == '-' {
			n = -maxExponent
		}
	}
	e.exponent += max(-maxExponent, min(n, maxExponent))
	e.trim()
	return err == nil
}

func (e *exact) trim() {
	for len(e.digits) > 0 && e.digits[len(e.digits)-1] == '0' {
		e.digits = e.digits[:len(e.digits)-1]
		e.exponent++
	}
	if len(e.digits) == 0 {
		e.exponent = 0
	}
}

// scaled is the value × 10^scale as 128 unsigned bits, of at most precision digits, of which 38 fit. It has to be
// integral, unless what is finer may be cut off towards the smaller number.
func (e *exact) scaled(scale, precision int, floor bool) (hi, lo uint64, err error) {
	digits, zeros, finer := e.digits, e.exponent+scale, false
	switch {
	case len(digits) == 0:
		return 0, 0, nil
	case zeros < 0 && !floor:
		return 0, 0, fmt.Errorf("has more than %d fraction digits", scale)
	case zeros < 0:
		digits, zeros, finer = digits[:len(digits)-min(-zeros, len(digits))], 0, true
	}
	if len(digits)+zeros > precision {
		return 0, 0, errTooLarge
	}
	for i := range len(digits) + zeros {
		d := uint64(0)
		if i < len(digits) {
			d = uint64(digits[i] - '0')
		}
		over, low := bits.Mul64(lo, 10)
		low, carry := bits.Add64(low, d, 0)
		hi, lo = hi*10+over+carry, low
	}
	if finer && e.negative {
		var carry uint64
		lo, carry = bits.Add64(lo, 1, 0)
		hi += carry
	}
	return hi, lo, nil
}

var errTooLarge = errors.New("is too large")

// integer parses whole numbers. An exact integral value fits however it is written; a text only in plain
// digits, or, where decimals are base64, as one without fraction (rule 5).
type integer struct {
	min, max int64
	name     string
	encoding string
	unsigned bool
}

func (t *integer) parse(v wire.Value, c *rows.Cell) error {
	switch {
	case v.Kind() == wire.Object || v.Kind() == wire.Text && inBase64(v, t.encoding):
		n, err := unscaled(v, 0, false)
		if err != nil {
			return err
		}
		if !n.IsInt64() {
			return t.outOfRange()
		}
		return t.fit(n.Int64(), c)
	case v.Kind() == wire.Number:
	case v.Kind() == wire.Text:
		if !plainDigits(v.Text()) {
			return fmt.Errorf("a text that is no plain whole number does not fit %s", t.name)
		}
	default:
		return wrongKind(v, t.name)
	}
	if err := t.number(v.Text(), c); err != nil || !t.unsigned || c.Int >= 0 || v.Kind() != wire.Number {
		return err
	}
	n, err := unfold(c.Int, v.Type())
	if err != nil || n > uint64(t.max) {
		return t.outOfRange()
	}
	c.Int = int64(n)
	return nil
}

// unfold is the unsigned integer that a producer without any wrote as a negative one of its type's width, or of 64 bits.
func unfold(n int64, t *wire.Type) (uint64, error) {
	width := 64
	if t != nil {
		switch t.Kind {
		case "int8":
			width = 8
		case "int16":
			width = 16
		case "int32":
			width = 32
		case "int64":
		default:
			return 0, errors.New("a negative value of no integer type is no unsigned one")
		}
	}
	if width < 64 && n < -1<<(width-1) {
		return 0, errors.New("is out of range of its type")
	}
	return uint64(n) & (1<<width - 1), nil
}

func (t *integer) number(s []byte, c *rows.Cell) error {
	if n, ok := smallInteger(s); ok {
		return t.fit(n, c)
	}
	var e exact
	e.read(s)
	_, lo, err := e.scaled(0, 19, false)
	switch {
	case errors.Is(err, errTooLarge):
		return t.outOfRange()
	case err != nil:
		return fmt.Errorf("a number with a fraction does not fit %s", t.name)
	case e.negative && lo <= 1<<63:
		return t.fit(int64(-lo), c)
	case !e.negative && lo <= math.MaxInt64:
		return t.fit(int64(lo), c)
	}
	return t.outOfRange()
}

func (t *integer) fit(n int64, c *rows.Cell) error {
	if n < t.min || n > t.max {
		return t.outOfRange()
	}
	c.Int = n
	return nil
}

func (t *integer) outOfRange() error { return fmt.Errorf("is out of range of %s", t.name) }

// smallInteger reads a plain integer of up to 18 digits, the common case.
func smallInteger(s []byte) (int64, bool) {
	negative := len(s) > 0 && s[0] == '-'
	if negative {
		s = s[1:]
	}
	if len(s) == 0 || len(s) > 18 {
		return 0, false
	}
	n := int64(0)
	for _, ch := range s {
		if ch < '0' || ch > '9' {
			return 0, false
		}
		n = n*10 + int64(ch-'0')
	}
	if negative {
		n = -n
	}
	return n, true
}

func plainDigits(s []byte) bool {
	if len(s) > 0 && s[0] == '-' {
		s = s[1:]
	}
	for _, ch := range s {
		if ch < '0' || ch > '9' {
			return false
		}
	}
	return len(s) > 0
}

// parseFloat takes a number that a float is exactly, or that is a float written with as many digits as it has: 0.1, and
// the 0.10000000149011612 that 0.1 becomes as a double.
func parseFloat(v wire.Value, c *rows.Cell) error {
	s := v.Text()
	if v.Kind() != wire.Number {
		return namedFloat(v, c, "float")
	}
	f, err := strconv.ParseFloat(string(s), 32)
	if err != nil || f == 0 && !isZero(s) {
		return errors.New("is out of range of float")
	}
	if !isFloat(float32(f), s) {
		return errors.New("has more digits than float can hold")
	}
	c.Float = f
	return nil
}

// isFloat reports whether a producer of the float f could write s for it.
func isFloat(f float32, s []byte) bool {
	const most = 9 // digits that tell any two floats apart
	var e exact
	e.read(s)
	if n := len(e.digits); n <= most {
		if n == 0 {
			return true
		}
		var rounded exact
		rounded.read(strconv.AppendFloat(nil, float64(f), 'e', n-1, 32))
		if bytes.Equal(rounded.digits, e.digits) && rounded.exponent == e.exponent {
			return true
		}
	}
	if wide, err := strconv.ParseFloat(string(s), 64); err == nil && wide == float64(f) && !mustBeExact(s) {
		return true
	}
	return equals(float64(f), s)
}

// parseDouble takes numbers, and the texts that producers have for what JSON cannot say. A decimal number
// becomes the nearest double, which is what its producer wrote out; a whole number has to be exact.
func parseDouble(v wire.Value, c *rows.Cell) error {
	s := v.Text()
	if v.Kind() != wire.Number {
		return namedFloat(v, c, "double")
	}
	f, err := strconv.ParseFloat(string(s), 64)
	if err != nil || f == 0 && !isZero(s) {
		return errors.New("is out of range of double")
	}
	if mustBeExact(s) && !equals(f, s) {
		return errors.New("has more digits than double can hold")
	}
	c.Float = f
	return nil
}

// namedFloat takes the texts for what is no number in JSON.
func namedFloat(v wire.Value, c *rows.Cell, name string) error {
	if v.Kind() != wire.Text {
		return wrongKind(v, name)
	}
	switch string(v.Text()) {
	case "NaN", "NAN":
		c.Float = math.NaN()
	case "Infinity", "POSITIVE_INFINITY":
		c.Float = math.Inf(1)
	case "-Infinity", "NEGATIVE_INFINITY":
		c.Float = math.Inf(-1)
	default:
		return errors.New("a text does not fit " + name)
	}
	return nil
}

// mustBeExact tells numbers that no producer of doubles wrote: whole ones beyond 15 digits without an exponent, and
// those of more than the 17 digits that tell any two doubles apart.
func mustBeExact(s []byte) bool {
	const whole, fraction = 15, 17
	if len(s) <= whole {
		return false
	}
	var e exact
	e.read(s)
	return len(e.digits) > fraction || len(e.digits)+e.exponent > whole && e.exponent >= 0 && !bytes.ContainsAny(s, "eE")
}

// equals reports whether f is exactly the number s, which is in f's range.
func equals(f float64, s []byte) bool {
	want, ok := new(big.Rat).SetString(string(s))
	return ok && new(big.Rat).SetFloat64(f).Cmp(want) == 0
}

func isZero(s []byte) bool {
	var e exact
	e.read(s)
	return len(e.digits) == 0
}
