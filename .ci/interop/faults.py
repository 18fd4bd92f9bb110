"""What the engines are known not to do, or to do wrongly, with tables as the Iceberg specification wants them.

A fault is one of a reader where the others, iceberg-rust or Spark among them, find what the oracle has. One that does
not show on any of its tables any more fails the run, and so does a difference that no fault covers.
"""
import dataclasses
import re

UNSUPPORTED, WRONG = "unsupported", "wrong"


@dataclasses.dataclass(frozen=True)
class Fault:
    engine: str
    kind: str      # an error, or an answer that is not the oracle's
    features: str  # regular expression of all of a feature's name
    says: str      # regular expression of a part of the difference
    why: str
    tables: str = ""  # regular expression of a part of the table's name

    def covers(self, f):
        return (f.engine == self.engine and f.unsupported == (self.kind == UNSUPPORTED) and re.fullmatch(self.features, f.feature)
                and re.search(self.says, f.difference) and re.search(self.tables, f.table))


FAULTS = [
    # types
    Fault("Spark", UNSUPPORTED, "type: (time|timestamp_ns|timestamptz_ns)", "UnsupportedOperationException", "has no such type"),
    Fault("ClickHouse", WRONG, "type: (struct|list|map)", "want .*null", "a nested value is never NULL there: empty instead"),
    Fault("ClickHouse", WRONG, "filter: (struct|list|map)", "IS NULL", "the same"),
    Fault("PyIceberg", UNSUPPORTED, "filter: (list|map)", "Cannot explicitly project List or Map types", "filters on primitives only"),
    Fault("DuckDB", UNSUPPORTED, "type: timestamptz_ns", "Unrecognized primitive type", "has no such type"),
    Fault("ClickHouse", WRONG, "(type|filter): time", "", "reads times as whole seconds"),
    # delete encodings
    Fault("PyIceberg", UNSUPPORTED, r"v\d equality: .*", "does not yet support equality deletes", "reads no equality deletes"),
    Fault("ClickHouse", UNSUPPORTED, ".*", "Position deletes are supported only for parquet format", "reads no deletion vectors"),
    Fault("ClickHouse", UNSUPPORTED, r"v2 position: evolved partition spec", "Position deletes objects are not sorted", "does not sort position deletes of several specs"),
    Fault("ClickHouse", WRONG, r"v\d equality: (partitioned|evolved partition spec)", "too many", "leaves out equality deletes of the whole table, by a spec without partitions, where files are partitioned"),
    # filters that hide rows
    Fault("Spark", WRONG, r"filter: uuid|partitions: (bucket|identity)\(uuid\)", "u (=|<|>=)", "orders UUIDs as signed numbers"),
    Fault("ClickHouse", WRONG, r"partitions: bucket\(uuid\)", "u (=|<|>=)", "prunes by other bounds of UUIDs"),
    Fault("DuckDB", WRONG, r"partitions: bucket\(uuid\)", "u =", "takes another hash"),
    Fault("DuckDB", WRONG, r"partitions: (month|day)\(timestamp(tz)?\)", "rows, want", "rounds times before 1970 up"),
    Fault("DuckDB", UNSUPPORTED, r"partitions: truncate\(decimal\)", "Information loss on integer cast", "negative decimals pass its arithmetic's range"),
    Fault("ClickHouse", WRONG, r"partitions: (year|month|day|hour)\((date|timestamp|timestamptz)\)", "rows, want", "rounds times before 1970 up"),
    Fault("PyIceberg", WRONG, "filter: float", "f = -Infinity", "takes infinity for a number below the type's range"),
    Fault("iceberg-rust", UNSUPPORTED, r"partitions: identity\(uuid\)", "Failed to load manifest", "reads UUIDs in manifests as texts"),
    Fault("ClickHouse", UNSUPPORTED, r"partitions: identity\(uuid\)", "Cannot parse uuid|UnicodeDecodeError", "reads UUIDs in manifests as texts, and says so in no text"),
    Fault("PyIceberg", WRONG, r"partitions: identity\(uuid\)", "u =", "compares UUIDs with their bytes"),
    Fault("PyIceberg", UNSUPPORTED, r"partitions: identity\(uuid\)", "'UUID' and 'bytes'", "the same"),
]


def surprises(findings, some):
    """Differences that no fault covers, and, unless these are some of the findings only, faults that do not show any more."""
    shown, new = set(), []
    for f in findings:
        if not f.difference:
            continue
        covered = [fault for fault in FAULTS if fault.covers(f)]
        shown.update(covered)
        if not covered:
            new.append(f"{f.engine}, {f.feature}, {f.table}: {f.difference}")
    gone = [f"{f.engine} is not at fault any more: {f.features} ({f.why})" for f in FAULTS if f not in shown]
    return new if some else new + gone
