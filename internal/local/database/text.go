package database

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The functions of this file turn the text that a database has for a value into Iceberg's literal.

func instant(s string) string {
	s = strings.Replace(s, " ", "T", 1)
	if strings.HasSuffix(s, "+00") {
		s += ":00"
	}
	return s
}

// instantUTC is for MariaDB, whose text of a timestamp has no zone.
func instantUTC(s string) string { return instant(s) + "+00:00" }

func money(s string) string { return strings.NewReplacer("$", "", ",", "").Replace(s) }

// padded gives a text of fixed length its blanks back.
func padded(n int) func(string) string {
	return func(s string) string { return s + strings.Repeat(" ", max(0, n-utf8.RuneCountInString(s))) }
}

func pgBytes(s string) string { return strings.TrimPrefix(s, `\x`) }

// pgBool is true or, in an array, t.
func pgBool(s string) string { return strconv.FormatBool(strings.HasPrefix(s, "t")) }

func bit(s string) string { return strconv.FormatBool(s == "1") }

func withoutMask(s string) string {
	if strings.Contains(s, ":") {
		return strings.TrimSuffix(s, "/128")
	}
	return strings.TrimSuffix(s, "/32")
}

// base reads an integer of digits without a prefix, none for 0.
func base(b int) func(string) string {
	return func(s string) string {
		n, ok := new(big.Int).SetString("0"+s, b)
		if !ok {
			return s
		}
		return n.String()
	}
}

// duration is a time of day, or of MariaDB's that go beyond one, in microseconds.
func duration(s string) string {
	digits, negative := strings.CutPrefix(s, "-")
	clock, fraction, _ := strings.Cut(digits, ".")
	micros := int64(0)
	for part := range strings.SplitSeq(clock, ":") {
		n, _ := strconv.ParseInt(part, 10, 64)
		micros = micros*60 + n
	}
	n, _ := strconv.ParseInt((fraction + "000000")[:6], 10, 64)
	if micros = micros*1_000_000 + n; negative {
		micros = -micros
	}
	return strconv.FormatInt(micros, 10)
}

// inUTC is PostgreSQL's time with an offset, moved to UTC: all that its connector sends.
func inUTC(s string) string {
	at := strings.LastIndexAny(s, "+-")
	micros, _ := strconv.ParseInt(duration(s[:at]), 10, 64)
	hours, minutes, _ := strings.Cut(s[at+1:], ":")
	h, _ := strconv.ParseInt(hours, 10, 64)
	m, _ := strconv.ParseInt("0"+minutes, 10, 64)
	offset := (h*60 + m) * 60_000_000
	if s[at] == '-' {
		offset = -offset
	}
	const day = 86_400_000_000
	micros = (micros - offset + 2*day) % day
	return fmt.Sprintf("%02d:%02d:%02d.%06d", micros/3_600_000_000, micros/60_000_000%60, micros/1_000_000%60, micros%1_000_000)
}

// point is (x,y) of PostgreSQL and POINT(x y) of MariaDB.
func point(s string) string {
	x, y, _ := strings.Cut(strings.Trim(strings.Replace(s, " ", ",", 1), "POINT()"), ",")
	return fmt.Sprintf(`{"x":%s,"y":%s}`, x, y)
}

// named is a special numeric in Debezium's words.
func named(s string) string {
	if word, ok := map[string]string{"NaN": "NAN", "Infinity": "POSITIVE_INFINITY", "-Infinity": "NEGATIVE_INFINITY"}[s]; ok {
		return word
	}
	return s
}

// pgArray reads PostgreSQL's text of an array, with its elements by literal, as JSON.
func pgArray(literal func(string) string) func(string) string {
	return func(s string) string {
		out := []any{}
		for s = strings.Trim(s, "{}"); s != ""; s = strings.TrimPrefix(s, ",") {
			element, quoted, rest := pgElement(s)
			s = rest
			switch {
			case element == "NULL" && !quoted:
				out = append(out, nil)
			case literal != nil:
				out = append(out, literal(element))
			default:
				out = append(out, element)
			}
		}
		text, _ := json.Marshal(out)
		return string(text)
	}
}

// pgElement takes the first word, or quoted text, off s.
func pgElement(s string) (element string, quoted bool, rest string) {
	if s[0] != '"' {
		end := strings.IndexAny(s, ",=")
		if end < 0 {
			end = len(s)
		}
		return s[:end], false, s[end:]
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
			b.WriteByte(s[i])
		case '"':
			return b.String(), true, s[i+1:]
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String(), true, ""
}

// hstore reads PostgreSQL's text of a hstore as JSON.
func hstore(s string) string {
	out := map[string]any{}
	for ; s != ""; s = strings.TrimPrefix(s, ", ") {
		key, _, rest := pgElement(s)
		value, quoted, rest := pgElement(strings.TrimPrefix(rest, "=>"))
		s = rest
		if out[key] = value; value == "NULL" && !quoted {
			out[key] = nil
		}
	}
	text, _ := json.Marshal(out)
	return string(text)
}
