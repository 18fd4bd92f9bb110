"""Values of Iceberg's types in one form, whether they come as literals or out of an engine through Arrow.

A type's text is parsed to a tuple: ("long",), ("decimal", 9, 2), ("list", element), ("map", key, value),
("struct", [(name, type), …]).
"""
import datetime as dt
import decimal
import json
import math
import re
import struct
import uuid

import pyarrow as pa

EPOCH = dt.datetime(1970, 1, 1)
UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def split(text):
    """The parts of a text between the commas outside of brackets."""
    parts, depth, begin = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "<(") - (c in ">)")
        if c == "," and depth == 0:
            parts.append(text[begin:i].strip())
            begin = i + 1
    return parts + [text[begin:].strip()]


def parse(text):
    name, _, inner = text.strip().partition("<")
    inner = inner[:-1]
    if name == "list":
        return "list", parse(inner)
    if name == "map":
        return ("map", *map(parse, split(inner)))
    if name == "struct":
        return "struct", [(n.strip(), parse(t)) for n, t in (p.split(":", 1) for p in split(inner))]
    word, *numbers = re.findall(r"\w+", name)
    return (word, *map(int, numbers))


def instant(ticks, unit, digits, zone=""):
    """A time as text, from whole units since 1970, exactly."""
    seconds, fraction = divmod(ticks, UNITS[unit])
    fraction = fraction * 10**digits // UNITS[unit]
    return f"{(EPOCH + dt.timedelta(seconds=seconds)).isoformat()}.{fraction:0{digits}}{zone}"


def real(v, single):
    if single and math.isfinite(v):
        v, = struct.unpack("f", struct.pack("f", v))
    return repr(v)


def literal(kind, v):
    """A canonical literal, or what JSON has for it in a nested value, in the common form."""
    if v is None:
        return None
    if kind[0] in ("list", "map", "struct"):
        v = json.loads(v) if isinstance(v, str) else v
        if kind[0] == "list":
            return [literal(kind[1], e) for e in v]
        if kind[0] == "map":
            return pairs([literal(kind[1], k), literal(kind[2], e)] for k, e in v)
        return {n: literal(t, v.get(n)) for n, t in kind[1]}
    if kind[0] == "boolean":
        return v in (True, "true")
    if kind[0] in ("int", "long"):
        return int(v)
    if kind[0] in ("float", "double"):
        return real(float(v), kind[0] == "float")
    return v


def pairs(entries):
    return sorted(entries, key=lambda e: json.dumps(e, sort_keys=True))


def scalar(kind, s):
    """An Arrow scalar in the common form."""
    v = s.as_py() if kind[0] not in ("time", "timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns", "list", "map", "struct") else s
    if not s.is_valid:
        return None
    if hasattr(s.type, "extension_name"):
        s = s.value
        v = s.as_py()
    if kind[0] == "list":
        return [scalar(kind[1], e) for e in s.values]
    if kind[0] == "map":
        return pairs([scalar(kind[1], e[0]), scalar(kind[2], e[1])] for e in map(lambda e: list(e.values()), s.values))
    if kind[0] == "struct":
        return {n: scalar(t, s[n]) for n, t in kind[1]}
    if kind[0].startswith("timestamp"):
        return instant(s.value, s.type.unit, 9 if kind[0].endswith("_ns") else 6, "+00:00" if "tz" in kind[0] else "")
    if kind[0] == "time":
        return instant(s.cast(pa.int64()).as_py(), getattr(s.type, "unit", "us"), 6).split("T")[1]
    if kind[0] == "date":
        return (dt.date(1970, 1, 1) + dt.timedelta(days=v) if isinstance(v, int) else v).isoformat()
    if kind[0] == "decimal":
        return format(decimal.Decimal(v), "f")
    if kind[0] == "uuid":
        return str(uuid.UUID(bytes=v) if isinstance(v, bytes) else uuid.UUID(str(v)))
    if kind[0] in ("fixed", "binary"):
        return bytes(v).hex()
    if kind[0] in ("float", "double"):
        return real(v, kind[0] == "float")
    if kind[0] == "string" and isinstance(v, bytes):
        return v.decode()
    if kind[0] == "boolean":
        return bool(v)
    return v


def column(arrow, name, kind, key="id"):
    """A column of an Arrow table by the key of its row."""
    return {i: scalar(kind, s) for i, s in zip(arrow.column(key).to_pylist(), arrow.column(name))}


def order(kind, text):
    """What values of a primitive type are ordered by."""
    if kind[0] == "decimal":
        return decimal.Decimal(text)
    if kind[0] in ("int", "long"):
        return int(text)
    if kind[0] in ("float", "double"):
        return float(text)
    return text
