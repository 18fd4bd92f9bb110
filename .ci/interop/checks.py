"""What is checked of a table in an engine, and which feature each answer speaks of."""
import dataclasses
import json
import re
import zlib

import values

RANGES = ("=", ">=", "<", "IS NULL")
OPERATORS = {"boolean": ("=", "IS NULL"), "float": ("=", "<", "IS NULL", "IS NAN"), "double": ("=", "<", "IS NULL", "IS NAN"),
             "list": ("IS NULL",), "map": ("IS NULL",), "struct": ("IS NULL",)}


@dataclasses.dataclass
class Finding:
    """An answer of an engine: about a feature, seen on a table; difference is empty when it equals the oracle."""
    engine: str
    feature: str
    table: str
    difference: str = ""
    unsupported: bool = False  # refused with an error, rather than answered


def reading(table):
    """The feature that reading a table's rows shows."""
    if table["feature"]:
        return table["feature"]
    if table["partition"] == ["u"]:  # which iceberg-rust does not read at all, whatever the encoding
        return "partitions: identity(uuid)"
    where = "partitioned" if table["partition"] else "unpartitioned"
    return f"v{table['version']} {table['deletes']}: {where}"


def said(error):
    return f"{type(error).__name__}: {' '.join(str(error).split())[:500]}"


def columns(table):
    return {c["Name"]: c["Type"] for c in table["columns"]}


def check(name, engine, table):
    """All findings about one table in one engine. What depends on its rows is not looked at when these cannot be read."""
    feature = reading(table)
    try:
        arrow = engine.read(table["name"])
    except BaseException as e:  # a panic of Rust's is no Exception
        if isinstance(e, KeyboardInterrupt):
            raise
        yield Finding(name, feature, table["name"], said(e), True)
        return
    keys = sorted(arrow.column("id").to_pylist())
    want = sorted(int(row["id"]) for row in table["rows"])
    if keys != want:
        yield Finding(name, feature, table["name"], f"{len(keys)} rows, want {len(want)}: ids {some(keys, want)}")
        return
    yield Finding(name, feature, table["name"])
    yield from check_columns(name, arrow, table)
    yield from check_filters(name, engine, table)
    yield from check_metadata(name, engine, table)


def some(got, want):
    more = [k for k in got if k not in want or got.count(k) > 1]
    return f"too many {more[:5]}, missing {[k for k in want if k not in got][:5]}"


def check_columns(name, arrow, table):
    for column, text in columns(table).items():
        kind = values.parse(text)
        got = values.column(arrow, column, kind)
        want = {int(row["id"]): values.literal(kind, row.get(column)) for row in table["rows"]}
        wrong = [i for i in want if got[i] != want[i]]
        difference = f"{column} of id {wrong[0]} is {json.dumps(got[wrong[0]])}, want {json.dumps(want[wrong[0]])}" if wrong else ""
        yield Finding(name, f"type: {label(text)}", table["name"], difference)


def difference(arrow, table):
    """How all rows that were read differ from the table's, or nothing."""
    keys, want = sorted(arrow.column("id").to_pylist()), sorted(int(row["id"]) for row in table["rows"])
    if keys != want:
        return f"{len(keys)} rows, want {len(want)}: ids {some(keys, want)}"
    return "; ".join(f.difference for f in check_columns("", arrow, table) if f.difference)


def label(text):
    return re.sub(r"[<(\[].*", "", text)


def source(term):
    return re.sub(r".*[ (]|\)", "", term)


# The tables whose every column is asked. Of partitioned ones the columns that make partitions are, for each of their
# values; of others some.
WHOLE = ("matrix.v2_position_none", "matrix.v3_rewrite_none")


def filters(table):
    """By feature: filters as engines take them."""
    kinds = {c: values.parse(t) for c, t in columns(table).items()}
    made = {source(term): term for term in table["partition"]}
    out = {}
    for n, (column, kind) in enumerate(kinds.items()):
        term = made.get(column)
        if term is None and table["partition"]:
            continue
        if term is None and table["name"] not in WHOLE and (n + zlib.crc32(table["name"].encode())) % 12:
            continue
        feature = f"partitions: {general(term, columns(table)[column])}" if term else f"filter: {label(columns(table)[column])}"
        present = sorted({row[column] for row in table["rows"] if column in row and row[column] != "NaN"}, key=lambda v: values.order(kind, v)) \
            if kind[0] not in ("list", "map", "struct") else []
        few = present[:1] + present[len(present) // 2:len(present) // 2 + 1]
        for op in OPERATORS.get(kind[0], RANGES):
            if op.startswith("IS"):
                out.setdefault(feature, []).append((column, kind, op, ""))
                continue
            for probe in present if term and op == "=" else few:
                out.setdefault(feature, []).append((column, kind, op, probe))
    return out


def general(term, typ):
    """A term with its column's type in place of its column, and without its parameter."""
    transform = re.match(r"(\w+)\(", term)
    return f"{transform[1] if transform else 'identity'}({label(typ)})"


def holds(row, column, kind, op, probe):
    cell = row.get(column)
    if op == "IS NULL":
        return cell is None
    if cell is None:
        return False
    if op == "IS NAN":
        return cell == "NaN"
    if cell == "NaN":
        return False
    a, b = values.order(kind, cell), values.order(kind, probe)
    return {"=": a == b, ">=": a >= b, "<": a < b}[op]


def check_filters(name, engine, table):
    asked = [(feature, f) for feature, list in filters(table).items() for f in list]
    for (feature, f), got in zip(asked, answers(engine, table["name"], [f for _, f in asked])):
        if isinstance(got, BaseException):
            yield Finding(name, feature, table["name"], f"{f[0]} {f[2]}: {said(got)}", True)
            continue
        want = sorted(int(row["id"]) for row in table["rows"] if holds(row, *f))
        difference = "" if sorted(got) == want else f"{f[0]} {f[2]} {f[3]}: {len(got)} rows, want {len(want)}: ids {some(got, want)}"
        yield Finding(name, feature, table["name"], difference)


def answers(engine, table, asked):
    try:
        return engine.find(table, asked)
    except BaseException as e:
        if isinstance(e, KeyboardInterrupt):
            raise
        if len(asked) == 1:
            return [e]
    return [answers(engine, table, [f])[0] for f in asked]


def check_metadata(name, engine, table):
    if not hasattr(engine, "metadata"):
        return
    want = {"snapshots": table["snapshots"], "history": table["snapshots"], "rows": len(table["rows"]), "rows by partition": len(table["rows"])}
    try:
        got = engine.metadata(table["name"])
    except BaseException as e:
        if isinstance(e, KeyboardInterrupt):
            raise
        yield Finding(name, "metadata tables", table["name"], said(e), True)
        return
    wrong = {k: (n, want[k]) for k, n in got.items() if n != want[k]}
    yield Finding(name, "metadata tables", table["name"], f"(got, want) {wrong}" if wrong else "")


def check_counted(name, engine, table):
    """A finding about a table that is too large to compare row by row."""
    try:
        got = engine.sums(table["name"])
    except BaseException as e:
        if isinstance(e, KeyboardInterrupt):
            raise
        yield Finding(name, table["feature"], table["name"], said(e), True)
        return
    want = (table["count"], table["count"], table["sum"])
    yield Finding(name, table["feature"], table["name"], "" if got == want else f"(count, distinct, sum) {got}, want {want}")
