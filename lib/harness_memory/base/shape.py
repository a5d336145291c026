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
from .typing import Any


def problem(value: object, spec: Any, where: str = "") -> str:
    """What is wrong with a value, with the path of the field; "" when it has the shape."""
    path, what = _fault(value, spec)
    path = (where + path).lstrip(".")
    return what and "%s %s" % ('"%s"' % path if path else "it", what)


def _fault(value: object, spec: Any) -> tuple[str, str]:
    """The path of what is wrong, and what that is."""
    expected, parts = "", []  # what is inside: key, value, spec
    if isinstance(spec, str):
        expected = "" if _is_kind(value, spec) else spec
    elif isinstance(spec, (set, frozenset)):
        expected = "" if isinstance(value, str) and value in spec else "one of " + ", ".join(sorted(spec))
    elif isinstance(spec, dict):
        if not isinstance(value, dict):
            expected = "an object"
        elif "*" in spec:
            parts = [(key, item, spec["*"]) for key, item in value.items()]
        else:
            for field, kind in spec.items():
                name = field.rstrip("?")
                inner = value.get(name)
                if inner is not None:
                    parts.append((name, inner, kind))
                elif name == field:
                    return "." + name, "is missing"
    elif not isinstance(value, list):
        expected = "a list"
    elif isinstance(spec, tuple) and len(value) != len(spec):
        expected = "a list of %d" % len(spec)
    else:
        parts = [*zip(range(len(value)), value, spec if isinstance(spec, tuple) else spec * len(value))]
    for key, inner, kind in parts:
        if kind != "any" and not (kind == "text" and isinstance(inner, str)):
            path, what = _fault(inner, kind)
            if what:
                return ("[%d]" if isinstance(key, int) else ".%s") % key + path, what
    return "", "must be " + expected if expected else ""


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
