"""Spark's MERGE and frazil in turn, on tables that either of them made; all rows after each step equal the oracle's."""
import re

import checks

CLAUSES = {"year": "years", "month": "months", "day": "days", "hour": "hours"}


def check(program, spark, rust):
    for n, table in enumerate(program.document["Merging"]):
        yield from Pair(program, spark, rust, table, n).check()


def clause(term):
    """A partition field in Spark's words."""
    return re.sub(r"^(year|month|day|hour)\(", lambda m: CLAUSES[m[1]] + "(", term)


class Pair:
    """A table of frazil's, and its copy that Spark made."""

    def __init__(self, program, spark, rust, table, n):
        self.program, self.engines, self.sql, self.table = program, {"Spark": spark, "iceberg-rust": rust}, spark.session.sql, table
        self.name, self.copy, self.batch = table["name"], table["name"] + "_copy", table["batches"]
        self.mode = ["merge-on-read", "copy-on-write"][n % 2]
        self.label = f"v{table['version']} {table['deletes']}"

    def check(self):
        self.create()
        before = self.lineage(self.name)
        self.merge(self.copy, self.batch)
        rows = self.program.change(self.name, self.batch, self.table["deletes"])
        yield from self.compare("same rows as by Spark's MERGE of the same changes", rows, self.name, self.copy)
        yield from self.ids(before, rows)
        self.merge(self.name, self.batch + 1)
        yield from self.compare("Spark's MERGE into frazil's table", self.program.change(self.name, self.batch + 1), self.name)
        before = self.lineage(self.copy)
        rows = self.program.change(self.copy, self.batch + 1, self.table["deletes"])
        yield from self.compare("frazil into Spark's table", rows, self.copy)
        yield from self.ids(before, rows, self.copy)
        before = self.lineage(self.name)
        rows = self.program.change(self.name, self.batch + 2, self.table["deletes"])
        yield from self.compare("frazil after Spark", rows, self.name)
        yield from self.ids(before, rows)
        self.merge(self.copy, self.batch + 2)
        yield from self.compare("Spark after frazil", rows, self.copy)

    def create(self):
        terms = ", ".join(map(clause, self.table["partition"]))
        partitioned = f"PARTITIONED BY ({terms})" if terms else ""
        types = ", ".join(f"`{f.name}` {f.dataType.simpleString()}" for f in self.sql(f"SELECT * FROM lake.{self.name}").schema.fields)
        self.sql(f"""CREATE TABLE lake.{self.copy} ({types}) USING iceberg {partitioned}
            TBLPROPERTIES ('format-version' = '{self.table["version"]}', 'write.merge.mode' = '{self.mode}')""")
        self.sql(f"INSERT INTO lake.{self.copy} SELECT * FROM lake.{self.name}")
        self.sql(f"ALTER TABLE lake.{self.name} SET TBLPROPERTIES ('write.merge.mode' = '{self.mode}')")

    def merge(self, table, batch):
        names = list(checks.columns(self.table))
        self.sql(f"""MERGE INTO lake.{table} t USING lake.merging.changes_{batch} s ON t.id = s.id
            WHEN MATCHED AND s.deleted THEN DELETE
            WHEN MATCHED THEN UPDATE SET {", ".join(f"{n} = s.{n}" for n in names)}
            WHEN NOT MATCHED AND NOT s.deleted THEN INSERT ({", ".join(names)}) VALUES ({", ".join(f"s.{n}" for n in names)})""")

    def compare(self, feature, answer, *names):
        for engine, reader in self.engines.items():
            for name in names:
                yield checks.Finding(engine, f"{feature}: {self.label}", name, checks.difference(reader.read(name), self.table | {"rows": answer["rows"]}))

    def lineage(self, name):
        """By key: row id and last-updated sequence number."""
        if self.table["version"] < 3:
            return None
        rows = self.sql(f"SELECT id, _row_id, _last_updated_sequence_number FROM lake.{name}").collect()
        return {r[0]: (r[1], r[2]) for r in rows}

    def ids(self, before, answer, name=None):
        if before is None:
            return
        name = name or self.name
        after = self.lineage(name)
        touched = {int(c["row"]["id"]) for c in answer["changes"]}
        wrong = {}
        for i in before.keys() & after.keys():
            kept = before[i] == after[i] if i not in touched else before[i][0] == after[i][0]
            if not kept and (i not in touched or self.table["deletes"] != "equality"):  # which look no row up, and so no id
                wrong[i] = before[i], after[i]
        if None in {i for i, _ in after.values()} or len({i for i, _ in after.values()}) != len(after):
            wrong["not unique"] = after
        yield checks.Finding("Spark", f"row ids: {self.label}", name, f"(row id, sequence number) by id, before and after: {wrong}" if wrong else "")
