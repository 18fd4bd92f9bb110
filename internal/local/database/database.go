// Package database reads tables of PostgreSQL, MySQL and MariaDB in the form in which package lake gives those of Iceberg, so
// that a mirror can be compared with what it mirrors.
package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/frazil/frazil/internal/local/lake"
	"github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver pgx
)

// Database is a connection to one. It is safe for concurrent use.
type Database struct {
	*sql.DB
	kind Kind
}

// Open connects with the first use, to postgres://USER:PASSWORD@HOST:PORT/DATABASE or mysql://… of the same form.
func Open(dsn string) (*Database, error) {
	at, err := url.Parse(dsn)
	if err != nil {
		return nil, errors.New("the address of a database has to be a URL") // it has a password, so it is not said again
	}
	switch at.Scheme {
	case "postgres", "postgresql":
		query := at.Query()
		for name, value := range map[string]string{"timezone": "UTC", "datestyle": "ISO", "bytea_output": "hex", "extra_float_digits": "1"} {
			query.Set(name, value)
		}
		at.RawQuery = query.Encode()
		db, err := sql.Open("pgx", at.String())
		return &Database{db, Postgres}, err
	case "mysql", "mariadb":
		c := mysql.NewConfig()
		c.User, c.Net, c.Addr, c.DBName = at.User.Username(), "tcp", at.Host, strings.TrimPrefix(at.Path, "/")
		c.Passwd, _ = at.User.Password()
		c.Params = map[string]string{"time_zone": "'+00:00'"}
		c.MultiStatements = true
		connector, err := mysql.NewConnector(c)
		if err != nil {
			return nil, err
		}
		return &Database{sql.OpenDB(connector), MySQL}, nil
	}
	return nil, fmt.Errorf("databases of %s:// are not read, only postgres:// and mysql://", at.Scheme)
}

// Rows reads the given columns of a table, SCHEMA.NAME, whole and as of one moment.
func (d *Database) Rows(ctx context.Context, table string, columns []lake.Column) (rows []lake.Row, err error) {
	types, err := d.types(ctx, table)
	if err != nil {
		return nil, err
	}
	var texts []string
	literals := make([]func(string) string, len(columns))
	for i, c := range columns {
		source, there := types[c.Name]
		if !there {
			return nil, fmt.Errorf("%s has no column %s", table, c.Name)
		}
		texts, literals[i] = append(texts, d.text(c.Name, source)), Literal(d.kind, source, c.Type)
	}
	found, err := d.QueryContext(ctx, "SELECT "+strings.Join(texts, ", ")+" FROM "+d.quoted(strings.Split(table, ".")...))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, found.Close()) }()
	cells, into := make([]sql.NullString, len(columns)), make([]any, len(columns))
	for i := range cells {
		into[i] = &cells[i]
	}
	for found.Next() {
		if err := found.Scan(into...); err != nil {
			return nil, err
		}
		row := lake.Row{}
		for i, c := range columns {
			if !cells[i].Valid {
				continue
			}
			if row[c.Name], err = lake.Canonical(c.Type, literals[i](cells[i].String)); err != nil {
				return nil, fmt.Errorf("column %s of %s: %w", c.Name, table, err)
			}
		}
		rows = append(rows, row)
	}
	return rows, found.Err()
}

// types are the types of a table's columns as the database spells them.
func (d *Database) types(ctx context.Context, table string) (map[string]string, error) {
	schema, name, _ := strings.Cut(table, ".")
	query := `SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute JOIN pg_class c ON c.oid = attrelid JOIN pg_namespace n ON n.oid = relnamespace
		WHERE nspname = $1 AND relname = $2 AND attnum > 0 AND NOT attisdropped`
	if d.kind == MySQL {
		query = `SELECT column_name, column_type FROM information_schema.columns WHERE table_schema = ? AND table_name = ?`
	}
	found, err := d.QueryContext(ctx, query, schema, name)
	if err != nil {
		return nil, err
	}
	types := map[string]string{}
	for found.Next() {
		var column, typ string
		if err := found.Scan(&column, &typ); err != nil {
			return nil, errors.Join(err, found.Close())
		}
		types[column] = typ
	}
	if err := errors.Join(found.Err(), found.Close()); err != nil {
		return nil, err
	}
	if len(types) == 0 {
		return nil, fmt.Errorf("there is no table %s", table)
	}
	return types, nil
}

// text is the expression of a column's text.
func (d *Database) text(column, typ string) string {
	name := d.quoted(column)
	if d.kind == Postgres {
		return name + "::text"
	}
	word, _, _ := strings.Cut(length.ReplaceAllString(typ, ""), " ")
	switch {
	case word == "bit", strings.HasSuffix(word, "binary"), strings.HasSuffix(word, "blob"):
		return "LOWER(HEX(" + name + "))"
	case word == "point", word == "geometry":
		return "ST_AsText(" + name + ")"
	}
	return "CAST(" + name + " AS CHAR)"
}

func (d *Database) quoted(names ...string) string {
	quote := `"`
	if d.kind == MySQL {
		quote = "`"
	}
	for i, name := range names {
		names[i] = quote + strings.ReplaceAll(name, quote, quote+quote) + quote
	}
	return strings.Join(names, ".")
}
