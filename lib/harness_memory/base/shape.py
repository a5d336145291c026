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

_FAR = 1e12  # seconds; a transcript may name the year 9999


def problem(value: object, spec: Any, where: str = "") -> str:
    """What is wrong with a value, with the path of the field; "" when it has the shape."""
    if isinstance(spec, str):
        return "" if _is_kind(value, spec) else _wrong(where, spec)
    if isinstance(spec, (set, frozenset)):
        return "" if isinstance(value, str) and value in spec else _wrong(where, "one of " + ", ".join(sorted(spec)))
    if isinstance(spec, dict):
        return _problem_of_mapping(value, spec, where)
    if not isinstance(value, list):
        return _wrong(where, "a list")
    if isinstance(spec, tuple):
        if len(value) != len(spec):
            return _wrong(where, "a list of %d" % len(spec))
        kinds = list(spec)
    else:
        kinds = spec * len(value)
    for at, (item, kind) in enumerate(zip(value, kinds)):
        wrong = "" if kind == "text" and isinstance(item, str) else problem(item, kind, "%s[%d]" % (where, at))
        if wrong:
            return wrong
    return ""


def _problem_of_mapping(value: object, spec: dict[str, Any], where: str) -> str:
    if not isinstance(value, dict):
        return _wrong(where, "an object")
    if "*" in spec:
        problems = (problem(item, spec["*"], _join(where, str(key))) for key, item in value.items())
        return next(filter(None, problems), "")
    for field, kind in spec.items():
        name = field.rstrip("?")
        if value.get(name) is None:
            if name == field:
                return '"%s" is missing' % _join(where, name)
            continue
        wrong = problem(value[name], kind, _join(where, name))
        if wrong:
            return wrong
    return ""


def _is_kind(value: object, kind: str) -> bool:
    if kind == "any":
        return True
    if kind == "flag":
        return isinstance(value, bool)
    if kind in ("number", "count"):
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < _FAR
        return is_number and (kind == "number" or (isinstance(value, int) and value >= 0))
    if not isinstance(value, str):
        return False
    if kind == "instant":
        return clock.parse(value) is not None
    return kind == "text" or (kind == "day" and clock.is_day(value))


def _join(where: str, name: str) -> str:
    return "%s.%s" % (where, name) if where else name


def _wrong(where: str, expected: str) -> str:
    return "%s must be %s" % ('"%s"' % where if where else "it", expected)
