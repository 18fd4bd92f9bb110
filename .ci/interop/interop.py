"""Reads the tables that the demo's stack has written with engines that share no code with frazil, and compares rows.

    interop.py LOCALSTACK BOOTSTRAP      LOCALSTACK: the built localstack program; BOOTSTRAP: the built function

`LOCALSTACK up -seeds` writes the tables; DuckDB's iceberg extension and PyIceberg read them through the REST catalog and
S3, as any engine does. Expected are the rows in localstack/seeds/*.yaml, every value in its canonical form. A
filter on each table's key columns has to find each row too: wrong bounds would hide it.
"""
import datetime as dt
import decimal
import glob
import json
import os
import subprocess
import sys
import threading

import duckdb
import yaml
from pyiceberg import expressions
from pyiceberg.catalog import load_catalog

CATALOG = "http://127.0.0.1:8181"
STORE = "127.0.0.1:4566"
KEY, SECRET, REGION = "test", "test", "us-east-1"
START_SECONDS = 300


class Seeds(yaml.SafeLoader):
    """YAML with dates left as the text they are."""


Seeds.yaml_implicit_resolvers = {
    letter: [r for r in resolvers if r[0] != "tag:yaml.org,2002:timestamp"] for letter, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()}


def canonical(v):
    """A value as Iceberg's JSON single-value form, the same from every engine."""
    if isinstance(v, decimal.Decimal):
        return format(v, "f")
    if isinstance(v, dt.datetime):
        zone = "" if v.tzinfo is None else "+00:00"
        v = v if v.tzinfo is None else v.astimezone(dt.timezone.utc).replace(tzinfo=None)
        return v.isoformat(timespec="microseconds") + zone
    if isinstance(v, dt.date):
        return v.isoformat()
    return v


def expected(literal, kind):
    """A seed's literal in the canonical form of its column's type."""
    if literal is None:
        return None
    if kind == "double":
        return float(literal)
    if kind.startswith("decimal"):
        scale = int(kind.rstrip(")").split(",")[1])
        return format(decimal.Decimal(str(literal)).quantize(decimal.Decimal(1).scaleb(-scale)), "f")
    if kind in ("timestamp", "timestamptz"):
        return canonical(dt.datetime.fromisoformat(literal.replace("Z", "+00:00")))
    return literal


def lines(columns, rows):
    return sorted(json.dumps({c: canonical(v) for c, v in zip(columns, row)}, sort_keys=True) for row in rows)


class DuckDB:
    def __init__(self):
        self.con = duckdb.connect(config={"allow_unsigned_extensions": "true"})
        self.con.execute("SET TimeZone = 'UTC'")
        site = os.path.dirname(os.path.dirname(os.path.abspath(duckdb.__file__)))
        for name in ("httpfs", "avro", "iceberg"):  # without avro before it, iceberg would fetch it from the network
            file, = glob.glob(f"{site}/duckdb_extension_{name}/extensions/*/{name}.duckdb_extension")
            self.con.execute(f"LOAD '{file}'")
        self.con.execute(f"CREATE SECRET (TYPE s3, KEY_ID '{KEY}', SECRET '{SECRET}', REGION '{REGION}', ENDPOINT '{STORE}', URL_STYLE 'path', USE_SSL false)")
        self.con.execute(f"ATTACH '' AS lake (TYPE iceberg, ENDPOINT '{CATALOG}', AUTHORIZATION_TYPE 'none')")

    def rows(self, table, key=()):
        where = " AND ".join(f'"{c}" = ?' for c, _ in key) or "true"
        result = self.con.execute(f"SELECT * FROM lake.{table} WHERE {where}", [v for _, v in key])
        return lines([d[0] for d in result.description], result.fetchall())


class PyIceberg:
    def __init__(self):
        self.catalog = load_catalog("lake", type="rest", uri=CATALOG, **{
            "s3.endpoint": f"http://{STORE}", "s3.access-key-id": KEY, "s3.secret-access-key": SECRET, "s3.region": REGION,
            "s3.force-virtual-addressing": "false"})

    def rows(self, table, key=()):
        where = expressions.AlwaysTrue()
        for column, value in key:
            where = expressions.And(where, expressions.EqualTo(column, value))
        arrow = self.catalog.load_table(table).scan(row_filter=where).to_arrow()
        return lines(arrow.column_names, [row.values() for row in arrow.to_pylist()])


def compare(engine, table, want_rows):
    """The differences between a table as an engine reads it and its expected rows."""
    kinds = {c["name"]: c["type"] for c in table["schema"]}
    want = [{c: expected(row.get(c), kind) for c, kind in kinds.items()} for row in want_rows]
    text = {json.dumps(row, sort_keys=True): row for row in want}
    got = engine.rows(table["name"])
    differences = [f"missing {line}" for line in text if line not in got] + [f"unexpected {line}" for line in got if line not in text]
    if len(got) != len(want):
        differences.append(f"{len(got)} rows, want {len(want)}")
    for line, row in text.items():
        if engine.rows(table["name"], [(c, row[c]) for c in table["key"]]) != [line]:
            differences.append(f"not found by its key: {line}")
    return differences


def up(localstack, bootstrap):
    """Starts the stack and returns its process once the seeds are applied."""
    process = subprocess.Popen([localstack, "up", "-seeds", "-bootstrap", bootstrap], stdout=subprocess.PIPE, text=True)
    timer = threading.Timer(START_SECONDS, process.kill)
    timer.start()
    for line in process.stdout:
        print("   ", line.rstrip(), flush=True)
        if "frazil is up" in line:
            break
    timer.cancel()
    threading.Thread(target=process.stdout.read, daemon=True).start()  # lest the pipe fills up
    if process.poll() is not None:
        sys.exit("localstack has ended before it was up")
    return process


def check():
    failed = 0
    engines = [DuckDB(), PyIceberg()]
    for file in sorted(glob.glob("localstack/seeds/*.yaml")):
        with open(file, encoding="utf-8") as f:
            seed = yaml.load(f, Seeds)
        for table in seed["tables"]:
            want = seed["expect"]["tables"][table["name"]]["rows"]
            for engine in engines:
                differences = compare(engine, table, want)
                failed += bool(differences)
                print(f"{'differs' if differences else 'ok     '} {type(engine).__name__:<9} {table['name']}: {len(want)} rows")
                for d in differences:
                    print("       ", d)
    return failed


def main():
    process = up(*sys.argv[1:])
    try:
        failed = check()
    finally:
        process.terminate()
        process.wait()
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
