"""Engines that share no code with frazil. Each reads a table as an Arrow table and finds keys by filters.

An engine takes a table by its name, namespace.table, and a filter as (column, type, op, literal): op is =, <, >=,
IS NULL or IS NAN, the literal canonical.
"""
import decimal
import glob
import os
import uuid

import pyarrow as pa

KEY = "id"


class SQL:
    """What engines that speak SQL share: one statement for all filters."""
    quote = '"'
    nan = "isnan"

    def find(self, table, filters):
        """By filter, the keys of the rows that it finds."""
        parts = [f"SELECT {n} AS n, {self.quote}{KEY}{self.quote} AS k FROM {self.name(table)} WHERE {self.condition(*f)}" for n, f in enumerate(filters)]
        found = [[] for _ in filters]
        for row in self.query(" UNION ALL ".join(parts), table).to_pylist():
            found[row["n"]].append(row["k"])
        return found

    def condition(self, column, kind, op, literal):
        column = f"{self.quote}{column}{self.quote}"
        if op == "IS NULL":
            return f"{column} IS NULL"
        if op == "IS NAN":
            return f"{self.nan}({column})"
        return f"{column} {op} {self.literal(kind, literal)}"

    def literal(self, kind, text):
        if kind[0] == "string":
            return "'" + text.replace("'", "''") + "'"
        if kind[0] == "date":
            return f"DATE '{text}'"
        if kind[0] == "decimal":
            return f"CAST('{text}' AS DECIMAL({kind[1]}, {kind[2]}))"
        if kind[0] in ("float", "double"):
            return f"CAST('{text}' AS {kind[0].upper()})"
        if kind[0] in ("fixed", "binary"):
            return f"X'{text}'"
        if kind[0] in ("int", "long"):
            return f"CAST('{text}' AS {'INT' if kind[0] == 'int' else 'BIGINT'})"
        return text

    def read(self, table):
        return self.query(f"SELECT * FROM {self.name(table)}", table)

    def sums(self, table):
        """How many keys there are, how many different ones, and their sum."""
        row, = self.query(f"SELECT count(*) AS a, count(DISTINCT {KEY}) AS b, sum({KEY}) AS c FROM {self.name(table)}", table).to_pylist()
        return tuple(map(int, row.values()))


class DuckDB(SQL):
    def __init__(self, at):
        self.at = at
        self.connect()

    def connect(self):
        import duckdb
        at = self.at
        self.con = duckdb.connect(config={"allow_unsigned_extensions": "true"})
        self.con.execute("SET TimeZone = 'UTC'")
        site = os.path.dirname(os.path.dirname(os.path.abspath(duckdb.__file__)))
        for name in ("httpfs", "avro", "iceberg"):  # without avro before it, iceberg would fetch it from the network
            file, = glob.glob(f"{site}/duckdb_extension_{name}/extensions/*/{name}.duckdb_extension")
            self.con.execute(f"LOAD '{file}'")
        self.con.execute(f"""CREATE SECRET (TYPE s3, KEY_ID '{at['AccessKey']}', SECRET '{at['SecretKey']}', REGION '{at['Region']}',
            ENDPOINT '{at['Store'].split('//')[1]}', URL_STYLE 'path', USE_SSL false)""")
        self.con.execute(f"ATTACH '' AS lake (TYPE iceberg, ENDPOINT '{at['Catalog']}', AUTHORIZATION_TYPE 'none')")

    def name(self, table):
        return f"lake.{table}"

    def query(self, statement, table):
        try:
            return self.con.execute(statement).to_arrow_table()
        except Exception:
            self.connect()  # an internal error makes the connection useless
            raise

    def literal(self, kind, text):
        if kind[0] in ("fixed", "binary"):
            return f"from_hex('{text}')"
        if kind[0] in ("uuid", "time", "timestamp", "timestamp_ns"):
            return f"CAST('{text}' AS {kind[0].upper()})"
        if kind[0] in ("timestamptz", "timestamptz_ns"):
            return f"CAST('{text}' AS TIMESTAMPTZ)"
        return super().literal(kind, text)

    def metadata(self, table):
        return {"snapshots": self.query(f"SELECT * FROM iceberg_snapshots({self.name(table)})", table).num_rows}


class Spark(SQL):
    quote = "`"

    def __init__(self, at, settings={}):
        os.environ["TZ"] = "UTC"
        os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
        from pyspark.sql import SparkSession
        self.session = SparkSession.builder.master("local[2]").config(map={
            "spark.jars": ",".join(sorted(glob.glob(f"{at['Jars']}/*.jar"))),
            "spark.driver.memory": "2g",
            "spark.driver.host": "127.0.0.1",
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.sql.session.timeZone": "UTC",
            "spark.sql.shuffle.partitions": "4",
            "spark.sql.codegen.wholeStage": "false",  # the tables are small: compiling a plan costs more than it saves
            "spark.sql.codegen.factoryMode": "NO_CODEGEN",
            "spark.sql.adaptive.enabled": "false",
            "spark.driver.extraJavaOptions": f"-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=256m -Duser.timezone=UTC -Daws.region={at['Region']}",
            "spark.sql.execution.arrow.pyspark.enabled": "true",
            "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
            "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
            "spark.sql.catalog.lake.type": "rest",
            "spark.sql.catalog.lake.uri": at["Catalog"],
            "spark.sql.catalog.lake.cache-enabled": "false",
            "spark.sql.catalog.lake.io-impl": "org.apache.iceberg.aws.s3.S3FileIO",
            "spark.sql.catalog.lake.s3.endpoint": at["Store"],
            "spark.sql.catalog.lake.s3.path-style-access": "true",
            "spark.sql.catalog.lake.s3.access-key-id": at["AccessKey"],
            "spark.sql.catalog.lake.s3.secret-access-key": at["SecretKey"],
            "spark.sql.catalog.lake.client.region": at["Region"],
        } | settings).getOrCreate()
        self.session.sparkContext.setLogLevel("OFF")

    def name(self, table):
        return f"lake.{table}"

    def query(self, statement, table):
        return self.session.sql(statement).toArrow()

    def literal(self, kind, text):
        if kind[0] == "uuid":
            return f"'{text}'"
        if kind[0] == "string":
            return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
        if kind[0] == "timestamp":
            return f"TIMESTAMP_NTZ '{text}'"
        if kind[0] == "timestamptz":
            return f"TIMESTAMP '{text}'"
        return super().literal(kind, text)

    def metadata(self, table):
        """The rows are those of the data files less the deleted ones, where no equality deletes are in the way."""
        row, = self.query(f"""SELECT (SELECT count(*) FROM lake.{table}.snapshots) AS snapshots, (SELECT count(*) FROM lake.{table}.history) AS history,
            (SELECT sum(record_count) FROM lake.{table}.data_files) - (SELECT count(*) FROM lake.{table}.position_deletes) AS rows,
            (SELECT sum(record_count - position_delete_record_count) FROM lake.{table}.partitions) AS `rows by partition`,
            (SELECT count(*) FROM lake.{table}.delete_files WHERE content = 2) AS equality""", table).to_pylist()
        return {k: int(v) for k, v in row.items() if k != "equality" and not (row["equality"] and k.startswith("rows"))}


class IcebergRust(SQL):
    """DataFusion over iceberg-rust."""

    def __init__(self, at):
        self.catalog = pyiceberg_catalog(at)

    def name(self, table):
        return "t"

    def context(self, table):
        from datafusion import SessionConfig, SessionContext
        from pyiceberg_core.datafusion import IcebergDataFusionTable
        t = self.catalog.load_table(table)
        properties = {k: v for k, v in t.io.properties.items() if isinstance(v, str)} | {"s3.path-style-access": "true"}
        context = SessionContext(SessionConfig().with_target_partitions(1))
        context.register_table("t", IcebergDataFusionTable(identifier=t.name(), metadata_location=t.metadata_location, file_io_properties=properties))
        return context

    def query(self, statement, table):
        context = self.context(table)  # the answer needs it
        return context.sql(statement).to_arrow_table()

    def find(self, table, filters):
        context = self.context(table)  # a union of some filters takes DataFusion minutes
        return [context.sql(f'SELECT "{KEY}" FROM t WHERE {self.condition(*f)}').to_arrow_table().column(0).to_pylist() for f in filters]

    def literal(self, kind, text):
        if kind[0] == "uuid":
            return f"X'{text.replace('-', '')}'"
        if kind[0] in ("timestamp", "timestamptz"):
            return f"TIMESTAMP '{text}'"
        if kind[0] == "time":
            return f"arrow_cast('{text}', 'Time64(Microsecond)')"
        return super().literal(kind, text)


class ClickHouse(SQL):
    """ClickHouse in this process, straight at the table's folder in the store."""
    nan = "isNaN"

    def __init__(self, at):
        self.at, self.catalog, self.session = at, pyiceberg_catalog(at), None

    def name(self, table):
        folder = self.catalog.load_table(table).location().replace("s3://", self.at["Store"] + "/")
        return f"icebergS3('{folder}', '{self.at['AccessKey']}', '{self.at['SecretKey']}')"

    def query(self, statement, table):
        from chdb import session
        self.session = self.session or session.Session()
        try:
            result = self.session.query(statement + " SETTINGS output_format_arrow_string_as_string=0, output_format_arrow_compression_method='none'", "Arrow")
            return pa.ipc.open_file(pa.py_buffer(result.bytes())).read_all()
        except BaseException:
            self.session.close()  # after an error it answers nothing any more
            self.session = None
            raise

    def literal(self, kind, text):
        if kind[0] in ("fixed", "binary"):
            return f"unhex('{text}')"
        if kind[0] == "date":
            return f"toDate32('{text}')"
        if kind[0] == "uuid":
            return f"toUUID('{text}')"
        if kind[0] == "time":
            return f"toTime64('{text}', 6)"
        if kind[0].startswith("timestamp"):
            return f"toDateTime64('{text[:26]}', 6, 'UTC')"
        if kind[0] == "string":
            return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
        return super().literal(kind, text)


class PyIceberg:
    def __init__(self, at):
        self.catalog = pyiceberg_catalog(at)

    def read(self, table):
        return self.catalog.load_table(table).scan().to_arrow()

    def sums(self, table):
        keys = self.catalog.load_table(table).scan(selected_fields=(KEY,)).to_arrow().column(KEY).to_pylist()
        return len(keys), len(set(keys)), sum(keys)

    def find(self, table, filters):
        t = self.catalog.load_table(table)
        return [t.scan(row_filter=self.condition(*f), selected_fields=(KEY,)).to_arrow().column(KEY).to_pylist() for f in filters]

    def condition(self, column, kind, op, text):
        from pyiceberg import expressions as e
        if op in ("IS NULL", "IS NAN"):
            return {"IS NULL": e.IsNull, "IS NAN": e.IsNaN}[op](column)
        v = text
        if kind[0] == "decimal":
            v = decimal.Decimal(text)
        elif kind[0] == "uuid":
            v = uuid.UUID(text)
        elif kind[0] in ("fixed", "binary"):
            v = bytes.fromhex(text)
        elif kind[0] in ("int", "long"):
            v = int(text)
        elif kind[0] in ("float", "double"):
            v = float(text)
        elif kind[0] == "boolean":
            v = text == "true"
        return {"=": e.EqualTo, "<": e.LessThan, ">=": e.GreaterThanOrEqual}[op](column, v)

    def metadata(self, table):
        inspect = self.catalog.load_table(table).inspect
        return {"snapshots": inspect.snapshots().num_rows, "history": inspect.history().num_rows}  # of files not, where a column is a uuid


def pyiceberg_catalog(at):
    from pyiceberg.catalog import load_catalog
    return load_catalog("lake", type="rest", uri=at["Catalog"], **{
        "s3.endpoint": at["Store"], "s3.access-key-id": at["AccessKey"], "s3.secret-access-key": at["SecretKey"], "s3.region": at["Region"],
        "s3.force-virtual-addressing": "false"})


ENGINES = {"Spark": Spark, "iceberg-rust": IcebergRust, "DuckDB": DuckDB, "PyIceberg": PyIceberg, "ClickHouse": ClickHouse}
