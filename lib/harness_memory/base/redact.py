"""Taking secrets out of text before it is kept: each becomes `[redacted:<kind>]`, the rest stays as it is.

This module suspects, `secret` judges. Suspicious are long words with digits, literals that stand beside secrets
(headers, logins, URLs), and names that announce one (`DB_PASSWORD=`, `"api_key": "`, `пароль:`). Every suspicion yields
spans, and one pass replaces them. Clean text pays for one look at its letters, and never for `re`.

All scans are linear: a failing attempt of a pattern reads a bounded stretch and a successful one is consumed.
"""

from __future__ import annotations

from .jsontext import MAX_DEPTH
from .settings import REDACTED as MARK
from .tables import fours
from .typing import Any, Iterator, TypeAlias

Span: TypeAlias = "tuple[int, int, str]"

_ALNUM = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
# What no token contains becomes a blank; `/` too, or every path would be a word.
_SPLIT = bytes([code if chr(code) in _ALNUM or code in b"-_.~+" else 32 for code in range(256)])
_PARTS = bytes.maketrans(b"-_.", b"   ")

TABLES_FILE = __file__[: -len(".py")] + ".txt"
TABLES: Any = globals().get("TABLES")  # a hook has them already, see `bundle`
if not TABLES:
    from .tables import by_start, read

    _tables = read(TABLES_FILE)
    _rules: list[tuple[str, Any]] = []
    for _rank, (_kind, _heads, _pattern) in enumerate(_tables["rules"]):
        for _name, _piece in _tables["pieces"]:
            _pattern = _pattern.replace("<%s>" % _name, _piece)
        for _head, _, _other in [each.replace("¦", "|").partition("&") for each in _heads.split("|") if each]:
            _needed = max(_head, _other, key=len).lower().replace("-", "_")
            _rules.append((_needed, (_head, _other, (_rank, _kind, _pattern))))
    _names = [(word.replace("+", " "), kind) for kind, words in _tables["names"] for word in words.split()]
    TABLES = by_start(_rules), by_start((row[0], (rank, *row)) for rank, row in enumerate(_names))
_RULES, _NAMES = TABLES
_STARTS = frozenset([*_RULES, *_NAMES])
_OTHER = ("by", "buy", "com", "sur", "tres", "under", "over", "mon", "tur", "hot")  # words that only end like a name
_AFTER_NAME = frozenset(" \t\n\"'`\\]?*0123456789_=:>：,(")


def redact(text: str) -> str:
    for _ in range(4):  # what a secret has hidden is seen the next time
        parts, done = [], 0
        for start, end, kind in sorted(_spans(text), key=lambda span: span[0]):
            if start >= done:
                parts += [text[done:start], MARK, kind, "]"]
                done = end
        if not parts:
            break
        text = "".join(parts) + text[done:]
    return text


def _spans(text: str) -> Iterator[Span]:
    """The secrets of a text, those that are known by their own form first."""
    lower = text.lower().replace("-", "_")
    if len(lower) != len(text):  # a few letters grow when lowered; offsets must hold
        lower = "".join([c.lower() if c in _ALNUM else c for c in text]).replace("-", "_")
    starts = _STARTS.intersection(fours(lower))
    rows = {row for start in starts for head, other, row in _RULES.get(start, ()) if head in text and other in text}
    words = text.encode("utf-8", "surrogatepass").translate(_SPLIT).split()
    words = [word for word in words if len(word) > 15 and word.strip(b"0123456789abcdefABCDEF-.")]
    words = [
        word  # with a part that is long, and neither a word nor a number
        for word in words
        if any(len(part) > 9 and not part.isalpha() and not part.isdigit() for part in word.translate(_PARTS).split())
    ]
    if words or rows:
        from .secret import places, tokens

        yield from tokens(text, [word.decode("ascii") for word in words])
        yield from places(text, sorted(rows))
    for _, name, kind in sorted(name for start in starts for name in _NAMES.get(start, ())):
        at = lower.find(name)
        while at >= 0:
            end = at + len(name)
            if not name.isascii() or (text[end : end + 1] in _AFTER_NAME and _ends_name(text, at, end)):
                from .secret import assignment

                span = assignment(text, at, end, kind)
                if span is not None:
                    yield span
                    end = span[1]
            at = lower.find(name, end)


def redact_tree(value: Any, names: tuple[str, ...] = ()) -> Any:
    """A copy of a JSON value with all its text redacted, keys too; each text as the value of every key above it."""
    if len(names) > MAX_DEPTH:
        raise ValueError("nested too deeply")
    if isinstance(value, dict):
        return {redact(key): redact_tree(child, (*names, key)) for key, child in value.items()}
    if isinstance(value, list):
        return [redact_tree(child, (*names, "")) for child in value]
    if not isinstance(value, (str, int, float)) or isinstance(value, bool):
        return value
    text = redact(str(value))
    for head in ['"%s": """' % name for name in names if name]:
        line = redact('%s%s"""' % (head, text))
        text = line[len(head) : -3] if line.startswith(head) else text
    return text if text != str(value) else value


def _ends_name(text: str, at: int, end: int) -> bool:
    """`pass` ends DB_PASS, dbPass and dbpass, but not bypass."""
    if at == 0 or text[at - 1] not in _ALNUM or text[at] in "_-" or text[at].isupper() != text[at - 1].isupper():
        return True
    is_other = text[max(0, at - 5) : at].lower().endswith(_OTHER)
    return end - at > 4 or (text[at:end].lower() in ("pass", "pwd", "pw", "key", "auth") and not is_other)
