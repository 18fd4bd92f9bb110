"""A peer of frazil in a process of its own: it applies change sets to a table, or scans tables, and says what that took.

    peers.py PEER TABLE < commands > answers        PEER: DuckDB, Spark, PyIceberg or scan

The first line of input is the document of the program world. Then it takes commands, a line of JSON each, and answers
each with a line, until its input ends.
"""
import json
import os
import resource
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "interop"))

import pyarrow as pa

import engines

COLUMNS = {  # name: DuckDB's type
    "order_id": "BIGINT", "customer_id": "BIGINT", "status": "VARCHAR", "country": "VARCHAR", "sku": "VARCHAR", "quantity": "INTEGER",
    "amount": "DECIMAL(12,2)", "tax": "DECIMAL(12,2)", "created_at": "TIMESTAMPTZ", "updated_at": "TIMESTAMPTZ", "gift": "BOOLEAN",
    "address": "VARCHAR", "note": "VARCHAR"}
KEY = "order_id"
SPARK = {"BIGINT": "bigint", "VARCHAR": "string", "INTEGER": "int", "DECIMAL(12,2)": "decimal(12,2)", "TIMESTAMPTZ": "timestamp", "BOOLEAN": "boolean"}
ARROW = {"BIGINT": pa.int64(), "VARCHAR": pa.string(), "INTEGER": pa.int32(), "DECIMAL(12,2)": pa.decimal128(12, 2),
         "TIMESTAMPTZ": pa.timestamp("us", tz="UTC"), "BOOLEAN": pa.bool_()}
NAMES = ", ".join(COLUMNS)


def batch(path):
    """A file of changes as a relation of DuckDB's."""
    fields = ", ".join(f"{n} {t}" for n, t in COLUMNS.items())
    return f"""(SELECT key.{KEY} AS k, op, row.* FROM read_json('{path}', format = 'newline_delimited',
        columns = {{key: 'STRUCT({KEY} BIGINT)', op: 'VARCHAR', row: 'STRUCT({fields})'}}))"""


class DuckDB:
    """DELETE and MERGE in one transaction: its MERGE into Iceberg takes a single UPDATE or DELETE."""

    def __init__(self, at, table):
        self.table, self.con = table, engines.DuckDB(at).con

    def apply(self, path):
        run = self.con.execute
        run(f"CREATE OR REPLACE TEMP TABLE batch AS FROM {batch(path)}")
        run("BEGIN")
        run(f"DELETE FROM lake.{self.table} WHERE {KEY} IN (SELECT k FROM batch WHERE op = 'd')")
        run(f"""MERGE INTO lake.{self.table} t USING (SELECT * FROM batch WHERE op <> 'd') s ON t.{KEY} = s.k
            WHEN MATCHED THEN UPDATE SET {', '.join(f'{n} = s.{n}' for n in COLUMNS)}
            WHEN NOT MATCHED THEN INSERT ({NAMES}) VALUES ({', '.join(f's.{n}' for n in COLUMNS)})""")
        run("COMMIT")


def spark(at):
    """A session for large tables."""
    return engines.Spark(at, {
        "spark.driver.memory": "4g",
        "spark.driver.extraJavaOptions": f"-Duser.timezone=UTC -Daws.region={at['Region']}",
        "spark.sql.codegen.wholeStage": "true",
        "spark.sql.codegen.factoryMode": "FALLBACK",
        "spark.sql.adaptive.enabled": "true",
    })


class Spark:
    """One MERGE INTO in a warm session; the table's properties say how it deletes."""

    def __init__(self, at, table):
        self.session = spark(at).session
        self.schema = f"key struct<{KEY}: bigint>, op string, row struct<{', '.join(f'{n}: {SPARK[t]}' for n, t in COLUMNS.items())}>"
        self.merge = f"""MERGE INTO lake.{table} t USING (SELECT key.{KEY} AS k, op, row.* FROM batch) s ON t.{KEY} = s.k
            WHEN MATCHED AND s.op = 'd' THEN DELETE
            WHEN MATCHED THEN UPDATE SET {', '.join(f't.{n} = s.{n}' for n in COLUMNS)}
            WHEN NOT MATCHED AND s.op <> 'd' THEN INSERT ({NAMES}) VALUES ({', '.join(f's.{n}' for n in COLUMNS)})"""

    def apply(self, path):
        self.session.read.schema(self.schema).json("file://" + path).createOrReplaceTempView("batch")
        self.session.sql(self.merge)


class PyIceberg:
    """delete and upsert in one transaction: copy-on-write."""

    def __init__(self, at, table):
        self.table = engines.pyiceberg_catalog(at).load_table(table)
        self.target = pa.schema([pa.field(n, ARROW[t], nullable=n != KEY) for n, t in COLUMNS.items()])
        row = pa.struct([(f.name, pa.string() if pa.types.is_decimal(f.type) or pa.types.is_timestamp(f.type) else f.type) for f in self.target])
        self.schema = pa.schema([("key", pa.struct([(KEY, pa.int64())])), ("op", pa.string()), ("row", row)])

    def apply(self, path):
        import pyarrow.compute as pc
        import pyarrow.json as pj
        from pyiceberg.expressions import In
        changes = pj.read_json(path, parse_options=pj.ParseOptions(explicit_schema=self.schema), read_options=pj.ReadOptions(block_size=256 << 20))
        gone = pc.equal(changes["op"], "d")
        deleted = pc.struct_field(changes.filter(gone)["key"].combine_chunks(), KEY).to_pylist()
        rows = changes.filter(pc.invert(gone))["row"].combine_chunks()
        rows = pa.table([pc.struct_field(rows, f.name).cast(f.type) for f in self.target], schema=self.target)
        self.table.refresh()
        with self.table.transaction() as tx:
            tx.delete(In(KEY, deleted))
            tx.upsert(rows, join_cols=[KEY])


class Scan:
    """All rows of a table with all columns, an aggregate of each; a new connection each time, but for Spark's session."""

    def __init__(self, at, _):
        self.at, self.session = at, None

    def duckdb(self, table):
        engines.DuckDB(self.at).query(self.statement(f"lake.{table}"), table)

    def rust(self, table):
        engines.IcebergRust(self.at).query(self.statement("t"), table)

    def spark(self, table):
        self.session = self.session or spark(self.at)
        self.session.query(self.statement(f"lake.{table}"), table)

    def statement(self, source):
        each = (f"sum(length({n}))" if t == "VARCHAR" else f"max({n})" if t in ("TIMESTAMPTZ", "BOOLEAN") else f"sum({n})" for n, t in COLUMNS.items())
        return f"SELECT count(*), {', '.join(each)} FROM {source}"


class Checksum:
    """An order-independent checksum of all rows of a table, read by an engine, and what it has to be after changes."""

    def __init__(self, at, reader=engines.IcebergRust):
        import duckdb
        self.reader, self.con = reader(at), duckdb.connect()
        self.con.execute("SET TimeZone = 'UTC'")
        self.con.execute("SET enable_progress_bar = false")

    def of(self, source):
        text = ", ".join(f"coalesce({f'epoch_us({n})' if t == 'TIMESTAMPTZ' else n}::VARCHAR, '~')" for n, t in COLUMNS.items())
        return self.con.execute(f"SELECT count(*), sum((md5_number_lower(concat_ws('|', {text})) & 281474976710655::UHUGEINT)::HUGEINT) FROM {source}").fetchone()

    def read(self, name):
        self.con.register("rows", self.reader.query(f"SELECT {NAMES} FROM {self.reader.name(name)}", name))

    def table(self, name):
        self.read(name)
        return self.of("rows")

    def expected(self, base, files):
        self.read(base)
        self.con.execute("CREATE TABLE want AS FROM rows")
        for path in files:
            self.con.execute(f"CREATE OR REPLACE TEMP TABLE batch AS FROM {batch(path)}")
            self.con.execute(f"DELETE FROM want WHERE {KEY} IN (SELECT k FROM batch)")
            self.con.execute(f"INSERT INTO want SELECT {NAMES} FROM batch WHERE op <> 'd'")
        return self.of("want")

    def appended(self, base, files):
        """The same where each change is a row: a delete is its key."""
        self.read(base)
        self.con.execute("CREATE TABLE every AS FROM rows")
        for path in files:
            self.con.execute(f"INSERT INTO every SELECT {', '.join('k' if n == KEY else n for n in COLUMNS)} FROM {batch(path)}")
        return self.of("every")


class Usage:
    """CPU seconds of this process and of those that it started (Spark's JVM), and the peak of their resident memory."""

    def __init__(self):
        self.children = []
        for task in os.listdir("/proc/self/task"):
            with open(f"/proc/self/task/{task}/children", encoding="ascii") as f:
                self.children += f.read().split()
        for pid in ["self"] + self.children:
            with open(f"/proc/{pid}/clear_refs", "w", encoding="ascii") as f:
                f.write("5")  # the kernel measures the peak anew
        self.before, self.began = self.cpu(), time.perf_counter()

    def cpu(self):
        own = resource.getrusage(resource.RUSAGE_SELF)
        total = own.ru_utime + own.ru_stime
        for pid in self.children:
            with open(f"/proc/{pid}/stat", encoding="utf-8") as f:
                user, system = f.read().rpartition(")")[2].split()[11:13]
            total += (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")
        return total

    def taken(self):
        out = {"seconds": time.perf_counter() - self.began, "cpu": self.cpu() - self.before, "peak": 0, "error": ""}
        for pid in ["self"] + self.children:
            with open(f"/proc/{pid}/status", encoding="utf-8") as f:
                out["peak"] += next(int(line.split()[1]) for line in f if line.startswith("VmHWM")) / 1024
        return out


PEERS = {"DuckDB": DuckDB, "Spark": Spark, "PyIceberg": PyIceberg, "scan": Scan}


def main(peer, table):
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is no answer
    p = PEERS[peer](json.loads(sys.stdin.readline()), table)
    for line in sys.stdin:
        command = json.loads(line)
        usage = Usage()
        if peer == "scan":
            getattr(p, command["With"])(command["Table"])
        else:
            p.apply(command["File"])
        print(json.dumps(usage.taken()), file=answers, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
