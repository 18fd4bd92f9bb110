package database

import (
	"regexp"
	"strconv"
	"strings"
)

// Kind is a kind of database.
type Kind string

const (
	Postgres Kind = "postgres"
	MySQL    Kind = "mysql" // and MariaDB
)

// Literal turns the text that a database has for a value of one of its types into the literal of a column's type: what the
// column holds once the value has gone through Debezium. The text is that of Rows.
func Literal(kind Kind, source, column string) func(string) string {
	if kind == Postgres {
		return postgresLiteral(source, column)
	}
	return mysqlLiteral(source, column)
}

func same(s string) string { return s }

var length = regexp.MustCompile(`\((\d+)[\d,-]*\)`)

func postgresLiteral(source, column string) func(string) string {
	if element, is := strings.CutSuffix(source, "[]"); is {
		return pgArray(postgresLiteral(element, strings.TrimSuffix(strings.TrimPrefix(column, "list<"), ">")))
	}
	switch name := length.ReplaceAllString(source, ""); name {
	case "boolean":
		return pgBool
	case "bytea":
		return pgBytes
	case "timestamp without time zone", "timestamp with time zone":
		return instant
	case "time with time zone":
		return inUTC
	case "money":
		return money
	case "inet":
		return withoutMask
	case "point":
		return point
	case "hstore":
		return hstore
	case "numeric":
		if column == "string" {
			return named
		}
	case "character":
		n, _ := strconv.Atoi(length.FindStringSubmatch(source)[1])
		return padded(n)
	case "time without time zone":
		return timeLiteral(column)
	case "bit", "bit varying":
		return bits(column, 2)
	}
	return same
}

func mysqlLiteral(source, column string) func(string) string {
	switch name, rest, _ := strings.Cut(length.ReplaceAllString(source, ""), " "); name {
	case "datetime":
		return instant
	case "timestamp":
		return instantUTC
	case "time":
		return timeLiteral(column)
	case "point":
		return point
	case "bit":
		return bits(column, 16)
	case "tinyint":
		if column == "boolean" {
			return bit
		}
	case "int":
		if strings.Contains(rest, "zerofill") {
			return base(10)
		}
	}
	return same
}

// timeLiteral is for times of day, which fit a time or, with 24:00:00 and MariaDB's that go beyond a day, microseconds.
func timeLiteral(column string) func(string) string {
	if column == "long" {
		return duration
	}
	return same
}

func bits(column string, b int) func(string) string {
	switch column {
	case "boolean":
		return bit
	case "string":
		return same
	}
	return base(b)
}
