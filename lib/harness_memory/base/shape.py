"""What a record must look like: one table a format, one check for all of them.

A spec is a kind, or a mapping of field to kind. A field that ends with "?" may be missing or null.

    "text"  "number"  "count" (whole, not negative)  "flag"  "any"  "instant" (ISO 8601 in UTC)  "day"
    [kind]          a list of that kind
    (kind, kind)    a list of exactly these kinds
    {"*": kind}     a mapping from text to that kind
    {"a": kind, …}  a record with these fields; others may be there too
    {"one", "two"}  one of these texts
"""

from __future__ import annotations

from . import clock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def problem(value: object, spec: Any, where: str = "") -> str:
    """What is wrong with a value, with the path of the field; "" when it has the shape."""
    expected, head = "", where + "." if where else ""
    parts: list[tuple[object, Any, str]] = []  # what is inside: value, spec, path
    if isinstance(spec, str):
        expected = "" if _is_kind(value, spec) else spec
    elif isinstance(spec, (set, frozenset)):
        expected = "" if isinstance(value, str) and value in spec else "one of " + ", ".join(sorted(spec))
    elif isinstance(spec, dict):
        if not isinstance(value, dict):
            expected = "an object"
        elif "*" in spec:
            parts = [(item, spec["*"], head + str(key)) for key, item in value.items()]
        else:
            for field, kind in spec.items():
                name = field.rstrip("?")
                inner = value.get(name)
                if inner is None and name == field:
                    return '"%s" is missing' % (head + name)
                if inner is not None and (inner or type(inner) is not list or not isinstance(kind, list)):
                    parts.append((inner, kind, head + name))
    elif not isinstance(value, list):
        expected = "a list"
    elif isinstance(spec, tuple) and len(value) != len(spec):
        expected = "a list of %d" % len(spec)
    elif spec != ["text"] or not all(isinstance(item, str) for item in value):
        kinds = spec if isinstance(spec, tuple) else spec * len(value)
        parts = [(item, kind, "%s[%d]" % (where, at)) for at, (item, kind) in enumerate(zip(value, kinds))]
    if expected:
        return "%s must be %s" % ('"%s"' % where if where else "it", expected)
    # Most are texts, and many: those cost no call.
    parts = [part for part in parts if part[1] != "any" and not (part[1] == "text" and isinstance(part[0], str))]
    return next(filter(None, (problem(*part) for part in parts)), "")


def _is_kind(value: object, kind: str) -> bool:
    if kind in ("number", "count"):
        # As seconds: a transcript may name the year 9999.
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e12
        return is_number and (kind == "number" or (isinstance(value, int) and value >= 0))
    if kind == "instant":
        return clock.parse(value) is not None
    if kind == "day":
        return isinstance(value, str) and clock.is_day(value)
    return kind == "any" or isinstance(value, bool if kind == "flag" else str)
