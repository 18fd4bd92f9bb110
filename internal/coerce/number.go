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

// scaled is the value × 10^scale as 128 unsigned bits. It has to be integral and of at most precision digits,
// of which 38 fit.
func (e *exact) scaled(scale, precision int) (hi, lo uint64, err error) {
	zeros := e.exponent + scale
	switch {
	case len(e.digits) == 0:
		return 0, 0, nil
	case zeros < 0:
		return 0, 0, fmt.Errorf("has more than %d fraction digits", scale)
	case len(e.digits)+zeros > precision:
		return 0, 0, errTooLarge
	}
	for i := range len(e.digits) + zeros {
		d := uint64(0)
		if i < len(e.digits) {
			d = uint64(e.digits[i] - '0')
		}
		over, low := bits.Mul64(lo, 10)
		low, carry := bits.Add64(low, d, 0)
		hi, lo = hi*10+over+carry, low
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
}

func (t integer) parse(v wire.Value, c *rows.Cell) error {
	switch {
	case v.Kind() == wire.Object || v.Kind() == wire.Text && inBase64(v, t.encoding):
		n, err := unscaled(v, 0)
		if err != nil {
			return err
		}
		if !n.IsInt64() {
			return fmt.Errorf("is out of range of %s", t.name)
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
	return t.number(v.Text(), c)
}

func (t integer) number(s []byte, c *rows.Cell) error {
	if n, ok := smallInteger(s); ok {
		return t.fit(n, c)
	}
	var e exact
	e.read(s)
	_, lo, err := e.scaled(0, 19)
	switch {
	case errors.Is(err, errTooLarge):
		return fmt.Errorf("is out of range of %s", t.name)
	case err != nil:
		return fmt.Errorf("a number with a fraction does not fit %s", t.name)
	case e.negative && lo <= 1<<63:
		return t.fit(int64(-lo), c)
	case !e.negative && lo <= math.MaxInt64:
		return t.fit(int64(lo), c)
	}
	return fmt.Errorf("is out of range of %s", t.name)
}

func (t integer) fit(n int64, c *rows.Cell) error {
	if n < t.min || n > t.max {
		return fmt.Errorf("is out of range of %s", t.name)
	}
	c.Int = n
	return nil
}

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

// parseDouble takes numbers, and the texts that producers have for what JSON cannot say. A decimal number
// becomes the nearest double, which is what its producer wrote out; a whole number has to be exact.
func parseDouble(v wire.Value, c *rows.Cell) error {
	s := v.Text()
	switch v.Kind() {
	case wire.Number:
	case wire.Text:
		switch string(s) {
		case "NaN", "NAN":
			c.Float = math.NaN()
			return nil
		case "Infinity", "POSITIVE_INFINITY":
			c.Float = math.Inf(1)
			return nil
		case "-Infinity", "NEGATIVE_INFINITY":
			c.Float = math.Inf(-1)
			return nil
		}
		return errors.New("a text does not fit double")
	default:
		return wrongKind(v, "double")
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
