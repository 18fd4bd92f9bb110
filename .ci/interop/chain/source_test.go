package chain_test

import (
	"context"
	_ "embed"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/frazil/frazil/.ci/interop/parts"
	"github.com/frazil/frazil/internal/local/database"
)

//go:embed postgres.sql
var postgresTables string

//go:embed mariadb.sql
var mariadbTables string

// source is a database with tables, and the connector that captures their changes.
type source struct {
	*database.Database
	name      string            // of connector and topics
	schema    string            // of the tables
	connector map[string]string // its settings
}

func open(t *testing.T, dsn, tables string) *database.Database {
	t.Helper()
	db, err := database.Open(dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	parts.Await(t, "the database", db.PingContext)
	if _, err := db.ExecContext(t.Context(), tables); err != nil {
		t.Fatal(err)
	}
	return db
}

// settings are those of every connector: rows with schemas, nulls as they are, and three partitions.
func settings(more map[string]string) map[string]string {
	all := map[string]string{
		"topic.creation.default.partitions": "3", "topic.creation.default.replication.factor": "1", "poll.interval.ms": "50",
		"value.converter": converter, "value.converter.replace.null.with.default": "false",
	}
	maps.Copy(all, more)
	return all
}

func startPostgres(t *testing.T) *source {
	t.Helper()
	bin := func(name string, arguments ...string) *exec.Cmd {
		return exec.Command(filepath.Join(*postgresBin, name), arguments...)
	}
	port := parts.Ports(t, 1)
	init := parts.As(t, "postgres", bin("initdb", "-U", "frazil", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "-D", "data"))
	parts.Run(t, init)
	server := bin("postgres", "-D", "data", "-p", fmt.Sprint(port), "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c", "wal_level=logical",
		"-c", "fsync=off", "-c", "shared_buffers=32MB")
	server.Dir = init.Dir
	parts.As(t, "postgres", server)
	parts.Start(t, server, func(ctx context.Context) error {
		return bin("pg_isready", "-h", "127.0.0.1", "-p", fmt.Sprint(port), "-U", "frazil", "-d", "postgres").Run()
	})
	return &source{
		Database: open(t, fmt.Sprintf("postgres://frazil@127.0.0.1:%d/postgres", port), postgresTables), name: "pg", schema: "public",
		connector: settings(map[string]string{
			"connector.class": "io.debezium.connector.postgresql.PostgresConnector", "topic.prefix": "pg", "plugin.name": "pgoutput", "slot.name": "frazil",
			"database.hostname": "127.0.0.1", "database.port": fmt.Sprint(port), "database.user": "frazil", "database.password": "x", "database.dbname": "postgres",
			"schema.include.list": "public", "hstore.handling.mode": "map",
		}),
	}
}

func startMariaDB(t *testing.T, k *kafka) *source {
	t.Helper()
	port := parts.Ports(t, 1)
	server := parts.As(t, "mysql", exec.Command("mariadbd", "--no-defaults", "--bind-address=127.0.0.1", fmt.Sprint("--port=", port), "--server-id=7", "--log-bin=binlog", "--binlog-format=ROW",
		"--binlog-row-image=FULL", "--binlog-row-metadata=FULL", "--innodb-buffer-pool-size=32M", "--innodb-flush-log-at-trx-commit=0", "--character-set-server=utf8mb4"))
	data := filepath.Join(server.Dir, "data")
	install := exec.Command("mariadb-install-db", "--no-defaults", "--datadir="+data, "--skip-test-db", "--auth-root-authentication-method=normal")
	install.Dir = server.Dir
	parts.Run(t, parts.As(t, "mysql", install))
	server.Args = append(server.Args, "--datadir="+data, "--socket="+filepath.Join(server.Dir, "socket"))
	parts.Start(t, server, func(ctx context.Context) error {
		return exec.CommandContext(ctx, "mariadb-admin", "--no-defaults", "-u", "root", "-h", "127.0.0.1", "-P", fmt.Sprint(port), "ping").Run()
	})
	return &source{
		Database: open(t, fmt.Sprintf("mysql://root@127.0.0.1:%d/", port), mariadbTables), name: "my", schema: "shop",
		connector: settings(map[string]string{
			"connector.class": "io.debezium.connector.mariadb.MariaDbConnector", "topic.prefix": "my", "database.server.id": "1001", "database.ssl.mode": "disable",
			"database.hostname": "127.0.0.1", "database.port": fmt.Sprint(port), "database.user": "root", "database.password": "", "database.include.list": "shop",
			"schema.history.internal.kafka.bootstrap.servers": k.address, "schema.history.internal.kafka.topic": "history.my",
			"driver.yearIsDateType": "false", "bigint.unsigned.handling.mode": "precise",
		}),
	}
}
